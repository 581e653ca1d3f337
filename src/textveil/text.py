"""Documents and chunks: words with their offsets, the gaps between them, and how they are put together again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

WORD = re.compile(r"\w+")
_UNUSUAL = re.compile(r"[^\w\s!-~]")

LONG_BATCH = 1_000_000
"""A batch of texts ends early when they have this many characters together, so that long texts need no more memory."""

T = TypeVar("T")


class Chunk(NamedTuple):
    """Consecutive words of a document: the positions ``start`` up to, not including, ``stop``."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of words."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Document:
    """A text, the offsets of its words, and the words in lower case.

    >>> document = Document.parse("Don't  panic!")
    >>> document.words
    ('don', 't', 'panic')
    >>> document.assemble([Chunk(0, 2), Chunk(2, 3)], [None, "run away"])
    "Don't  run away!"
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Document:
        r"""Find the words of ``text``: the maximal runs of ``\w``."""
        spans = tuple(match.span() for match in WORD.finditer(text))
        return cls(text, spans, tuple(text[start:stop].lower() for start, stop in spans))

    def key(self, chunk: Chunk) -> str:
        """How the vocabulary spells a chunk: lower case, words joined by underscores."""
        return "_".join(self.words[chunk.start : chunk.stop])

    def written(self, chunk: Chunk) -> str:
        """The chunk as it stands in the text, gaps inside it included."""
        return self.text[self.spans[chunk.start][0] : self.spans[chunk.stop - 1][1]]

    def assemble(self, chunks: Sequence[Chunk], replacements: Iterable[str | None]) -> str:
        """Write the text again with some chunks replaced; ``None`` keeps a chunk as it stands.

        Gaps around chunks stay, gaps inside a replaced chunk disappear.
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
        """How many characters of the gaps are neither space nor punctuation, such as emoji and loose accents."""
        return sum(unicodedata.category(character)[0] not in "PZ" for character in _UNUSUAL.findall(self.text))


def batch_texts(items: Iterable[T], size: int, text_of: Callable[[T], str | None]) -> Iterator[list[T]]:
    """Up to ``size`` items at a time, fewer where their texts are long.

    >>> list(batch_texts("abcde", 2, text_of=str))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    batch: list[T] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += len(text_of(item) or "")
        if len(batch) == size or characters >= LONG_BATCH:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def spoken(entry: str) -> str:
    """How an entry of a vocabulary is written into a text.

    >>> spoken("New_York")
    'new york'
    """
    return entry.lower().replace("_", " ")
