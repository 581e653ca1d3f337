import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.storage.score_cache import ScoreCache, hash_text

ROWS = {hash_text("a"): np.array([1.0, np.nan]), hash_text("b"): np.array([]), hash_text("c"): np.array([2.5])}


def read(kept):
    return {key: kept[key].tolist() for key in ROWS}


@pytest.mark.parametrize("in_folder", [False, True])
def test_rows_come_back_by_their_keys(tmp_path, in_folder):
    kept = ScoreCache(tmp_path if in_folder else None, {"of": "this"})
    keys = [*ROWS, next(iter(ROWS))]
    assert kept.find_missing(keys) == [0, 1, 2]
    kept.add(ROWS)
    assert kept.find_missing(keys) == []
    assert str(read(kept)) == str({key: row.tolist() for key, row in ROWS.items()})


def test_rows_are_found_again_under_the_same_identity_only(tmp_path):
    ScoreCache(tmp_path, {"of": "this"}).add(ROWS)
    again = ScoreCache(tmp_path, {"of": "this"})
    assert again.find_missing(list(ROWS)) == []
    assert str(read(again)) == str({key: row.tolist() for key, row in ROWS.items()})
    assert ScoreCache(tmp_path, {"of": "that"}).find_missing(list(ROWS)) == [0, 1, 2]


@given(st.lists(st.text(), min_size=2, max_size=4), st.lists(st.text(), min_size=2, max_size=4))
def test_several_texts_have_a_hash_of_their_own(first, second):
    assert (hash_text(*first) == hash_text(*second)) == (first == second)
