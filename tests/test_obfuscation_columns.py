"""Columns of tables as texts: missing values, and tables that are not a single column."""

import math

import numpy as np
import pandas as pd
import pytest

from textveil.errors import ParameterError
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome


@pytest.fixture
def obfuscator(tiny):
    return Obfuscator(tiny, seed=1)


@pytest.mark.parametrize(
    "value",
    [None, math.nan, np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("length", ["own", "average"])
def test_every_missing_value_is_a_missing_text(obfuscator, value, length):
    first, second = obfuscator.obfuscate_all(["alpha", value], epsilon_per_word=5, length=length)
    assert first.outcome is not DocumentOutcome.MISSING
    assert (second.outcome, second.text) == (DocumentOutcome.MISSING, "")


@pytest.mark.parametrize("value", [1.5, 0, np.float64(2), True, b"alpha", ["alpha"]], ids=repr)
def test_another_value_is_refused_by_its_number(obfuscator, value):
    with pytest.raises(ParameterError, match="^Text 2 must be a string, or None if it is missing"):
        list(obfuscator.obfuscate_all(["alpha", value], epsilon=5))


@pytest.mark.parametrize("dtype", [object, "string"])
def test_a_series_of_pandas_is_a_column_of_texts(obfuscator, dtype):
    series = pd.Series(["alpha beta", None, "gamma"], index=[7, 8, 9], dtype=dtype)
    results = list(obfuscator.obfuscate_all(series, epsilon=5))
    assert [result.outcome is DocumentOutcome.MISSING for result in results] == [False, True, False]


def test_a_data_frame_of_pandas_is_refused_with_advice(obfuscator):
    with pytest.raises(ParameterError, match="a column of a table"):
        obfuscator.obfuscate_all(pd.DataFrame({"text": ["alpha"]}), epsilon=5)


def test_a_column_of_polars_is_accepted_and_a_frame_is_refused(obfuscator):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"text": ["alpha", None]})
    results = list(obfuscator.obfuscate_all(frame["text"], epsilon=5))
    assert results[1].outcome is DocumentOutcome.MISSING
    with pytest.raises(ParameterError, match="a column of a table"):
        obfuscator.obfuscate_all(frame, epsilon=5)
