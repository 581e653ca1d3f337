"""Figures are looked up in the shipped table, then in the cache, and computed otherwise."""

import json

import pytest

from textveil.storage import figures
from textveil.storage.figures import cache_folder, find_figures

KEY = "0123456789abcdef" * 4


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(figures, "WORTH_KEEPING", 0.0)
    figures._read_table.cache_clear()
    return tmp_path / "cache" / "figures" / f"{KEY}.json"


def fail():
    pytest.fail("These figures were known.")


def test_figures_are_computed_once(cache, tmp_path):
    assert find_figures(KEY, tmp_path / "none.json", lambda: {"a": 1}) == {"a": 1}
    assert json.loads(cache.read_bytes()) == {"a": 1}
    assert find_figures(KEY, tmp_path / "none.json", fail) == {"a": 1}
    assert find_figures("f" * 64, tmp_path / "none.json", lambda: {"a": 2}) == {"a": 2}  # another key


def test_the_shipped_table_comes_first_and_nothing_is_cached(cache, tmp_path):
    table = tmp_path / "table.json"
    table.write_text(json.dumps({KEY: {"a": 3}}))
    assert find_figures(KEY, table, fail) == {"a": 3}
    assert not cache.exists()


def test_what_is_quick_to_compute_is_not_cached(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "WORTH_KEEPING", 60.0)
    find_figures(KEY, tmp_path / "none.json", lambda: {"a": 1})
    assert not cache.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"{}", b"\xff"])
def test_a_damaged_cache_is_computed_again(cache, tmp_path, content):
    cache.parent.mkdir(parents=True)
    cache.write_bytes(content)
    assert find_figures(KEY, tmp_path / "none.json", lambda: {"a": 1}) == {"a": 1}
    assert json.loads(cache.read_bytes()) == {"a": 1}


def test_a_cache_that_cannot_be_written_is_not_an_error(cache, tmp_path):
    (tmp_path / "cache").write_text("a file in place of the folder")
    assert find_figures(KEY, tmp_path / "none.json", lambda: {"a": 1}) == {"a": 1}


@pytest.mark.parametrize("key", ["", "../" + KEY, KEY.upper(), KEY[:-1]])
def test_a_key_is_a_hash_and_never_a_path(cache, tmp_path, key):
    with pytest.raises(ValueError, match="^" + key.replace(".", r"\.") + "$"):
        find_figures(key, tmp_path / "none.json", fail)


def test_the_cache_follows_the_conventions_of_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("TEXTVEIL_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "textveil"
    monkeypatch.setenv("TEXTVEIL_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
