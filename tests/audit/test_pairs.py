import pytest

from textveil.bundles.vectors import Vectors
from textveil.errors import BundleError, InputError
from textveil.lab.audit.claims import Pair, choose_pairs, read_pairs
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words

from ..conftest import random_matrix


@pytest.fixture
def vectors(tiny):
    return tiny.vectors("words")


def test_pairs_of_every_kind_are_made_up(vectors):
    kinds = {pair.kind for pair in choose_pairs(vectors)}
    assert kinds == {
        "near words",
        "far words",
        "same word, capitalized",
        "same word, full-width letters",
        "plain and accented word",
        "known and unknown word",
        "two unknown words",
        "stopword and content word",
        "capitalized stopword and content word",
        "name and no name",
        "numbers",
        "phone numbers",
        "one word of four",
        "all of three words",
        "words beside stopwords",
        "repeated word and two words",
    }


def test_both_texts_have_as_many_words(vectors):
    for pair in choose_pairs(vectors):
        assert len(find_words(pair.first)) == len(find_words(pair.second)) > 0
        assert pair.first != pair.second


def test_near_and_far_words_are_the_nearest_and_the_farthest(vectors):
    import numpy as np

    pairs = {pair.kind: pair for pair in choose_pairs(vectors)}
    rows = [row for row in vectors.writable if vectors.entries[row] not in ENGLISH and len(vectors.entries[row]) > 2]
    apart = np.linalg.norm(vectors.matrix[rows][:, None] - vectors.matrix[rows], axis=2)

    def distance(pair):
        return np.linalg.norm(vectors.matrix[vectors.find(pair.first)] - vectors.matrix[vectors.find(pair.second)])

    assert distance(pairs["near words"]) == pytest.approx(apart[apart > 0].min())
    assert distance(pairs["far words"]) == pytest.approx(apart.max())


def test_the_pairs_are_the_same_each_time(vectors):
    assert choose_pairs(vectors) == choose_pairs(vectors)


def test_unknown_words_are_unknown_and_names_are_never_written(vectors):
    pairs = {pair.kind: pair for pair in choose_pairs(vectors)}
    for word in (pairs["two unknown words"].first, pairs["two unknown words"].second):
        assert word not in vectors
    name = vectors.find(pairs["name and no name"].first.split()[0])
    assert name >= 0
    assert name not in vectors.writable


def test_expressions_come_from_the_vocabulary():
    entries = [f"word{letter}" for letter in "abcdefgh"] + ["new_york", "green_tea", "out_of"]
    pairs = {pair.kind: pair for pair in choose_pairs(Vectors(entries, random_matrix(11, 4)))}
    assert (pairs["expressions"].first, pairs["expressions"].second) == ("new york", "green tea")


def test_a_tiny_vocabulary_is_refused():
    with pytest.raises(BundleError, match="at least 8 words"):
        choose_pairs(Vectors(["one", "two", "three"], random_matrix(3, 4)))


@pytest.mark.parametrize(
    ("first", "second", "number"),
    [("tea", "tea", 0), ("tea", "Tea", 1), ("a b c", "a x y", 2), ("a b", "a", 1), ("", "a b", 2)],
)
def test_words_that_differ(first, second, number):
    assert Pair("", first, second).words_that_differ == number


def test_a_pair_does_not_show_its_texts():
    assert "tea" not in repr(Pair("drinks", "tea", "coffee"))


def test_pairs_are_read_from_a_file(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a good film\ta bad film\ncafé\tcafe\n", encoding="utf-8")
    assert read_pairs(path) == [Pair("line 1", "a good film", "a bad film"), Pair("line 2", "café", "cafe")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no pairs"),
        (b"one\ttwo\nthree\n", "Line 2 of"),
        (b"one\ttwo\tthree\n", "Line 1 of"),
        (b"\xff\t\xfe\n", "is not UTF-8"),
    ],
)
def test_a_false_file_of_pairs_is_refused(content, message, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_pairs(path)
    assert "three" not in str(caught.value)


def test_a_missing_file_of_pairs_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_pairs(tmp_path / "none")
