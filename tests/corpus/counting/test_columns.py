"""Conversions that give what Arrow's own ones give."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.lab.corpus.counting.runs import to_arrow, to_numpy, to_words


@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.int64, np.uint64, np.intp])
@pytest.mark.parametrize("values", [[], [3], [5, 0, 7, 1]])
def test_numbers_become_what_arrow_makes_of_them(kind, values):
    numbers = np.array(values, kind)
    assert to_arrow(numbers).equals(pa.array(numbers))
    assert to_arrow(numbers).type == pa.array(numbers).type
    assert to_numpy(to_arrow(numbers)).tolist() == values
    assert to_numpy(to_arrow(numbers)).dtype == kind


def test_every_second_number_is_copied():
    assert to_arrow(np.arange(9)[::2]).to_pylist() == [0, 2, 4, 6, 8]
    assert to_arrow(np.arange(6).reshape(3, 2)[:, 1]).to_pylist() == [1, 3, 5]


def test_a_slice_has_its_own_numbers():
    assert to_numpy(pa.array([1, 2, 3, 4])[1:3]).tolist() == [2, 3]


@pytest.mark.parametrize("values", [[], [True], [False, True, True] * 5])
def test_truth_values_are_unpacked(values):
    found = to_numpy(pa.array([False, *values], pa.bool_())[1:])
    assert found.tolist() == values
    assert found.dtype == bool


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_words_become_what_arrow_makes_of_them(words):
    found = to_words(words)
    assert found.equals(pa.array(words, pa.large_string()))
    found.validate(full=True)


def test_conversions_do_not_load_pandas():
    """Arrow's own conversions would, in every worker."""
    script = (
        "import sys; import numpy as np; import pyarrow.compute as pc\n"
        "from textveil.lab.corpus.counting.runs import *\n"
        "words = to_words(['a', 'b'])\n"
        "to_numpy(pc.sort_indices(words)); to_numpy(pc.not_equal(words, words)); words.take(to_arrow(np.arange(2)))\n"
        "print('pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert found.stdout == "False\n"
