"""The search for n-grams of a lexicon in documents: greedy, from left to right, longest first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise, product, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from textveil.text.documents import Document
from textveil.text.sentences import begin_sentences
from textveil.text.stopwords import ENGLISH

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


LONGEST = 4
"""The maximum number of words of an n-gram."""

_LARGEST = np.array([max(1, flags.bit_length() - 1) for flags in range(2 << LONGEST)], dtype=np.uint8)
"""The largest size in a set of flags, or 1 if the set is empty."""


class NgramIndex:
    """An index of n-grams of two to four words, to search many documents at once.

    Args:
        words: The distinct words of the n-grams.
        ngrams: One row per n-gram: the numbers of its words in order, counted from 1, padded with zeros.

    >>> index = NgramIndex.of(["new york", "new york city", "city hall"])
    >>> index.find([Document.parse("The New York City hall. New York. City hall.")])
    [[(1, 4), (5, 7), (7, 9)]]
    """

    def __init__(self, words: Sequence[str], ngrams: Array) -> None:
        self.words = words
        self.ngrams = ngrams
        self._numbers = dict(zip(words, range(1, len(words) + 1), strict=True))
        self._stopwords = self._mark([self._numbers[word] for word in ENGLISH if word in self._numbers])
        self._is_first, self._is_second = (self._mark(ngrams[:, place]) for place in (0, 1))
        self._base = len(words) + 1
        self._levels = list(_build_levels(ngrams, self._base))

    def _mark(self, numbers: Array | list[int]) -> Array:
        """Marks for some numbers of words; 0, which is no word, counts as one."""
        marks = np.zeros(len(self.words) + 1, dtype=bool)
        marks[numbers] = True
        return marks

    @classmethod
    def of(cls, ngrams: Iterable[str]) -> NgramIndex:
        """Index n-grams that are spelled with a space between words."""
        split = [ngram.split(" ") for ngram in ngrams]
        words = sorted(set(chain.from_iterable(split)))
        numbers = dict(zip(words, range(1, len(words) + 1), strict=True))
        rows = [[numbers[word] for word in ngram] + [0] * (LONGEST - len(ngram)) for ngram in split]
        smallest = np.min_scalar_type(len(words))
        return cls(words, np.unique(np.array(rows, dtype=smallest).reshape(-1, LONGEST), axis=0))

    def __len__(self) -> int:
        return len(self.ngrams)

    @cached_property
    def spelled(self) -> frozenset[str]:
        """All n-grams, with a space between words."""
        spellings = np.array(["", *(f" {word}" for word in self.words)], dtype=object)
        return frozenset("".join(row)[1:] for row in spellings[self.ngrams].tolist())

    def find(self, documents: Sequence[Document]) -> list[list[Expression]]:
        """The n-grams of every document, in order, without overlaps and without stopwords at their edges.

        This implements algorithms 1 and 3 of the paper.
        """
        stream = WordStream(documents)
        numbers = np.zeros(len(stream) + LONGEST, dtype=np.int64)
        numbers[: len(stream)] = np.fromiter(map(self._numbers.get, stream, repeat(0)), np.int64, len(stream))
        return _take_longest(stream, self._match(numbers), self._stopwords[numbers])

    def find_joined(self, document: Document) -> list[Expression]:
        """The n-grams of a document if underscores count as spaces: ``new_york city`` matches ``new york city``."""
        stream = WordStream([document])
        words = [word.replace("_", " ") for word in document.words]
        flags = np.zeros(len(stream), dtype=np.uint8)
        for start, size in product(range(len(words)), range(2, LONGEST + 1)):
            if start + size <= len(words) and " ".join(words[start : start + size]) in self.spelled:
                flags[start] |= 1 << size
        return _take_longest(stream, flags, stream.mark_stopwords())[0]

    def _match(self, numbers: Array) -> Array:
        """The sizes of the n-grams that start at each word: one flag per size."""
        flags = np.zeros(len(numbers) - LONGEST, dtype=np.uint8)
        starts = np.flatnonzero(self._is_first[numbers[:-LONGEST]] & self._is_second[numbers[1 : 1 - LONGEST]])
        places = numbers[starts]
        for size, level in enumerate(self._levels, start=2):
            found = level.find(places * self._base + numbers[starts + size - 1])
            there = np.flatnonzero(found >= 0)
            starts, places = starts[there], found[there]
            flags[starts[level.whole[places]]] |= 1 << size
        return flags


def _take_longest(stream: WordStream, flags: Array, stopwords: Array) -> list[list[Expression]]:
    """The longest n-grams from left to right; ``flags`` holds the sizes of the n-grams that start at each word."""
    flags = flags & ~_flag_divided(stream, flags)
    starts = np.flatnonzero(flags)
    stops = starts + _LARGEST[flags[starts]]
    following = np.searchsorted(starts, stops).tolist()  # the next n-gram that does not overlap
    taken = []
    place = 0
    while place < len(following):
        taken.append(place)
        place = following[place]
    return stream.split(starts[taken], stops[taken], stopwords)


def _flag_divided(stream: WordStream, flags: Array) -> Array:
    """The sizes of the flagged n-grams that cross the end of a sentence."""
    pauses = stream.mark_pauses()
    starts = np.flatnonzero(flags)
    reaches = _LARGEST[flags[starts]]
    inside = [starts[reaches > ahead] + ahead for ahead in range(1, LONGEST)]
    asked = np.unique(np.concatenate([places[pauses[places]] for places in inside]))
    begins = np.zeros(len(stream) + LONGEST, dtype=bool)
    begins[asked] = stream.begin_sentences(asked.tolist())
    divided = np.zeros(len(stream), dtype=np.uint8)
    for ahead in range(LONGEST - 1, 0, -1):
        places = starts[begins[starts + ahead]]
        divided[places] = 0xFF << (ahead + 1) & 0xFF  # all sizes greater than ``ahead``
    return divided


class _Level(NamedTuple):
    """The prefixes of n-grams with a given number of words."""

    keys: Array
    """Ascending: the number of the prefix one word shorter, times the number of words and 1, plus the last word."""
    whole: Array
    """A mark for every prefix that is a complete n-gram."""

    def find(self, keys: Array) -> Array:
        """The numbers of the prefixes with these keys; -1 if a prefix does not exist."""
        if len(self.keys) == 0:
            return np.full(len(keys), -1)
        places = np.minimum(self.keys.searchsorted(keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


def _build_levels(ngrams: Array, base: int) -> Iterator[_Level]:
    """The prefixes of two, three and four words. The n-grams are sorted, so equal prefixes follow each other."""
    columns = [np.asarray(ngrams[:, place], dtype=np.int64) for place in range(LONGEST)]
    places = columns[0]
    for size in range(2, LONGEST + 1):
        longer = np.flatnonzero(columns[size - 1])
        if len(longer) < len(places):
            columns, places = [column[longer] for column in columns], places[longer]
        keys = places * base + columns[size - 1]
        begins = np.ones(len(keys), dtype=bool)
        begins[1:] = keys[1:] != keys[:-1]
        places = np.cumsum(begins) - 1
        whole = columns[size][begins] == 0 if size < LONGEST else np.ones(int(begins.sum()), dtype=bool)
        yield _Level(keys[begins], whole)
