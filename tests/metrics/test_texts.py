import numpy as np
import pytest

from textveil.lab.metrics import dataset as module
from textveil.lab.metrics.dataset import Texts

IDENTITY = {"scores": "length"}


class Lengths:
    """Measures texts, and notes which."""

    def __init__(self, texts):
        self.texts = texts
        self.asked = []

    def __call__(self, positions):
        self.asked.append([self.texts[position] for position in positions])
        return [np.array([len(self.texts[position])]) for position in positions]


def score(texts, work, **options):
    return [row.tolist() for row in texts.score(IDENTITY, work, **options)]


def test_every_text_has_its_row_and_is_scored_once():
    texts = Texts(["one", "three", "one", ""])
    work = Lengths(texts)
    assert score(texts, work) == [[3], [5], [3], [0]]
    assert score(texts, work) == [[3], [5], [3], [0]]
    assert work.asked == [["three", "one", ""]]  # the longest first, a text once


def test_scores_are_cached_part_by_part_and_an_interrupted_run_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_TEXTS", 2)
    texts = Texts(["a", "bb", "ccc", "dddd", "eeeee"], tmp_path)

    class Stopping(Lengths):
        def __call__(self, positions):
            if len(self.asked) == 2:
                raise KeyboardInterrupt
            return super().__call__(positions)

    with pytest.raises(KeyboardInterrupt):
        score(texts, Stopping(texts))
    again = Texts(list(texts), tmp_path)
    work = Lengths(again)
    assert score(again, work) == [[1], [2], [3], [4], [5]]
    assert work.asked == [["a"]]


def test_scores_are_written_while_others_are_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_TEXTS", 2)
    clock = iter(range(0, 1000, 3))  # every reading of the clock is three seconds after the last
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    texts = Texts([letter * 3 for letter in "abcdefgh"], tmp_path)
    files = []

    class Noting(Lengths):
        def __call__(self, positions):
            files.append(len(list(tmp_path.rglob("*.npz"))))
            return super().__call__(positions)

    score(texts, Noting(texts))
    assert files == [0, 0, 1, 1]  # every six seconds, although no part took longer than three
    assert len(list(tmp_path.rglob("*.npz"))) == 2


def test_after_an_interruption_the_same_texts_are_scored_together(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_TEXTS", 2)
    names = ["a", "bbbbb", "cc", "dddd", "eee", "a"]
    whole = Texts(names)
    score(whole, parts := Lengths(whole))
    texts = Texts(names, tmp_path)
    texts.cached(IDENTITY).add({texts.keys[3]: np.array([4]), texts.keys[1]: np.array([5])})  # the first part
    score(texts, left := Lengths(texts))
    assert parts.asked == [["bbbbb", "dddd"], ["eee", "cc"], ["a"]]
    assert left.asked == parts.asked[1:]


def test_the_number_of_texts_at_a_time_can_be_chosen():
    texts = Texts(["a", "bb", "ccc"])
    score(texts, work := Lengths(texts), part_texts=2)
    assert work.asked == [["ccc", "bb"], ["a"]]


def test_other_texts_or_another_identity_have_other_scores(tmp_path):
    first, second = Texts(["a", "b"], tmp_path), Texts(["b", "a"], tmp_path)
    score(first, Lengths(first))
    work = Lengths(second)
    score(second, work)
    assert work.asked == [["b", "a"]]
    first.score({"scores": "other"}, work := Lengths(first))
    assert work.asked == [["a", "b"]]
    assert first.hash != second.hash


def test_keys_can_differ_for_equal_texts():
    texts = Texts(["a", "a"])
    work = Lengths(texts)
    texts.score(IDENTITY, work, keys=[bytes(32), bytes([1] * 32)])
    assert work.asked == [["a", "a"]]


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr(module, "PART_TEXTS", 2)
    reports = []
    texts = Texts(["a", "b", "c"])
    score(texts, Lengths(texts), stage="reading", progress=lambda *values: reports.append(values))
    assert reports == [("reading", 0, 0.0), ("reading", 2, 2 / 3), ("reading", 3, 1.0)]
    reports.clear()
    score(texts, Lengths(texts), progress=lambda *values: reports.append(values))
    assert reports == []


def test_lists_of_one_length_have_samples_of_the_same_rows():
    first, second = Texts([f"a{n}" for n in range(50)]), Texts([f"b{n}" for n in range(50)])
    chosen = [text[1:] for text in first.sample(7)]
    assert len(set(chosen)) == 7
    assert [text[1:] for text in second.sample(7)] == chosen
    assert first.sample(7) is first.sample(7)  # or its scores would be lost
    assert first.sample(None) is first.sample(50) is first


def test_neither_names_nor_files_hold_plain_hashes(tmp_path):
    texts = Texts(["HIV positive"], tmp_path)
    score(texts, Lengths(texts))
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["key"]
    for path in tmp_path.rglob("*"):
        assert texts.hash[:8] not in path.name
        assert path.is_dir() or texts.keys[0] not in path.read_bytes()


def test_scores_in_memory_are_not_written(tmp_path):
    texts = Texts(["a", "bb"], tmp_path / "cache")
    work = Lengths(texts)
    assert score(texts, work, in_memory=True) == score(texts, work, in_memory=True) == [[1], [2]]
    assert len(work.asked) == 1
    assert not (tmp_path / "cache").exists()
