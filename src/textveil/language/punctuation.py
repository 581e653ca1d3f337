"""Punctuation: full stops, commas and capitals for words that have none, by public statistics of English.

A table (``punctuation.npz``) says how likely a comma or a full stop is in the gap between two words, given the words
and the frequent pairs of words around it, and how long sentences are. ``scripts/train_punctuation.py`` trained it on
film reviews and blog posts. The text is a function of the words and the table alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textveil.language.abbreviations import TITLES
from textveil.language.contractions import CONTRACTIONS
from textveil.language.words import find_words

TABLE = Path(__file__).with_name("punctuation.npz")
WORDS, PAIRS = 4, 3
"""The features of a gap: the two words before it and the two after it, and their three pairs of neighbors."""
MARKS = ("", ",", ".")
"""What can be between two words."""
UNKNOWN, EDGE = 0, 1
"""The rows of words that the table lacks, and of places before and after a text."""
FIRST_WORD = 2
"""The row of the first word of a table."""
LONGEST = 25
"""The number of words of the longest sentence, unless a single piece is longer."""
NO_PAIR = 0
"""The row of pairs that the table lacks."""

_NONE, _COMMA, _STOP = range(3)
_FAR = -1e9
_SMALLEST = 1e-9  # logarithms stay finite
_CAPITALS = frozenset(("i", "i'm", "i've", "i'll", "i'd"))

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Punctuation:
    """The odds of commas and full stops.

    Attributes:
        words: The words of the table, in the order of their rows, which begin at ``FIRST_WORD``.
        pairs: The pairs of neighboring words, ascending: the row of the first, times the number of rows, plus that of
            the second. Their rows begin at 1.
        word_weights: The log-odds that a word adds, against no mark: by place, row, and mark (comma, full stop).
        pair_weights: The log-odds that a pair adds: by place, row, and mark.
        bias: The log-odds of a comma and a full stop before any word counts.
        lengths: The log-probability of a sentence of 1, 2, ... ``LONGEST`` words.
        stops: The probability at which a full stop is as good as none, before the lengths of sentences count.
        comma: The probability at which a comma is written.
    """

    words: tuple[str, ...]
    pairs: Numbers
    word_weights: Floats
    pair_weights: Floats
    bias: Floats
    lengths: Floats
    stops: float
    comma: float

    @classmethod
    def load(cls, path: Path = TABLE) -> Punctuation:
        """Read a table."""
        with np.load(path) as table:
            scale = float(table["scale"])
            return cls(
                tuple(table["words"].tobytes().decode().split("\n")),
                np.cumsum(table["pair_steps"].astype(np.int64)),
                table["word_weights"] * scale,
                table["pair_weights"] * scale,
                table["bias"].astype(np.float64),
                table["lengths"].astype(np.float64),
                float(table["stops"]),
                float(table["comma"]),
            )

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words, start=FIRST_WORD)}

    def find_features(self, words: Sequence[str]) -> tuple[Numbers, Numbers]:
        """The rows of the words, and those of the pairs, around every gap between two words."""
        found = [self._rows.get(word, UNKNOWN) for word in words]
        rows = np.array([EDGE, *found, EDGE], dtype=np.int64)
        keys = rows[:-1] * (len(self.words) + FIRST_WORD) + rows[1:]
        places = np.searchsorted(self.pairs, keys)
        known = self.pairs[np.minimum(places, len(self.pairs) - 1)] == keys if len(self.pairs) else np.zeros_like(keys)
        pairs = np.where(known, places + 1, NO_PAIR)
        gaps = max(len(words) - 1, 0)
        return (
            np.stack([rows[first : first + gaps] for first in range(WORDS)], axis=1),
            np.stack([pairs[first : first + gaps] for first in range(PAIRS)], axis=1),
        )

    def predict(self, words: Sequence[str]) -> Floats:
        """The probabilities of the ``MARKS`` in every gap between two words."""
        found_words, found_pairs = self.find_features(words)
        scores = np.zeros((len(found_words), len(MARKS)))
        scores[:, 1:] = self.bias
        scores[:, 1:] += self.word_weights[np.arange(WORDS), found_words].sum(axis=1)
        scores[:, 1:] += self.pair_weights[np.arange(PAIRS), found_pairs].sum(axis=1)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True, initial=0.0))
        probabilities: Floats = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    def write(self, pieces: Sequence[str]) -> str:
        """Pieces, such as words and expressions in lowercase, as a text with sentences.

        No mark is inside a piece, nor after a title, such as "mr".

        >>> punctuation = Punctuation.load()
        >>> punctuation.write(["i", "don", "t", "know", "what", "it", "is", "but", "i", "like", "it"])
        "I don't know what it is, but I like it."
        """
        pieces = _contract([piece for piece in pieces if piece])
        if not pieces:
            return ""
        marks = self._choose_marks([find_words(piece) for piece in pieces])
        begins = [True, *(mark == _STOP for mark in marks)]
        written = (
            _capitalize(piece) if begin else piece for piece, begin in zip(map(_raise_i, pieces), begins, strict=True)
        )
        return "".join(f"{piece}{MARKS[mark]} " for piece, mark in zip(written, [*marks, _STOP], strict=True)).rstrip()

    def _choose_marks(self, pieces: Sequence[Sequence[str]]) -> list[int]:
        """The mark after every piece except the last one."""
        ends = np.cumsum([len(words) for words in pieces])
        found = self.predict([word for words in pieces for word in words])
        gaps = found[np.clip(ends[:-1] - 1, 0, len(found) - 1)] if len(found) else np.ones((len(ends) - 1, 3)) / 3
        titles = np.array([bool(words) and words[-1] in TITLES for words in pieces[:-1]], dtype=bool)
        gaps[titles, _COMMA:] = 0.0
        marks = np.where(gaps[:, _COMMA] >= self.comma, _COMMA, _NONE)
        marks[self._find_stops(gaps[:, _STOP], ends)] = _STOP
        chosen: list[int] = marks.tolist()
        return chosen

    def _find_stops(self, likely: Floats, ends: Numbers) -> list[int]:
        """The pieces that end sentences: the best division by the odds of all gaps and the lengths of sentences.

        Args:
            likely: The probability of a full stop after every piece except the last one.
            ends: The number of words up to the end of every piece.
        """
        likely = np.clip(likely, _SMALLEST, 1 - _SMALLEST)
        odds = np.log(likely) - np.log1p(-likely) - np.log(self.stops / (1 - self.stops))
        begins = np.concatenate([[0], ends[:-1]])
        best = np.concatenate([[0.0], np.full(len(ends), _FAR)])  # of the first pieces, if a sentence ends there
        before = np.zeros(len(ends) + 1, dtype=np.int64)
        first = 0
        for last, end in enumerate(ends.tolist()):
            while first < last and end - begins[first] > LONGEST:
                first += 1
            sizes = np.clip(end - begins[first : last + 1], 1, LONGEST)
            scores = best[first : last + 1] + self.lengths[sizes - 1]
            chosen = int(scores.argmax())
            best[last + 1] = scores[chosen] + (odds[last] if last < len(odds) else 0.0)
            before[last + 1] = first + chosen
        stops: list[int] = []
        done = int(before[-1])
        while done > 0:
            stops.append(done - 1)
            done = int(before[done])
        return stops


@cache
def load_punctuation() -> Punctuation:
    """The table that ships with textveil."""
    return Punctuation.load()


def _contract(pieces: Sequence[str]) -> list[str]:
    """The pieces, with the two parts of a contraction joined.

    >>> _contract(["i", "don", "t", "say", "it", "s", "so"])
    ['i', "don't", 'say', "it's", 'so']
    """
    joined = list(pieces[:1])
    for left, right in pairwise(pieces):
        if (left, right) in CONTRACTIONS and joined[-1] == left:
            joined[-1] = f"{left}'{right}"
        else:
            joined.append(right)
    return joined


def _raise_i(piece: str) -> str:
    """A piece with a capital I wherever that is a word."""
    if "i" not in piece:
        return piece
    return " ".join(word.capitalize() if word in _CAPITALS else word for word in piece.split(" "))


def _capitalize(piece: str) -> str:
    """A piece with a capital first letter, unless its lowercase form would be another."""
    raised = piece[0].upper()
    return raised + piece[1:] if raised.lower() == piece[0] else piece
