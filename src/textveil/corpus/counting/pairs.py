"""From n-grams to n-grams one word longer: neighbours are paired, and pairs are counted.

Where two (n-1)-grams begin at neighbouring words, they overlap in all but their ends, so the pair of their numbers is
an n-gram. An n-gram can only be frequent if both are; the others are dropped before they are paired.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.corpus.counting.words import Ids

Pairs = NDArray[np.uint64]

NONE = np.uint32(0xFFFFFFFF)
"""The number of an n-gram that is not frequent."""
_HALF = np.uint64(32)


class NumberedPairs(NamedTuple):
    """Pairs in order, how often each occurs, and at every position the place of its pair in that order.

    In ``numbers``, a position where no pair begins has ``len(keys)``.
    """

    keys: Pairs
    counts: Ids
    numbers: Ids


def join_key(prefix: Ids, suffix: Ids) -> Pairs:
    """Two numbers as one key, which sorts by the first and then by the second."""
    return (prefix.astype(np.uint64) << _HALF) | suffix


def split_key(keys: Pairs) -> tuple[Ids, Ids]:
    """The two numbers of every key."""
    return (keys >> _HALF).astype(np.uint32), keys.astype(np.uint32)


def pair_neighbours(numbers: Ids, frequent: Ids) -> NumberedPairs:
    """Count the pairs of neighbours that are both frequent.

    Args:
        numbers: At every position the place of its n-gram in the dictionary of this part, or the dictionary's length.
        frequent: For every entry of that dictionary its number in the whole corpus, or :data:`NONE`.

    >>> pairs = pair_neighbours(np.array([0, 1, 2, 0, 1], np.uint32), np.array([4, 7], np.uint32))
    >>> [array.tolist() for array in split_key(pairs.keys)], pairs.counts.tolist(), pairs.numbers.tolist()
    ([[4], [7]], [2], [0, 1, 1, 0])
    """
    # Fewer and smaller numbers, in the same order, leave room for the position beside a pair.
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
    return NumberedPairs(join_key(prefix, suffix), counts, following)


def _drop_repeated_gaps(numbers: Ids) -> Ids:
    """Leave one gap where there are several in a row: nothing can begin there."""
    keep = numbers != NONE
    keep[1:] |= keep[:-1].copy()
    kept: Ids = numbers[keep]
    return kept


def _bits(count: int) -> int:
    """How many bits numbers up to ``count`` need."""
    return count.bit_length()


def _sort_pairs(left: Ids, right: Ids, positions: NDArray[np.intp], bits: int) -> tuple[Pairs, NDArray[np.intp]]:
    """Pairs in order, with their positions.

    Where a pair and its position fit into 64 bits together, a plain sort does it, which is several times as fast as
    one that keeps track of positions.
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
