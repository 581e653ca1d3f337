"""The words of many documents in one stream, so that expressions are looked for in all of them at a time."""

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
"""With which word of a document an expression starts, and before which word it stops."""


class WordStream:
    """The words of documents one behind the other, with an empty word after each document.

    >>> stream = WordStream([Document.parse("A cup of tea."), Document.parse("More of it?")])
    >>> list(stream)
    ['a', 'cup', 'of', 'tea', '', 'more', 'of', 'it', '']
    >>> stream.split(np.array([0, 5]), np.array([4, 8]), stream.mark_stopwords())
    [[(1, 4)], []]
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.edges = list(accumulate((len(document.words) + 1 for document in documents), initial=0))
        """Where each document starts, and where the stream ends."""

    def __len__(self) -> int:
        return self.edges[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable((*document.words, "") for document in self.documents)

    def mark_pauses(self) -> Array:
        """Which words stand behind a pause."""
        starts = zip(self.edges, self.documents, strict=False)
        marks = np.zeros(len(self) + 1, dtype=bool)
        marks[[start + pause for start, document in starts for pause in document.pauses]] = True
        return marks

    def mark_stopwords(self) -> Array:
        """Which words are stopwords."""
        return np.fromiter(map(ENGLISH.__contains__, self), bool, len(self))

    def begin_sentences(self, positions: Sequence[int]) -> list[bool]:
        """Whether each of these words, which stand behind a pause, begins a sentence."""
        numbers = [bisect_right(self.edges, position) - 1 for position in positions]
        return begin_sentences(
            (self.documents[number], position - self.edges[number])
            for number, position in zip(numbers, positions, strict=True)
        )

    def split(self, starts: Array, stops: Array, stopwords: Array) -> list[list[Expression]]:
        """The expressions of every document, without the stopwords at their edges: the paper's ProcessStopwords.

        What is left of an expression, and has two words or more, counts.

        Args:
            starts: The first words of the expressions.
            stops: The words behind their last words.
            stopwords: Which words of the stream are stopwords, as far as they are in an expression.
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
