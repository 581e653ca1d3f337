"""The words of documents as numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.language.words import find_words, spell_ascii

Ids = NDArray[np.uint32]

END = "."
"""Marks the end of a document. It cannot be confused with a word."""


def split_documents(documents: Iterable[str]) -> list[str]:
    r"""The words of documents, each document followed by :data:`END`. ASCII documents come first.

    ASCII text, the larger part of a corpus, needs no regular expression: ``\w`` is letters, digits and the underscore.

    >>> split_documents(["Café!", "So_so, it IS"])
    ['so_so', 'it', 'is', '.', 'café', '.']
    """
    plain: list[bytes] = []
    words: list[str] = []
    for document in documents:
        if document.isascii():
            plain.append(spell_ascii(document))
        else:
            words += find_words(document)
            words.append(END)
    plain.append(b"")
    return b" . ".join(plain).decode().split() + words


class NumberedWords(NamedTuple):
    """Sorted words, their counts, and the documents as indices into the words.

    In ``numbers``, the end of a document is ``len(words)``.
    """

    words: list[str]
    counts: Ids
    numbers: Ids


class WordNumbering:
    """Numbers the words of documents."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._batches: list[Ids] = []
        self._end = self._numbers[END]
        self.positions = 0
        self.documents = 0

    @property
    def distinct(self) -> int:
        """The number of distinct words."""
        return len(self._numbers) - 1

    @property
    def tokens(self) -> int:
        """The number of words."""
        return self.positions - self.documents

    def add(self, documents: Sequence[str]) -> None:
        """Number the words of more documents."""
        words = split_documents(documents)
        self._batches.append(np.fromiter(map(self._numbers.__getitem__, words), np.uint32, len(words)))
        self.positions += len(words)
        self.documents += len(documents)

    def finish(self) -> NumberedWords:
        """Sort the words, and renumber the documents accordingly."""
        numbers = np.concatenate(self._batches) if self._batches else np.empty(0, np.uint32)
        order = sorted(self._numbers.items())
        order.remove((END, self._end))
        places = np.empty(len(order) + 1, np.uint32)
        first_seen = np.fromiter((number for _, number in order), np.uint32, len(order))
        places[first_seen] = np.arange(len(order), dtype=np.uint32)
        places[self._end] = len(order)
        counts = np.bincount(numbers, minlength=len(places))[first_seen].astype(np.uint32)
        return NumberedWords([word for word, _ in order], counts, places[numbers])
