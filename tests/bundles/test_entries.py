import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.bundles import entries as module
from textveil.bundles.entries import UNKNOWN, Entries, hash_bytes, is_in, is_plain

WORDS = st.text(st.sampled_from("abcXYZ019 _'-.éΣß\u0663"), max_size=20)


@given(st.lists(WORDS, min_size=1, max_size=30))
def test_entries_are_a_sequence_of_strings(words):
    entries = Entries.of(words)
    assert list(entries) == words
    assert [entries[row] for row in range(-len(words), 0)] == words
    assert entries[1:3] == words[1:3]
    assert list(Entries.parse(("\n".join(words) + "\n").encode())) == words
    assert entries.are_distinct == (len(set(words)) == len(words))
    assert all(words[entries.find(word)] == word for word in words)
    assert all(word in entries for word in words)


@given(st.lists(WORDS, min_size=1, max_size=30, unique=True), st.lists(WORDS, max_size=30))
def test_what_is_no_entry_is_unknown(words, asked):
    entries = Entries.of(words)
    for word in asked:
        assert entries.find(word) == (words.index(word) if word in words else UNKNOWN)
        assert entries.find(word) == entries.find(word)  # the second time, it is remembered
    assert sorted(entries.find_all(set(asked))) == sorted(words.index(word) for word in set(asked) & set(words))


@given(st.lists(WORDS, min_size=1, max_size=30))
def test_all_entries_at_once_are_judged_like_each_of_them(words):
    entries = Entries.of(words)
    assert entries.plain.tolist() == [is_plain(word) for word in words]
    assert (entries.alphanumeric & entries.plain).tolist() == [word.isalnum() for word in words]
    assert entries.hashes.tolist() == [hash_bytes(word.encode()) for word in words]
    assert entries.most_joints == max(word.count("_") for word in words)
    folded = [word.lower().replace(" ", "_").replace("'", "_") for word in words]
    assert entries.fold().tolist() == [hash_bytes(word.encode()) for word in folded]


@pytest.mark.parametrize("content", [b"tea\n\nmilk\n", b"", b"\n", b"tea", b"a\r\nb\n"])
def test_lines_are_those_of_a_file(content):
    assert list(Entries.parse(content)) == content.decode().removesuffix("\n").split("\n")


def test_a_file_that_is_not_utf_8_is_refused():
    with pytest.raises(UnicodeDecodeError):
        Entries.parse(b"tea\n\xff\n")


def test_entries_with_equal_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "hash_bytes", len)
    monkeypatch.setattr(module, "_hash_parts", lambda content, starts, stops: (stops - starts).astype(np.uint64))
    entries = Entries.of(["tea", "cup", "milk", "pot"])
    assert [entries.find(word) for word in ("pot", "tea", "cup", "jug", "milk")] == [3, 0, 1, UNKNOWN, 2]
    assert entries.are_distinct
    assert not Entries.of(["tea", "cup", "tea"]).are_distinct
    assert entries.find_all(["jug", "cup"]).tolist() == [1]
    long = Entries.of(["windmill one", "windmill two", "", "windmills two"])
    assert long.find_all(["windmill two", "windmill six", "windmills two", ""]).tolist() == [1, 3, 2]


def test_a_line_feed_inside_an_entry_does_not_divide_it():
    entries = Entries.of(["a\nb", "c"])
    assert list(entries) == ["a\nb", "c"]
    assert entries.plain.tolist() == [False, True]


def test_no_entries():
    entries = Entries.of([])
    assert (len(entries), list(entries), entries.find("tea")) == (0, [], UNKNOWN)
    assert len(entries.find_all(["tea"])) == 0
    assert 5 not in entries


def test_hashes_are_looked_up_among_others():
    hashes = np.array([5, 1, 9, 5], dtype=np.uint64)
    assert is_in(hashes, np.array([9, 5], dtype=np.uint64)).tolist() == [True, False, True, True]
    assert is_in(hashes, hashes[:0]).tolist() == [False] * 4
