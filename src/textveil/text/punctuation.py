"""Punctuation: full stops, commas and capitals for words that have none, by public statistics of English.

A table (``punctuation.npz``) says how likely a comma or a full stop is in the gap between two words, given the words
and the frequent pairs of words around it, and how long sentences are. ``scripts/train_punctuation.py`` trained it on
film reviews and blog posts. The text is a function of the words and the table alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textveil.text.sentences import TITLES
from textveil.text.stopwords import CONTRACTIONS
from textveil.text.words import find_words

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
_NO_GAP = -1  # the place of the odds of a text with a single word
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

    def find_features(self, texts: Sequence[Sequence[str]]) -> tuple[Numbers, Numbers]:
        """The rows of the words, and those of the pairs, around every gap between two words of a text."""
        known_rows = self._rows
        found: list[int] = []
        gaps: list[int] = []  # each by the place of the second word before it
        for words in texts:
            gaps += range(len(found), len(found) + len(words) - 1)
            found.append(EDGE)
            found += [known_rows.get(word, UNKNOWN) for word in words]
            found.append(EDGE)
        rows, first = np.array(found, dtype=np.int64), np.array(gaps, dtype=np.int64)
        keys = rows[:-1] * (len(self.words) + FIRST_WORD) + rows[1:]
        places = np.searchsorted(self.pairs, keys)
        known = self.pairs[np.minimum(places, len(self.pairs) - 1)] == keys if len(self.pairs) else np.zeros_like(keys)
        pairs = np.where(known, places + 1, NO_PAIR)
        return rows[first[:, None] + np.arange(WORDS)], pairs[first[:, None] + np.arange(PAIRS)]

    def predict(self, texts: Sequence[Sequence[str]]) -> Floats:
        """The probabilities of the ``MARKS`` in every gap between two words of a text."""
        found_words, found_pairs = self.find_features(texts)
        scores = np.zeros((len(found_words), len(MARKS)))
        scores[:, 1:] = self.bias
        scores[:, 1:] += self.word_weights[np.arange(WORDS), found_words].sum(axis=1)
        scores[:, 1:] += self.pair_weights[np.arange(PAIRS), found_pairs].sum(axis=1)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True, initial=0.0))
        probabilities: Floats = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    def write_all(self, texts: Iterable[Sequence[str]]) -> list[str]:
        """The pieces of each text, such as words and expressions in lowercase, as a text with sentences.

        No mark is inside a piece, nor after a title, such as "mr".

        >>> punctuation = Punctuation.load()
        >>> punctuation.write_all([["i", "don", "t", "know", "what", "it", "is", "but", "i", "like", "it"]])
        ["I don't know what it is, but I like it."]
        """
        contracted = [_contract([piece for piece in pieces if piece]) for pieces in texts]
        marks = self._choose_marks([[find_words(piece) for piece in pieces] for pieces in contracted])
        return [_join(pieces, chosen) for pieces, chosen in zip(contracted, marks, strict=True)]

    def _choose_marks(self, texts: Sequence[Sequence[Sequence[str]]]) -> list[list[int]]:
        """For the pieces of every text, the mark after each of them except the last one."""
        words = [list(chain.from_iterable(pieces)) for pieces in texts]
        ends = [list(accumulate(map(len, pieces))) for pieces in texts]
        places: list[int] = []
        first = 0
        for found, stops in zip(words, ends, strict=True):
            last = len(found) - 2  # the last gap between two words; a piece without a word takes the gap beside it
            places += [first + min(max(stop - 1, 0), last) if last >= 0 else _NO_GAP for stop in stops[:-1]]
            first += max(last + 1, 0)
        gaps = np.concatenate([self.predict(words), np.full((1, len(MARKS)), 1 / len(MARKS))])[places]
        titles = [bool(piece) and piece[-1] in TITLES for pieces in texts for piece in pieces[:-1]]
        gaps[np.array(titles, dtype=bool), _COMMA:] = 0.0
        marks: list[int] = np.where(gaps[:, _COMMA] >= self.comma, _COMMA, _NONE).tolist()
        odds: list[float] = self._weigh_stops(gaps[:, _STOP]).tolist()
        chosen, done = [], 0
        for stops in ends:
            part = slice(done, done + max(len(stops) - 1, 0))
            chosen.append(marks[part])
            for place in self._find_stops(odds[part], stops):
                chosen[-1][place] = _STOP
            done = part.stop
        return chosen

    def _weigh_stops(self, likely: Floats) -> Floats:
        """The log-odds of full stops of these probabilities, against those at which they are as good as none."""
        likely = np.clip(likely, _SMALLEST, 1 - _SMALLEST)
        odds: Floats = np.log(likely) - np.log1p(-likely) - np.log(self.stops / (1 - self.stops))
        return odds

    @cached_property
    def _lengths(self) -> list[float]:
        """The log-probability of a sentence of 0 words, which counts as 1, and of 1, 2, ... ``LONGEST`` words."""
        found: list[float] = self.lengths.tolist()
        return [found[0], *found]

    def _find_stops(self, odds: Sequence[float], ends: Sequence[int]) -> list[int]:
        """The pieces that end sentences: the best division by the odds of all gaps and the lengths of sentences.

        Lists are faster here than arrays: a sentence has few words.

        Args:
            odds: The log-odds of a full stop after every piece except the last one.
            ends: The number of words up to the end of every piece.
        """
        lengths = self._lengths
        begins = [0, *ends]
        best = [0.0]  # of the first pieces, if a sentence ends there
        before = [0]
        first = 0
        for last, end in enumerate(ends):
            while first < last and end - begins[first] > LONGEST:
                first += 1
            if end - begins[first] > LONGEST:  # a single piece
                scores = [best[last] + lengths[LONGEST]]
            else:
                parts = zip(best[first:], begins[first : last + 1], strict=True)
                scores = [done + lengths[end - begin] for done, begin in parts]
            highest = max(scores)
            best.append(highest + odds[last] if last < len(odds) else highest)
            before.append(first + scores.index(highest))
        stops: list[int] = []
        stop = before[-1]
        while stop > 0:
            stops.append(stop - 1)
            stop = before[stop]
        return stops


@cache
def load_punctuation() -> Punctuation:
    """The table that ships with textveil."""
    return Punctuation.load()


def _join(pieces: Sequence[str], marks: Sequence[int]) -> str:
    """Pieces as a text, given the mark after every piece except the last one."""
    if not pieces:
        return ""
    begins = [True, *(mark == _STOP for mark in marks)]
    text = ""
    for piece, begin, mark in zip(map(_raise_i, pieces), begins, [*marks, _STOP], strict=True):
        text += f"{_capitalize(piece) if begin else piece}{MARKS[mark]} "
    return text.rstrip()


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
