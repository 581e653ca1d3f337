import json
import os
from hashlib import sha256

import pytest

from textveil.storage import computed as figures
from textveil.storage.computed import find_figures

KEY = sha256(b"bundle").hexdigest()


class Computing:
    """Computes figures, and counts how often."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return {"median": 3.2}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(figures.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(figures, "WORTH_KEEPING", 0.0)
    return tmp_path / "cache"


def test_figures_are_computed_once(cache, tmp_path):
    computing = Computing()
    for _ in range(2):
        assert find_figures(KEY, tmp_path / "none.json", computing) == {"median": 3.2}
    assert computing.times == 1


def test_shipped_figures_come_first(cache, tmp_path):
    shipped = tmp_path / "shipped.json"
    shipped.write_text(json.dumps({KEY: {"median": 1.0}}))
    assert find_figures(KEY, shipped, Computing()) == {"median": 1.0}
    assert not cache.exists()


def test_figures_that_cost_no_time_are_not_cached(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "WORTH_KEEPING", 60.0)
    find_figures(KEY, tmp_path / "none.json", Computing())
    assert not cache.exists()


def test_damaged_figures_are_computed_again(cache, tmp_path):
    find_figures(KEY, tmp_path / "none.json", Computing())
    (path,) = cache.rglob("*.json")
    path.write_text("{")
    computing = Computing()
    assert find_figures(KEY, tmp_path / "none.json", computing) == {"median": 3.2}
    assert computing.times == 1


def test_a_cache_that_cannot_be_written_is_not_an_error(cache, tmp_path):
    cache.touch()
    assert find_figures(KEY, tmp_path / "none.json", Computing()) == {"median": 3.2}


def test_old_figures_make_room_for_new_ones(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "MOST_CACHED", 3)
    keys = [sha256(bytes([number])).hexdigest() for number in range(5)]
    for key in keys:
        find_figures(key, tmp_path / "none.json", Computing())
    assert sorted(path.stem for path in cache.rglob("*.json")) == sorted(keys[2:])


def test_the_cache_is_for_the_user_only(cache, tmp_path):
    before = os.umask(0)
    try:
        find_figures(KEY, tmp_path / "none.json", Computing())
    finally:
        os.umask(before)
    paths = [cache, *cache.rglob("*")]
    assert len(paths) == 3
    assert all(path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600) for path in paths)


def test_a_key_must_be_a_hash(cache, tmp_path):
    with pytest.raises(ValueError, match=r"\.\./x"):
        find_figures("../x", tmp_path / "none.json", Computing())
