import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.lab.corpus.counting import words as pairs
from textveil.lab.corpus.counting.words import NONE, join_key, pair_neighbors, split_key


def plainly(numbers, frequent):
    """The pairs of neighbors that are both frequent, by position."""
    known = [None if place >= len(frequent) or frequent[place] == NONE else int(frequent[place]) for place in numbers]
    return [(left, right) for left, right in itertools.pairwise(known) if left is not None and right is not None]


places = st.lists(st.integers(0, 6), max_size=40)
dictionaries = st.lists(st.booleans(), min_size=6, max_size=6)


@pytest.mark.parametrize("wide", [False, True])
@given(places, dictionaries)
def test_pairs_are_counted_as_by_a_loop(wide, numbers, known):
    rows = np.cumsum(known) + 10
    frequent = np.where(known, rows, NONE).astype(np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as where pairs and positions do not fit into 64 bits together
            patch.setattr(pairs, "_bits", lambda count: 32)
        found = pair_neighbors(np.array(numbers, np.uint32), frequent)
    expected = plainly(numbers, frequent)
    left, right = split_key(found.keys)
    keys = list(zip(left.tolist(), right.tolist(), strict=True))
    assert keys == sorted(set(expected))
    assert dict(zip(keys, found.counts.tolist(), strict=True)) == Counter(expected)
    # Positions that were dropped held no pair; the others are in order.
    assert [keys[place] for place in found.numbers.tolist() if place < len(keys)] == expected


def test_a_gap_separates_neighbors():
    found = pair_neighbors(np.array([0, 2, 2, 2, 1, 0], np.uint32), np.array([5, 9], np.uint32))
    assert [part.tolist() for part in split_key(found.keys)] == [[9], [5]]
    assert found.numbers.tolist() == [1, 1, 0]


def test_keys_hold_two_numbers():
    left, right = np.array([0, 7, 0xFFFFFFFE], np.uint32), np.array([3, 0, 0xFFFFFFFE], np.uint32)
    split = split_key(join_key(left, right))
    assert split[0].tolist() == left.tolist()
    assert split[1].tolist() == right.tolist()
    assert (np.diff(join_key(left, right).astype(np.float64)) > 0).all()
