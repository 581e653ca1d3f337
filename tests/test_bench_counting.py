"""The part of ``make bench`` that counts growing inputs, and the inputs themselves."""

import re

import numpy as np
import pytest

from benchmarks import counting, web_text
from benchmarks.counting import Counted, Measured, compare_counting, describe_first, describe_larger
from benchmarks.web_text import unpack, write_web_text

ROOMS = "The Café était calme; the waiter (aged 42) was kind to everybody there.\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(ROOMS * 200, encoding="utf-8")
    return path


def find_words(path):
    return re.findall(r"\w+", path.read_text(encoding="utf-8").lower())  # fails on divided letters


def test_the_text_has_the_requested_size_and_is_the_same_each_time(source, tmp_path):
    for name in ("first", "second"):
        write_web_text(source, 12_345, tmp_path / name)
    write_web_text(source, 12_345, tmp_path / "other", seed=8)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes() != (tmp_path / "other").read_bytes()
    assert len(find_words(tmp_path / "first")) == 12_345
    assert (tmp_path / "first").read_bytes().endswith(b"\n")


def test_noise_changes_the_stated_share_of_words(source, tmp_path):
    write_web_text(source, 200_000, tmp_path / "text")
    known = set(find_words(source))
    new = [word not in known for word in find_words(tmp_path / "text")]
    # A changed letter may be the same by chance, and one of a short word may give another word: a tenth at most.
    assert 0.8 * (web_text.MISSPELLED + web_text.REPLACED) < np.mean(new) < web_text.MISSPELLED + web_text.REPLACED


def test_the_vocabulary_grows_with_the_text(source, tmp_path):
    distinct = []
    for words in (50_000, 200_000):
        write_web_text(source, words, tmp_path / "text")
        distinct.append(len(set(find_words(tmp_path / "text"))))
    assert distinct[1] > 1.5 * distinct[0]


def test_without_a_corpus_there_are_random_words(tmp_path, monkeypatch):
    monkeypatch.setattr(web_text, "_RANDOM_WORDS", 5000)
    unpack(None, tmp_path / "corpus.txt")
    words = find_words(tmp_path / "corpus.txt")
    assert 5000 <= len(words) < 5100
    assert words.count("w0") > words.count("w9")


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_a_corpus_is_unpacked(tmp_path, suffix):
    opener = {"": open, ".gz": web_text.gzip.open, ".xz": web_text.lzma.open}[suffix]
    with opener(tmp_path / f"some.txt{suffix}", "wb") as out:
        out.write(ROOMS.encode())
    unpack(tmp_path / f"some.txt{suffix}", tmp_path / "corpus.txt")
    assert (tmp_path / "corpus.txt").read_text(encoding="utf-8") == ROOMS


def test_sizes_are_compared_with_the_smallest_and_that_with_a_counter():
    first = Counted("10 million words", 10_000_000, 2.0, 10.0, 300.0)
    plain, larger = Measured(50.0, 1500.0), Counted("60 million words", 60_000_000, 12.0, 75.0, 330.0)
    speed, memory, limit, making = describe_first(first, plain)
    assert (speed.value, speed.ratio, speed.baseline) == (1e6, 5.0, "Counter of joined strings: 200,000")
    assert (memory.ratio, limit.ratio, making.ratio) == (0.2, 300 / counting.MEMORY, 0.2)
    speed, memory, limit, making = describe_larger(larger, first)
    assert (speed.value, speed.ratio, speed.baseline) == (8e5, 0.8, "10 million words")
    assert (memory.ratio, limit.value, making.value) == (1.1, 330.0, 12.0)


def test_inputs_are_counted_and_removed(tmp_path, source, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(counting, "ROUNDS", 1)
    records = compare_counting(source, [0.02, 0.01])
    assert [record.name for record in records if record.unit == "words/s"] == [
        "0.01 million words",
        "0.02 million words",
    ]
    assert all(record.ratio > 0 for record in records)
    assert list(tmp_path.iterdir()) == [source]


def test_a_full_disk_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit, match=r"Set TMPDIR .* --words 10,60"):
        compare_counting(None, [10, 1e9])
    assert list(tmp_path.iterdir()) == []
