"""The words of many documents in one stream, to search all of them for expressions at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from textveil.language.sentences import begin_sentences
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Document

Array: TypeAlias = npt.NDArray[Any]
Expression: TypeAlias = tuple[int, int]
"""The position of an expression's first word in its document, and the position after its last word."""


class WordStream:
    """The words of all documents in order, with an empty word after each document.

    >>> stream = WordStream([Document.parse("A cup of tea."), Document.parse("More of it?")])
    >>> list(stream)
    ['a', 'cup', 'of', 'tea', '', 'more', 'of', 'it', '']
    >>> stream.split(np.array([0, 5]), np.array([4, 8]), stream.mark_stopwords())
    [[(1, 4)], []]
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.edges = list(accumulate((len(document.words) + 1 for document in documents), initial=0))
        """The position of each document in the stream, and the length of the stream."""

    def __len__(self) -> int:
        return self.edges[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable((*document.words, "") for document in self.documents)

    def mark_pauses(self) -> Array:
        """A mark for every word that follows a pause."""
        starts = zip(self.edges, self.documents, strict=False)
        marks = np.zeros(len(self) + 1, dtype=bool)
        marks[[start + pause for start, document in starts for pause in document.pauses]] = True
        return marks

    def mark_stopwords(self) -> Array:
        """A mark for every stopword."""
        return np.fromiter(map(ENGLISH.__contains__, self), bool, len(self))

    def begin_sentences(self, positions: Sequence[int]) -> list[bool]:
        """Whether each of these words begins a sentence. All of them must follow a pause."""
        numbers = [bisect_right(self.edges, position) - 1 for position in positions]
        return begin_sentences(
            (self.documents[number], position - self.edges[number])
            for number, position in zip(numbers, positions, strict=True)
        )

    def split(self, starts: Array, stops: Array, stopwords: Array) -> list[list[Expression]]:
        """The expressions of every document, without the stopwords at their edges: the paper's ProcessStopwords.

        An expression with fewer than two remaining words is dropped.

        Args:
            starts: The positions of the first words of the expressions.
            stops: The positions after their last words.
            stopwords: A mark for every stopword of the stream; only marks inside expressions are read.
        """
        starts, stops = _strip(starts, stops, stopwords)
        cuts = np.searchsorted(starts, self.edges).tolist()
        return [
            list(zip((starts[cut:next_cut] - edge).tolist(), (stops[cut:next_cut] - edge).tolist(), strict=True))
            for edge, (cut, next_cut) in zip(self.edges, pairwise(cuts), strict=False)
        ]


def _strip(starts: Array, stops: Array, stopwords: Array) -> tuple[Array, Array]:
    while len(loose := np.flatnonzero(stopwords[starts] & (stops - starts > 1))):
        starts[loose] += 1
    while len(loose := np.flatnonzero(stopwords[stops - 1] & (stops - starts > 1))):
        stops[loose] -= 1
    several = stops - starts > 1
    return starts[several], stops[several]
