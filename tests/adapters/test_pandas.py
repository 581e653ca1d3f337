from __future__ import annotations

import math

import pandas
import pytest

from tests.adapters.conftest import TEXTS
from textveil import Obfuscator
from textveil.adapters.pandas import obfuscate
from textveil.errors import BudgetError, ColumnError, ParameterError, TextveilWarning

DTYPES = [
    "object",
    "str",
    pandas.StringDtype("python"),
    pandas.StringDtype("pyarrow"),
    pandas.StringDtype("python", na_value=math.nan),
    "string[pyarrow]",
    "large_string[pyarrow]",
]


def make(dtype="object") -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "id": pandas.array([1, 2, 3, 4, None], dtype="Int64"),
            "text": pandas.Series(TEXTS, dtype=dtype),
            "when": pandas.date_range("2024-01-01", periods=5, tz="UTC"),
            "kind": pandas.Categorical(list("abcab")),
        }
    ).set_index(pandas.Index([10, 30, 20, 20, 50], name="row"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_index_types_and_other_columns_stay(dtype, obfuscator):
    frame = make(dtype)
    before = frame.copy(deep=True)
    result = obfuscate(frame, ["text"], epsilon=20, obfuscator=obfuscator)
    pandas.testing.assert_frame_equal(frame, before)  # it is not written to
    pandas.testing.assert_frame_equal(result.frame.drop(columns="text"), frame.drop(columns="text"))
    assert result.frame["text"].dtype == frame["text"].dtype
    assert list(result.frame.columns) == list(frame.columns)
    assert result.frame["text"].tolist() != TEXTS
    assert result.outcomes.index.equals(frame.index)
    assert result.outcomes["text"].tolist()[-2:] == ["only_stopwords", "no_words"]


def test_the_result_is_that_of_a_file(settings, tmp_path):
    frame = pandas.DataFrame({"title": TEXTS[:3], "stars": [1, 2, 3], "text": TEXTS[2::-1]})
    frame.to_csv(tmp_path / "in.csv", index=False)
    report = Obfuscator(**settings, seed=7).obfuscate_file(
        tmp_path / "in.csv", tmp_path / "out.csv", column=["title", "text"], epsilon=20
    )
    written = pandas.read_csv(tmp_path / "out.csv")
    result = obfuscate(frame, ["title", "text"], epsilon=20, seed=7, **settings)
    assert result.frame["title"].tolist() == written["title"].tolist()
    assert result.frame["text"].tolist() == written["text"].tolist()
    assert result.outcomes["text"].tolist() == written["textveil_outcome_text"].tolist()
    assert result.certificate.as_dict() == report.certificate.as_dict()


def test_a_missing_value_is_the_same_as_before(obfuscator):
    frame = pandas.DataFrame(
        {"text": pandas.Series([None, math.nan, pandas.NA, pandas.NaT, "good plot"], dtype=object)}
    )
    values = obfuscate(frame, epsilon=20, obfuscator=obfuscator).frame["text"].tolist()
    assert values[0] is None
    assert math.isnan(values[1])
    assert values[2] is pandas.NA
    assert values[3] is pandas.NaT


@pytest.mark.parametrize("dtype", [*DTYPES, "float64"], ids=str)
def test_a_column_without_any_text_stays(dtype, obfuscator):
    frame = pandas.DataFrame({"text": pandas.Series([None, None], dtype=dtype)})
    result = obfuscate(frame, epsilon=20, obfuscator=obfuscator)
    pandas.testing.assert_frame_equal(result.frame, frame)
    assert result.outcomes["text"].tolist() == ["missing", "missing"]


def test_a_frame_without_rows(obfuscator):
    frame = make().iloc[:0]
    result = obfuscate(frame, epsilon=20, obfuscator=obfuscator)
    pandas.testing.assert_frame_equal(result.frame, frame)
    assert len(result.outcomes) == 0


def test_a_part_of_a_frame_leaves_the_whole_as_it_is(obfuscator):
    whole = make()
    obfuscate(whole[whole["kind"] == "a"], epsilon=20, obfuscator=obfuscator, drop_columns="id")
    assert whole["text"].tolist() == TEXTS


def test_columns_with_numbers_as_names(obfuscator):
    frame = pandas.DataFrame([["good plot", 1]])
    result = obfuscate(frame, [0], epsilon=20, obfuscator=obfuscator)
    assert (list(result.frame.columns), list(result.outcomes.columns)) == ([0, 1], [0])
    with pytest.raises(ColumnError, match="The frame has no column 'text'. It has: 0, 1. Choose"):
        obfuscate(frame, epsilon=20, obfuscator=obfuscator)


def test_the_certificate_says_whether_anything_is_carried_along(obfuscator):
    alone = pandas.DataFrame({"text": ["good plot"]})
    assert not obfuscate(alone, level="high", obfuscator=obfuscator).certificate.other_columns
    named = alone.set_index(pandas.Index(["anna"]))
    assert obfuscate(named, level="high", obfuscator=obfuscator).certificate.other_columns
    assert obfuscate(make(), level="high", obfuscator=obfuscator).certificate.other_columns


def test_budgets_are_those_of_an_obfuscator(obfuscator):
    frame = pandas.DataFrame({"text": ["good plot"]})
    assert obfuscate(frame, epsilon_per_word=2, length="own", obfuscator=obfuscator).certificate.budget.of(3) == 6
    with pytest.raises(BudgetError, match="not both"):
        obfuscate(frame, epsilon=1, epsilon_per_word=2, obfuscator=obfuscator)


def test_categories_are_refused_because_they_keep_the_texts(obfuscator):
    frame = pandas.DataFrame({"text": pandas.Categorical(["good plot"])})
    with pytest.raises(ParameterError, match=r"categories, which would keep .* frame\['text'\].astype\('str'\)"):
        obfuscate(frame, epsilon=20, obfuscator=obfuscator)


def test_other_things_are_refused(obfuscator):
    with pytest.raises(ParameterError, match="`frame` must be a pandas DataFrame. Got Series instead"):
        obfuscate(pandas.Series(TEXTS), epsilon=20, obfuscator=obfuscator)
    with pytest.raises(ParameterError, match="Row 1 of the column 'when' must be a string"):
        obfuscate(make(), "when", epsilon=20, obfuscator=obfuscator)


def test_a_sparse_column_is_refused_and_attributes_are_stated(tiny):
    sparse = pandas.DataFrame({"text": pandas.arrays.SparseArray(["alpha", "secret"], fill_value="secret")})
    with pytest.raises(ParameterError, match="sparse"):
        obfuscate(sparse, bundle=tiny, epsilon=3)
    frame = pandas.DataFrame({"text": ["alpha"]})
    assert not obfuscate(frame, bundle=tiny, epsilon=3).certificate.other_columns
    frame.attrs["owner"] = "Ann"
    assert obfuscate(frame, bundle=tiny, epsilon=3).certificate.other_columns


def test_columns_are_dropped_or_kept_and_those_that_may_identify_people_are_pointed_out(obfuscator):
    frame = pandas.DataFrame({"text": TEXTS, "email": ["ann@example.org"] * 5, "stars": [5] * 5})
    with pytest.warns(TextveilWarning, match=r"copied: 'email' \(e-mail addresses\)"):
        obfuscate(frame, epsilon=20, obfuscator=obfuscator)
    result = obfuscate(frame, epsilon=20, obfuscator=obfuscator, drop_columns="email")
    assert list(result.frame.columns) == ["text", "stars"]
    result = obfuscate(frame, epsilon=20, obfuscator=obfuscator, keep_columns=["email"])
    assert list(result.frame.columns) == ["text", "email"]
    assert not obfuscate(frame, epsilon=20, obfuscator=obfuscator, keep_columns=[]).certificate.other_columns
    with pytest.raises(ColumnError, match="The frame has no column 'mail'.*`drop_columns`"):
        obfuscate(frame, epsilon=20, obfuscator=obfuscator, drop_columns="mail")
    with pytest.raises(ParameterError, match=r"Got Series instead. A Series becomes one: series.to_frame"):
        obfuscate(frame["text"], epsilon=20, obfuscator=obfuscator)
