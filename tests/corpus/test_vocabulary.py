"""Choosing entries from small files of tokens."""

import numpy as np
import pytest

from textveil.errors import InputError, OutputError, SmallCorpusError
from textveil.lab.corpus.settings import Selection
from textveil.lab.corpus.splitting import LONGEST_LINE
from textveil.lab.corpus.training import Vocabulary, choose_entries, load_vectors, save_vectors

ALL = Selection(min_entry_count=1, min_documents=1)


@pytest.fixture
def write(tmp_path):
    def write_lines(name, *lines):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write_lines


def test_entries_are_sorted_by_frequency_and_then_by_name(write):
    chosen = choose_entries([write("tokens", "tea the tea", "cup the the")], ALL)
    assert chosen.entries == ["the", "tea", "cup"]
    assert chosen.counts.tolist() == [3, 2, 1]
    assert chosen.documents.tolist() == [2, 1, 1]
    assert chosen.total == 2
    assert choose_entries([write("tokens", "b a")], ALL).entries == ["a", "b"]


def test_what_one_person_writes_often_is_no_entry(write):
    tokens = write("tokens", "secret " * 50, *["tea"] * 20)
    assert choose_entries([tokens], Selection()).entries == ["tea"]
    assert choose_entries([tokens], Selection(min_documents=1)).entries == ["secret", "tea"]


def test_a_long_document_counts_once(write):
    tokens = write("tokens", " ".join(["tea"] * LONGEST_LINE), "tea tea", "tea")
    chosen = choose_entries([tokens], ALL)
    assert (chosen.documents.tolist(), chosen.total) == ([2], 2)


def test_the_background_makes_entries_known_and_adds_no_documents(write):
    tokens, background = write("tokens", "tea cup", "tea"), write("background", "thou tea", "thou")
    chosen = choose_entries([tokens, background], Selection(min_entry_count=1, min_documents=2))
    assert dict(zip(chosen.entries, chosen.documents.tolist(), strict=True)) == {"tea": 2, "thou": 0}
    assert chosen.counts.tolist() == [3, 2]
    assert chosen.total == 2


def test_the_rarest_entries_are_left_out(write):
    tokens = write("tokens", "a a a b b c")
    assert choose_entries([tokens], Selection(1, 1, most_entries=2)).entries == ["a", "b"]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(min_entry_count=9), "`min_entry_count=9`: the most frequent chunk occurs 3 times. Lower"),
        (Selection(min_entry_count=1, min_documents=9), "`min_documents=9`: the most frequent chunk is in 2 documents"),
    ],
)
def test_a_corpus_that_is_too_small_is_refused_with_a_number_that_works(write, selection, message):
    with pytest.raises(SmallCorpusError, match=message):
        choose_entries([write("tokens", "a a", "a b")], selection)


def test_an_empty_corpus_is_refused(write):
    with pytest.raises(SmallCorpusError, match="occurs 0 times"):
        choose_entries([write("tokens")], ALL)


def test_a_vocabulary_is_loaded_as_it_was_saved(tmp_path):
    saved = Vocabulary(["a", "é_b"], np.array([3, 2]), np.array([2, 0]), 9)
    saved.save(tmp_path / "vocabulary")
    loaded = Vocabulary.load(tmp_path / "vocabulary")
    assert (loaded.entries, loaded.counts.tolist(), loaded.documents.tolist(), loaded.total) == (
        ["a", "é_b"],
        [3, 2],
        [2, 0],
        9,
    )
    with pytest.raises(OutputError):  # it is never replaced
        saved.save(tmp_path / "vocabulary")


@pytest.mark.parametrize("name", ["description.json", "counts.npy"])
@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_a_damaged_vocabulary_is_refused(tmp_path, name, content):
    Vocabulary(["a"], np.array([1]), np.array([1]), 1).save(tmp_path / "vocabulary")
    path = tmp_path / "vocabulary" / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        Vocabulary.load(tmp_path / "vocabulary")


def test_vectors_are_loaded_as_they_were_saved(tmp_path):
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    save_vectors(matrix, tmp_path / "vectors")
    np.testing.assert_array_equal(load_vectors(tmp_path / "vectors"), matrix)
    (tmp_path / "vectors" / "matrix.npy").write_bytes(b"{")
    with pytest.raises(InputError, match="`overwrite=True` to start over"):
        load_vectors(tmp_path / "vectors")
