import os
import subprocess
import sys

import pytest

from textveil.errors import InputError, OutputError
from textveil.storage.score_cache import KEY_SIZE, load_key


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
