import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.cli.prepare import MEMORY_SIZE, parse_size, parse_top, unit_of
from textveil.errors import ParameterError
from textveil.lab.corpus import MEMORY


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1000", 1000),
        ("1K", 1 << 10),
        ("512M", 512 << 20),
        ("16G", 16 << 30),
        ("2t", 2 << 40),
        ("1.5G", 3 << 29),
        ("16 GiB", 16 << 30),
        ("16GB", 16 << 30),
        (" 7 b ", 7),
        ("9" * 40 + "T", 1 << 62),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "1E", "1,5G", "G", "1G2", "1 0G", "nan", "inf"])
def test_texts_that_are_not_a_size_are_refused(text):
    with pytest.raises(ParameterError, match="`memory` must be a number of bytes, such as 512M or 16G"):
        parse_size(text)


@given(st.integers(0, 1 << 40), st.sampled_from(["", "K", "M", "G", "T"]))
def test_a_size_with_a_unit_is_never_smaller_than_its_number(number, unit):
    assert parse_size(f"{number}{unit}") >= min(number, 1 << 50)


def test_defaults_are_valid():
    assert parse_size(MEMORY_SIZE) == MEMORY


@given(st.floats(0, 100, exclude_min=True))
def test_a_percentage_is_a_share(percent):
    assert 0 <= parse_top(percent) <= 1
    assert parse_top(percent) == pytest.approx(percent / 100)


@pytest.mark.parametrize("percent", [0, -5, 100.01, float("nan"), float("inf")])
def test_numbers_that_are_not_a_percentage_are_refused(percent):
    with pytest.raises(ParameterError, match="`top` must be a percentage above 0, up to 100. Got"):
        parse_top(percent)


@pytest.mark.parametrize(
    ("stage", "unit"),
    [
        ("hashing files", "files"),
        ("reading", "words"),
        ("counting 3-grams", "words"),
        ("merging 1-grams", "n-grams"),
        ("writing tables", "n-grams"),
        ("splitting by pmi", "words"),
        ("training pmi", "epochs"),
        ("finding capitals", "bytes"),
        ("finding names", "bytes"),
    ],
)
def test_every_stage_has_a_unit(stage, unit):
    assert unit_of(stage) == unit
