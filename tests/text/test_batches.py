import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import ParameterError
from textveil.text import batches
from textveil.text.batches import LARGEST_BATCH, batch_texts, check_batch_size


@given(st.lists(st.none() | st.text(max_size=5)), st.integers(1, 4))
def test_no_text_is_lost_and_no_batch_is_too_large(texts, size):
    found = list(batch_texts(texts, size, text_of=lambda text: text))
    assert [text for batch in found for text in batch] == texts
    assert all(1 <= len(batch) <= size for batch in found)


def test_long_texts_end_a_batch_early(monkeypatch):
    monkeypatch.setattr(batches, "LONG_BATCH", 10)
    assert [len(batch) for batch in batch_texts(["x" * 6] * 5, 100, text_of=str)] == [2, 2, 1]


def test_texts_are_read_when_they_are_needed():
    read = []
    texts = (read.append(number) or str(number) for number in range(100))
    next(batch_texts(texts, 3, text_of=str))
    assert read == [0, 1, 2]


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", None, LARGEST_BATCH + 1])
def test_a_size_that_is_not_a_number_of_texts(size):
    with pytest.raises(ParameterError, match="`batch_size` must be from 1 to 1,000,000"):
        check_batch_size(size)


def test_sizes_that_are_allowed():
    check_batch_size(1)
    check_batch_size(LARGEST_BATCH)
