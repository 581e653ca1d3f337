"""Columns that may identify people are recognized, and pointed out without a value."""

import io
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.errors import TextveilWarning
from textveil.tables.identifying import point_out, pointing_out, recognize

from .test_contract import WITH_COLUMNS, make, open_table

CODES = [f"B{number * 7919:05}" for number in range(30)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("e_mail", ["none"], "e-mail addresses"),
        ("contact", ["ann@example.org", "bob@example.org", None, ""], "e-mail addresses"),
        ("x", ["ann@example.org", "bob@example.org"], "e-mail addresses"),
        ("reviewerName", ["ann"], "names"),
        ("author", None, "names"),
        ("by", ["Ann Smith", "Bob O'Hara", "C. Grzybowski"], "names"),
        ("userId", ["7"], "identifiers"),
        ("customerid", ["7"], "identifiers"),
        ("id", ["7", "3"], "identifiers"),
        ("phone", ["555 0100"], "identifiers"),
        ("asin", CODES, "identifiers"),
        ("id", ["1", "2", "3"], None),  # the numbers of the rows
        ("id", ["r0", "r1"], None),
        ("id", [None, ""], None),
        ("stars", ["5", "1"], None),
        ("asin", ["B00001"] * 30, None),
        ("price", [f"{number}.99" for number in range(30)], None),
        ("genre", ["drama", "comedy"], None),
        ("title", ["The Cold Soup", "A Rude Waiter"], None),
        ("idea", ["good"], None),
        ("username_count", None, "names"),
    ],
)
def test_a_column_is_recognized_by_its_name_and_its_values(name, values, kind):
    assert recognize(name, values) == kind


def test_a_warning_names_columns_and_no_values():
    columns = {"stars": [5], "e-mail": ["ann@example.org"], "Ann Smith was here in May": ["Bob Hill", "Cy Hall"]}
    with pytest.warns(TextveilWarning) as caught:
        point_out(columns)
    assert str(caught[0].message) == (
        "Columns that may identify people are copied: 'e-mail' (e-mail addresses), number 3 (names). Leave out what "
        "nobody needs with `drop_columns`, or name what stays with `keep_columns`."
    )


def test_whoever_named_a_column_to_be_kept_is_not_warned():
    with warnings.catch_warnings(action="error"):
        point_out({"author": ["ann"]}, approved=["author"])


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_the_rows_of_a_table_are_looked_at_before_any_is_written(name):
    table = open_table(name)
    content = make(name, ["one", "two"]).replace(b"stars", b"email")
    rows = pointing_out(table, table.read(io.BytesIO(content), batch_size=1))
    with pytest.warns(TextveilWarning, match=r"^A column .* is copied: 'email' \(e-mail addresses\)\."):
        next(rows)
    assert len(list(rows)) == 1  # without another warning


def test_new_outcomes_replace_those_of_the_input_with_a_warning():
    table = open_table("csv")
    with pytest.warns(TextveilWarning, match="'textveil_outcome' of the input is replaced.* set `outcome_column`"):
        list(pointing_out(table, table.read(io.BytesIO(b"text,textveil_outcome\na,b\n"), batch_size=1)))


def test_a_column_that_is_not_text_is_recognized_by_its_name():
    broken = pa.array([b"\xff"], pa.binary()).view(pa.string())
    stream = io.BytesIO()
    pq.write_table(pa.table({"text": ["a"], "author": broken}), stream)
    stream.seek(0)
    table = open_table("parquet")
    with pytest.warns(TextveilWarning, match=r"'author' \(names\)"):
        list(pointing_out(table, table.read(stream, batch_size=1)))
