import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import InputError, OutputError
from textveil.storage.score_cache import KEY_SIZE, ScoreCache, hash_text, load_key

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


def test_a_folder_has_one_random_key(tmp_path):
    key = load_key(tmp_path / "one")
    assert len(key) == KEY_SIZE
    assert load_key(tmp_path / "one") == key
    assert load_key(tmp_path / "other") != key
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["key"]


def test_only_the_user_may_read_a_key(tmp_path):
    load_key(tmp_path / "one")
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "one" / "key").stat().st_mode & 0o777 == 0o600


def test_processes_that_start_together_get_the_same_key(tmp_path):
    code = (
        "import sys, pathlib; from textveil.storage.score_cache import load_key as l; print(l(pathlib.Path('.')).hex())"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert {process.communicate(timeout=60)[0].strip() for process in started} == {load_key(tmp_path).hex()}


def test_a_key_that_another_process_wrote_meanwhile_stays(tmp_path, monkeypatch):
    theirs, link = bytes(range(KEY_SIZE)), os.link

    def link_late(source, target):
        target.write_bytes(theirs)
        link(source, target)

    monkeypatch.setattr(os, "link", link_late)
    assert load_key(tmp_path) == theirs
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    assert load_key(tmp_path) == load_key(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_damaged_key(tmp_path):
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(InputError, match="'.*key' is damaged. Remove it"):
        load_key(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="Cannot write"):
        load_key(tmp_path / "file")
