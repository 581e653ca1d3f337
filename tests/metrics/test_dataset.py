import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import InputError, ParameterError
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.dataset import Classes


def classes(values, rows=None, column="author"):
    return Classes.of(values, range(len(values)) if rows is None else rows, column)


@given(st.lists(st.sampled_from("abc"), min_size=6, max_size=80), st.integers(0, 1000))
def test_every_class_is_in_both_splits(values, seed):
    values += ["a", "a", "b", "b", "c", "c"]
    found = classes(values)
    split = found.split(seed)
    assert sorted([*split.train, *split.test]) == list(range(len(values)))
    assert set(found.codes[split.train]) == set(found.codes[split.test]) == {0, 1, 2}
    for code in range(3):
        size = int(np.sum(found.codes == code))
        assert np.sum(found.codes[split.test] == code) == max(1, round(size / 10))


def test_the_split_depends_on_the_seed():
    found = classes(["a", "b"] * 50)
    assert found.split(42).test.tolist() == found.split(42).test.tolist()
    assert found.split(42).test.tolist() != found.split(43).test.tolist()
    assert len(found.split(42).test) == 10


def test_the_hash_distinguishes_classes():
    assert classes(["a", "b", "a", "b"]).hash == classes(["a", "b", "a", "b"]).hash
    assert classes(["a", "b", "a", "b"]).hash != classes(["a", "b", "b", "a"]).hash
    assert classes(["a", "b", "a", "b"]).hash != classes(["a", "c", "a", "c"]).hash


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "a", "a"], "All texts have the same author"),
        (["a", "b", "secret", "a", "b"], "Row 3 is the only one with its author"),
        (["a", "b", None, "a", "b"], "Row 3 has no author"),
    ],
)
def test_invalid_classes(values, message):
    with pytest.raises(InputError, match=message) as raised:
        classes(values)
    assert "secret" not in str(raised.value)


def test_row_numbers_in_messages_include_skipped_rows():
    dataset = Dataset(["", "word", None, "word", "word"], attribute=["a", "b", "c", "b", "d"])
    assert dataset.problems["attribute"].startswith("Row 5 is the only one with its attribute")


@pytest.mark.parametrize("attribute", [["a", "a", "a", "b"], ["a"] * 4, ["a", "a", "b", None]])
def test_classes_that_cannot_be_learned_do_not_stop_the_others(attribute):
    dataset = Dataset(["one", "two", "three", "four"], label=["x", "y"] * 2, attribute=attribute)
    assert dataset.attribute is None
    assert list(dataset.problems) == ["attribute"]
    assert dataset.label.names == ("x", "y")


def test_rows_without_a_word_are_skipped():
    dataset = Dataset(["one", "", None, " ?! ", "two", "three", "four"], label=["a", "z", None, "y", "b", "a", "b"])
    assert list(dataset.originals) == ["one", "two", "three", "four"]
    assert dataset.left_out == 3
    assert dataset.label.names == ("a", "b")
    assert list(dataset.pair(["1", "2", "3", "4", None, "", "7"])) == ["1", "", "", "7"]


@pytest.mark.parametrize("obfuscated", [[], ["a"], ["a", "b", "c"]])
def test_a_different_number_of_rows_is_refused(obfuscated):
    with pytest.raises(InputError, match=f"2 originals and {len(obfuscated)} obfuscated"):
        Dataset(["one", "two"]).pair(obfuscated)


def test_bad_arguments():
    with pytest.raises(InputError, match="No original contains a word"):
        Dataset(["", None, "..."])
    with pytest.raises(ParameterError, match="`label` must have 2 values, one per text. Got 1 instead"):
        Dataset(["one", "two"], label=["a"])
    with pytest.raises(ParameterError, match="must be a list of strings"):
        Dataset("secret")
    with pytest.raises(ParameterError, match="original of row 2 must be a string"):
        Dataset(["one", 2])
    with pytest.raises(ParameterError, match="obfuscated text of row 1 must be a string"):
        Dataset(["one"]).pair([b"one"])


def test_a_sample_keeps_the_rows_of_the_file():
    texts = ["", *(f"word {number}" for number in range(30))]
    found = Dataset(texts, label=["a", "b", "c"] * 10 + ["a"], sample=12)
    assert (len(found.rows), found.size, found.left_out, found.sampled_from) == (12, 31, 1, 30)
    assert list(found.originals) == [texts[row] for row in found.rows]
    assert list(found.pair(texts)) == list(found.originals)
    assert Dataset(texts, sample=12).rows == found.rows
    assert Dataset(texts, sample=30).sampled_from is None
