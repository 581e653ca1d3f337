import hashlib

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


def test_a_guessed_text_cannot_be_looked_up(tmp_path):
    text = "HIV positive"
    ScoreCache(tmp_path / "cache", {"of": "this"}).add({hash_text(text): np.array([1.0])})
    found = b"".join(
        path.name.encode() + path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()
    )
    digest = hashlib.sha256(text.encode()).digest()
    assert digest not in found
    assert digest.hex().encode() not in found
    (tmp_path / "cache" / "key").unlink()  # a copy without the key is of no use
    assert ScoreCache(tmp_path / "cache", {"of": "this"}).find_missing([hash_text(text)]) == [0]


def test_files_and_folders_are_for_the_user_only(tmp_path):
    ScoreCache(tmp_path / "cache", {"of": "this"}).add(ROWS)
    paths = [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    assert len(paths) == 5  # the folder, its key, the folder of the identity, its description, and the scores
    assert all(path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600) for path in paths)
