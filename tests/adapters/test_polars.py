from __future__ import annotations

import polars
import pytest
from polars.testing import assert_frame_equal

from tests.adapters.conftest import TEXTS
from textveil.adapters.polars import obfuscate
from textveil.errors import ColumnError, ParameterError, TextveilWarning


def make() -> polars.DataFrame:
    return polars.DataFrame(
        {"id": [1, 2, 3, 4, None], "text": TEXTS, "tags": [["a"], [], None, ["b"], ["c", "d"]]},
        schema_overrides={"id": polars.UInt16},
    )


def test_types_and_other_columns_stay(obfuscator):
    frame = make()
    result = obfuscate(frame, ["text"], epsilon=20, obfuscator=obfuscator)
    assert_frame_equal(frame, make())
    assert result.frame.schema == frame.schema
    assert_frame_equal(result.frame.drop("text"), frame.drop("text"))
    assert result.frame["text"].to_list() != TEXTS
    assert result.outcomes.schema == {"text": polars.String}
    assert result.outcomes["text"].to_list()[-2:] == ["only_stopwords", "no_words"]
    assert result.certificate.other_columns


def test_it_is_as_with_pandas(settings):
    pandas = pytest.importorskip("pandas")
    from textveil.adapters.pandas import obfuscate as obfuscate_pandas

    columns = {"title": TEXTS, "text": [*TEXTS[1:], None]}
    here = obfuscate(polars.DataFrame(columns), ["title", "text"], epsilon=20, seed=7, **settings)
    there = obfuscate_pandas(pandas.DataFrame(columns), ["title", "text"], epsilon=20, seed=7, **settings)
    assert here.frame["title"].to_list() == there.frame["title"].tolist()
    assert here.frame["text"].to_list()[:-1] == there.frame["text"].tolist()[:-1]
    assert here.certificate == there.certificate
    assert not here.certificate.other_columns


@pytest.mark.parametrize("dtype", [polars.String, polars.Null])
def test_a_column_without_any_text_stays(dtype, obfuscator):
    frame = polars.DataFrame({"text": polars.Series([None, None], dtype=dtype)})
    result = obfuscate(frame, epsilon=20, obfuscator=obfuscator)
    assert_frame_equal(result.frame, frame)
    assert result.outcomes["text"].to_list() == ["missing", "missing"]


def test_a_frame_without_rows(obfuscator):
    result = obfuscate(make().clear(), epsilon=20, obfuscator=obfuscator)
    assert_frame_equal(result.frame, make().clear())
    assert result.outcomes.schema == {"text": polars.String}


@pytest.mark.parametrize("dtype", [polars.Categorical, polars.Enum(["good plot"]), polars.Binary])
def test_other_types_are_refused(dtype, obfuscator):
    frame = polars.DataFrame({"text": polars.Series(["good plot"]).cast(dtype)})
    with pytest.raises(ParameterError, match=r"The column 'text' has the type .*cast\(polars.String\)"):
        obfuscate(frame, epsilon=20, obfuscator=obfuscator)


def test_other_things_are_refused(obfuscator):
    with pytest.raises(ParameterError, match=r"`frame` is lazy. Read it first: frame.collect\(\)"):
        obfuscate(make().lazy(), epsilon=20, obfuscator=obfuscator)
    with pytest.raises(ParameterError, match="`frame` must be a Polars DataFrame. Got list instead"):
        obfuscate(TEXTS, epsilon=20, obfuscator=obfuscator)
    with pytest.raises(ColumnError, match="The frame has no column 'txt'"):
        obfuscate(make(), "txt", epsilon=20, obfuscator=obfuscator)


def test_columns_are_dropped_or_kept_and_those_that_may_identify_people_are_pointed_out(obfuscator):
    frame = polars.DataFrame({"text": TEXTS, "email": ["ann@example.org"] * 5, "stars": [5] * 5})
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
