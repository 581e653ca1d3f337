"""Documents and chunks: words with their offsets, the gaps between them, and reassembly."""

from __future__ import annotations

import operator
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, count, pairwise
from typing import NamedTuple

from textveil.language.contractions import CONTRACTIONS
from textveil.language.words import PAUSE, WORD, find_words, spell_latin

_UNUSUAL = re.compile(r"[^\w\s!-~]")


def cut(text: str, words: int) -> str:
    """The first words of a text, unchanged.

    >>> cut("One, two... three!", 2)
    'One, two'
    """
    for number, word in enumerate(WORD.finditer(text), start=1):
        if number == words:
            return text[: word.end()]
    return text


class Chunk(NamedTuple):
    """Consecutive words of a document: the positions ``start`` up to, not including, ``stop``."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of words."""
        return self.stop - self.start


@dataclass(frozen=True, repr=False)  # an object that is logged must not reveal the text
class Document:
    """A text, its words in lowercase, and the pauses between them.

    >>> document = Document.parse("Don't  panic!")
    >>> document.words
    ('don', 't', 'panic')
    >>> document.assemble([Chunk(0, 2), Chunk(2, 3)], [None, "run away"])
    "Don't  run away!"
    """

    text: str
    words: tuple[str, ...]
    pauses: tuple[int, ...]
    """For each pause (a match of ``PAUSE``), the number of words before it."""
    pause_offsets: tuple[int, ...]
    """The offset of each pause in the text."""

    def __repr__(self) -> str:
        return f"Document({len(self.words)} words)"

    @classmethod
    def parse(cls, text: str) -> Document:
        r"""Find the words of ``text``: the maximal runs of ``\w``."""
        latin = spell_latin(text)
        if latin is None:
            pieces = PAUSE.split(text)
            words = list(map(find_words, pieces))
        else:  # the same, several times faster
            pieces = latin.split("\n")
            words = [piece.split() for piece in pieces]
        before = accumulate(map(len, words))
        offsets = map(operator.add, accumulate(map(len, pieces)), count())
        return cls(text, tuple(chain.from_iterable(words)), tuple(before)[:-1], tuple(offsets)[:-1])

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The start and stop offsets of every word."""
        return tuple(match.span() for match in WORD.finditer(self.text))

    def pauses_before(self, position: int) -> bool:
        """Whether there is a pause between a word and the one before it."""
        pause = bisect_left(self.pauses, position)
        return pause < len(self.pauses) and self.pauses[pause] == position

    def key(self, chunk: Chunk) -> str:
        """The chunk as vocabularies spell it: lowercase, words joined by underscores."""
        return "_".join(self.words[chunk.start : chunk.stop])

    def written(self, chunk: Chunk) -> str:
        """The chunk as the text has it, including the gaps inside it."""
        return self.text[self.spans[chunk.start][0] : self.spans[chunk.stop - 1][1]]

    def assemble(self, chunks: Sequence[Chunk], replacements: Iterable[str | None]) -> str:
        """The text with some chunks replaced; ``None`` keeps a chunk.

        Gaps around chunks stay; gaps inside a replaced chunk disappear.
        """
        pieces: list[str] = []
        written = 0
        for chunk, replacement in zip(chunks, replacements, strict=True):
            if replacement is None:
                continue
            pieces += (self.text[written : self.spans[chunk.start][0]], replacement)
            written = self.spans[chunk.stop - 1][1]
        pieces.append(self.text[written:])
        return "".join(pieces)

    def count_symbols(self) -> int:
        """The number of characters between words that are neither space nor punctuation, such as emoji."""
        return sum(unicodedata.category(character)[0] not in "PZ" for character in _UNUSUAL.findall(self.text))


def spoken(entry: str) -> str:
    """An entry of a vocabulary as a text has it.

    >>> spoken("New_York"), spoken("let_s_go")
    ('new york', "let's go")
    """
    if "_" not in entry:
        return entry.lower()
    words = entry.lower().split("_")
    gaps = ("'" if pair in CONTRACTIONS else " " for pair in pairwise(words))
    return words[0] + "".join(chain.from_iterable(zip(gaps, words[1:], strict=True)))
