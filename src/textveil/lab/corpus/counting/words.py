"""The words of documents as numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from textveil.text.words import find_words, spell_ascii

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

    def finish(self) -> tuple[list[str], Ids, Ids]:
        """The sorted words, their counts, and the documents as indices into the words.

        The index of the end of a document is the number of words.
        """
        numbers = np.concatenate(self._batches) if self._batches else np.empty(0, np.uint32)
        order = sorted(self._numbers.items())
        order.remove((END, self._end))
        places = np.empty(len(order) + 1, np.uint32)
        first_seen = np.fromiter((number for _, number in order), np.uint32, len(order))
        places[first_seen] = np.arange(len(order), dtype=np.uint32)
        places[self._end] = len(order)
        counts = np.bincount(numbers, minlength=len(places))[first_seen].astype(np.uint32)
        return [word for word, _ in order], counts, places[numbers]


Pairs = NDArray[np.uint64]

NONE = np.uint32(0xFFFFFFFF)
"""Stands for an n-gram that is not frequent."""
_HALF = np.uint64(32)


def join_key(prefix: Ids, suffix: Ids) -> Pairs:
    """Join two numbers into one key, which sorts by the first and then by the second."""
    return (prefix.astype(np.uint64) << _HALF) | suffix


def split_key(keys: Pairs) -> tuple[Ids, Ids]:
    """Split keys into their two numbers."""
    return (keys >> _HALF).astype(np.uint32), keys.astype(np.uint32)


def pair_neighbors(numbers: Ids, frequent: Ids) -> tuple[Pairs, Ids, Ids]:
    """Count the pairs of adjacent n-grams that are both frequent.

    Args:
        numbers: For every position, the index of its n-gram in the dictionary of this part, or the dictionary's length.
        frequent: For every entry of that dictionary, its row in the table of the corpus, or :data:`NONE`.

    Returns:
        The sorted pairs, their counts, and for every position the index of its pair, or the number of pairs.

    >>> keys, counts, indices = pair_neighbors(np.array([0, 1, 2, 0, 1], np.uint32), np.array([4, 7], np.uint32))
    >>> [array.tolist() for array in split_key(keys)], counts.tolist(), indices.tolist()
    ([[4], [7]], [2], [0, 1, 1, 0])
    """
    # Smaller numbers, in the same order, leave bits for the position next to the pair.
    kept = np.flatnonzero(frequent != NONE)
    small = np.full(len(frequent) + 1, NONE)
    small[kept] = np.arange(len(kept), dtype=np.uint32)
    here = _drop_repeated_gaps(small[numbers])
    begins = np.flatnonzero((here[:-1] != NONE) & (here[1:] != NONE))
    bits = _bits(len(kept))
    pairs, begins = _sort_pairs(here[begins], here[begins + 1], begins, bits)

    new = np.ones(len(pairs), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=len(pairs)).astype(np.uint32)
    following = np.full(max(0, len(here) - 1), len(starts), np.uint32)
    following[begins] = np.repeat(np.arange(len(starts), dtype=np.uint32), counts)
    distinct = pairs[starts]
    prefix = frequent[kept[distinct >> np.uint64(bits)]]
    suffix = frequent[kept[distinct & np.uint64((1 << bits) - 1)]]
    return join_key(prefix, suffix), counts, following


def _drop_repeated_gaps(numbers: Ids) -> Ids:
    """Keep one of several adjacent gaps, since no pair can begin there."""
    keep = numbers != NONE
    keep[1:] |= keep[:-1].copy()
    kept: Ids = numbers[keep]
    return kept


def _bits(count: int) -> int:
    """The number of bits of numbers up to ``count``."""
    return count.bit_length()


def _sort_pairs(left: Ids, right: Ids, positions: NDArray[np.intp], bits: int) -> tuple[Pairs, NDArray[np.intp]]:
    """Sort pairs together with their positions.

    If a pair and its position fit into 64 bits, one plain sort is enough. It is several times as fast as an argsort.
    """
    pairs = (left.astype(np.uint64) << np.uint64(bits)) | right
    room = _bits(int(positions[-1])) if len(positions) else 0
    if 2 * bits + room > 64:
        order = np.argsort(pairs, kind="stable")
        return pairs[order], positions[order]
    pairs <<= np.uint64(room)
    pairs |= positions.astype(np.uint64)
    pairs.sort()
    positions = (pairs & np.uint64((1 << room) - 1)).astype(np.intp)
    pairs >>= np.uint64(room)
    return pairs, positions
