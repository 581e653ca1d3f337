"""Gaps: the text between words, and what of it may be written without revealing a hidden text."""

from __future__ import annotations

import operator
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, count, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from textveil.text.stopwords import CONTRACTIONS
from textveil.text.words import PAUSE, find_spans, find_words, fold, spell_latin

ORDINARY = frozenset("–—―‘’‚“”„…«»‹›¡¿·•†‡′″§¶°")
"""Punctuation beyond ASCII that English texts use."""

_UNUSUAL = re.compile(r"[^\t\n\r -~]")
_SYMBOL = re.compile(r"[^\w\s]")
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")
_EMOJI = ((0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1FAFF))
"""Blocks of pictures. Letters in boxes and circles, and the letters of flags, are in others."""


def is_emoji(character: str) -> bool:
    """Whether a character is a picture, and not a letter, a mark or an invisible character.

    >>> [is_emoji(character) for character in "🙂☕🅿🇵⠏"]
    [True, True, False, False, False]
    """
    code = ord(character)
    return unicodedata.category(character) == "So" and any(first <= code <= last for first, last in _EMOJI)


def clean_gap(gap: str, *, keep_emoji: bool = False) -> str:
    """The text between two words without symbols, loose marks and invisible characters.

    Spaces, ASCII punctuation and the punctuation of English texts stay. Other spaces become plain ones. Everything else
    could hide a text, so it is dropped.

    >>> clean_gap(" – 🙂\u200b\u2003(", keep_emoji=False)
    ' –  ('
    """

    def clean(found: re.Match[str]) -> str:
        character = found[0]
        if character in ORDINARY or (keep_emoji and is_emoji(character)):
            return character
        return " " if character.isspace() else ""

    return _UNUSUAL.sub(clean, gap)


def is_clean(text: str) -> bool:
    """Whether a text has no character that :func:`clean_gap` could change."""
    return _UNUSUAL.search(text) is None


def count_symbols(gap: str) -> int:
    """The number of characters that are neither space nor punctuation, such as emoji and currency signs.

    >>> count_symbols(" ($) – 🙂!")
    2
    """
    return sum(
        character in _ASCII_SYMBOLS or unicodedata.category(character)[0] not in "PZ"
        for character in _SYMBOL.findall(gap)
    )


Span: TypeAlias = tuple[int, int]
"""Start and stop offsets in a text."""
LONG_TEXT = 1 << 20
"""A longer text is parsed in a way that needs less memory."""


def cut(text: str, words: int) -> str:
    """The first words of a text, unchanged.

    >>> cut("One, two... three!", 2)
    'One, two'
    """
    spans = find_spans(text)
    return text if len(spans) < words else text[: spans[words - 1][1]]


def keep_gap(gap: str, _between: bool) -> str:
    """A gap as it is."""
    return gap


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
    >>> document.assemble(map(document.span, [Chunk(0, 2), Chunk(2, 3)]), [None, "run away"])
    "Don't  run away!"
    """

    text: str
    words: tuple[str, ...]
    pauses: array[int] = field(compare=False)
    """For each pause (a match of ``PAUSE``), the number of words before it."""
    pause_offsets: array[int] = field(compare=False)
    """The offset of each pause in the text."""

    def __repr__(self) -> str:
        return f"Document({len(self.words)} words)"

    @classmethod
    def parse(cls, text: str) -> Document:
        """Find the words of ``text`` and the pauses between them."""
        return cls(text, *(_parse_long(text) if len(text) > LONG_TEXT else _parse_short(text)))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The start and stop offsets of every word."""
        return tuple(find_spans(self.text))

    def pauses_before(self, position: int) -> bool:
        """Whether there is a pause between a word and the one before it."""
        pause = bisect_left(self.pauses, position)
        return pause < len(self.pauses) and self.pauses[pause] == position

    def key(self, chunk: Chunk) -> str:
        """The chunk as vocabularies spell it: lowercase, words joined by underscores."""
        return "_".join(self.words[chunk.start : chunk.stop])

    def span(self, chunk: Chunk) -> Span:
        """The start and stop offsets of a chunk."""
        return self.spans[chunk.start][0], self.spans[chunk.stop - 1][1]

    def written(self, chunk: Chunk) -> str:
        """The chunk as the text has it, including the gaps inside it."""
        start, stop = self.span(chunk)
        return self.text[start:stop]

    def assemble(
        self,
        spans: Iterable[Span],
        replacements: Iterable[str | None],
        write_gap: Callable[[str, bool], str] = keep_gap,
    ) -> str:
        """The text with some spans replaced.

        Gaps around spans stay; gaps inside a replaced span disappear.

        Args:
            spans: Offsets of chunks, in order.
            replacements: One per span; ``None`` keeps it.
            write_gap: Rewrites a gap, given whether it is between two spans; by default gaps are kept.
        """
        pieces: list[str] = []
        done = 0
        for (start, stop), replacement in zip(spans, replacements, strict=True):
            pieces.append(write_gap(self.text[done:start], done > 0))
            pieces.append(self.text[start:stop] if replacement is None else replacement)
            done = stop
        pieces.append(write_gap(self.text[done:], False))
        return "".join(pieces)


def _parse_short(text: str) -> tuple[tuple[str, ...], array[int], array[int]]:
    """The words of a text, the number of words before each pause, and the offsets of the pauses."""
    latin = spell_latin(text)
    if latin is None:
        pieces = PAUSE.split(text)
        words = list(map(find_words, pieces))
    else:  # the same, several times faster
        pieces = latin.split("\n")
        words = [piece.split() for piece in pieces]
    before = array("q", accumulate(map(len, words)))
    offsets = array("q", map(operator.add, accumulate(map(len, pieces)), count()))
    return tuple(chain.from_iterable(words)), before[:-1], offsets[:-1]


def _parse_long(text: str) -> tuple[tuple[str, ...], array[int], array[int]]:
    """The same without an object per pause. It is slower for short texts."""
    latin = spell_latin(text)
    if latin is None:
        spans = find_spans(text)
        words = tuple(fold(text[start:stop]) for start, stop in spans)
        starts = np.fromiter((start for start, _ in spans), np.int64, len(spans))
        offsets = np.fromiter((pause.start() for pause in PAUSE.finditer(text)), np.int64)
    else:
        words = tuple(latin.split())
        symbols = np.frombuffer(latin.encode("latin-1"), np.uint8)
        in_word = symbols > ord(" ")
        in_word[1:] &= symbols[:-1] <= ord(" ")
        starts = np.flatnonzero(in_word)
        offsets = np.flatnonzero(symbols == ord("\n"))
        del symbols, in_word
    code, kind = ("i", np.int32) if len(text) <= np.iinfo(np.int32).max else ("q", np.int64)
    before = array(code, np.searchsorted(starts, offsets).astype(kind).tobytes())
    return words, before, array(code, offsets.astype(kind).tobytes())


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
