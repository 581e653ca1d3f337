import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.storage.score_cache import ScoreCache, hash_text

ROWS = {hash_text("a"): np.array([1.0, np.nan]), hash_text("b"): np.array([]), hash_text("c"): np.array([2.5])}


def read(cache):
    return {key: cache[key].tolist() for key in ROWS}


@pytest.mark.parametrize("in_folder", [False, True])
def test_rows_come_back_by_their_keys(tmp_path, in_folder):
    cache = ScoreCache(tmp_path if in_folder else None, {"of": "this"})
    keys = [*ROWS, next(iter(ROWS))]
    assert cache.find_missing(keys) == [0, 1, 2]
    cache.add(ROWS)
    assert cache.find_missing(keys) == []
    assert str(read(cache)) == str({key: row.tolist() for key, row in ROWS.items()})


def test_rows_are_found_only_under_their_identity(tmp_path):
    ScoreCache(tmp_path, {"of": "this"}).add(ROWS)
    again = ScoreCache(tmp_path, {"of": "this"})
    assert again.find_missing(list(ROWS)) == []
    assert str(read(again)) == str({key: row.tolist() for key, row in ROWS.items()})
    assert ScoreCache(tmp_path, {"of": "that"}).find_missing(list(ROWS)) == [0, 1, 2]


@given(st.lists(st.text(), min_size=2, max_size=4), st.lists(st.text(), min_size=2, max_size=4))
def test_different_texts_have_different_hashes(first, second):
    assert (hash_text(*first) == hash_text(*second)) == (first == second)
