"""Rows of every format are written in every other format."""

import io
import json
from datetime import date
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.tables import FORMATS, Layout, Result, StreamSource

from .test_contract import make, read

WITH_COLUMNS = ["csv", "tsv", "jsonl", "parquet"]
TEXTS = ["first", 'a "b", c\td', "", "grün", "last"]


def convert(content: bytes, origin: str, target: str, *, column="text", outcome_column="textveil_outcome") -> bytes:
    """Read a file and write it in another format, with texts in capitals, in two parts."""
    layout = Layout(column, outcome_column, origin)
    table = layout.convert(StreamSource(io.BytesIO(content), "the file"), Path(f"out.{target}"))
    assert table.name == f"{origin} to {target}"
    batches = list(table.read(io.BytesIO(content), batch_size=3))
    parts = []
    for number, chosen in enumerate((batches[:1], batches[1:])):
        part = io.BytesIO()
        with table.writer(part, head=number == 0) as writer:
            for rows in chosen:
                writer.write(rows, [Result(None if text is None else text.upper(), "fine") for text in rows.texts])
        parts.append(io.BytesIO(part.getvalue()))
    merged = io.BytesIO()
    table.merge(parts, merged)
    return merged.getvalue()


@pytest.mark.parametrize(("origin", "target"), list(permutations(WITH_COLUMNS, 2)))
def test_texts_outcomes_and_other_columns_reach_the_other_format(origin, target):
    converted = convert(make(origin, TEXTS), origin, target)
    assert read(target, converted) == [text.upper() for text in TEXTS]
    assert read(target, converted, "id") == [f"r{number}" for number in range(5)]
    assert read(target, converted, "stars") == ["0", "1", "2", "3", "4"]
    assert read(target, converted, "textveil_outcome") == ["fine"] * 5


@pytest.mark.parametrize("target", WITH_COLUMNS)
def test_plain_text_becomes_the_text_column(target):
    converted = convert(b"first\nsecond\n", "txt", target, column="review")
    assert read(target, converted, "review") == ["FIRST", "SECOND"]
    assert read(target, converted, "textveil_outcome") == ["fine", "fine"]


@pytest.mark.parametrize(
    ("origin", "content"),
    [
        ("csv", b"text\nfirst\nsecond\n"),
        ("tsv", b"text\nfirst\nsecond\n"),
        ("jsonl", b'{"text": "first"}\n{"text": "second"}\n'),
    ],
)
def test_a_file_with_texts_only_becomes_plain_text(origin, content):
    assert convert(content, origin, "txt") == b"FIRST\nSECOND\n"


def test_a_missing_text_becomes_an_empty_line_or_field():
    content = b'{"text": "a"}\n{"text": null}\n'
    assert convert(content, "jsonl", "txt") == b"A\n\n"
    assert convert(content, "jsonl", "csv") == b"text,textveil_outcome\nA,fine\n,fine\n"
    assert read("parquet", convert(content, "jsonl", "parquet")) == ["A", None]


@pytest.mark.parametrize("origin", WITH_COLUMNS)
def test_other_columns_do_not_disappear_in_plain_text(origin):
    with pytest.raises(ColumnError, match="The input has 3 columns, but 'out.txt' is plain text"):
        convert(make(origin, TEXTS), origin, "txt")


def test_a_line_break_in_a_text_does_not_become_two_documents():
    with pytest.raises(InputError, match="^Row 5 of the input has a line break in its text") as caught:
        convert(b"text\n" + b"fine\n" * 4 + b'"SECRET\ndiary"\n', "csv", "txt")
    assert "SECRET" not in str(caught.value)


def test_several_text_columns_do_not_fit_plain_text():
    with pytest.raises(ParameterError, match="is plain text"):
        convert(make("csv", TEXTS), "csv", "txt", column=["id", "text"])


def test_several_text_columns_are_converted():
    converted = convert(make("csv", TEXTS), "csv", "parquet", column=["id", "text"])
    assert read("parquet", converted, "id") == ["R0", "R1", "R2", "R3", "R4"]
    assert read("parquet", converted, "textveil_outcome_id") == ["fine"] * 5


def test_types_become_strings_in_csv_and_values_in_jsonl():
    content = io.BytesIO()
    row = {"text": "a", "n": 7, "x": 1.5, "ok": True, "day": date(2020, 1, 31), "tags": [1, 2], "no": None}
    pq.write_table(pa.Table.from_pylist([row]), content)
    as_csv = convert(content.getvalue(), "parquet", "csv", outcome_column=None)
    assert as_csv == b'text,n,x,ok,day,tags,no\nA,7,1.5,true,2020-01-31,"[1, 2]",\n'
    values = json.loads(convert(content.getvalue(), "parquet", "jsonl", outcome_column=None))
    assert values == {**row, "text": "A", "day": "2020-01-31"}


def test_csv_becomes_strings_in_parquet():
    converted = pq.read_table(io.BytesIO(convert(b"id,text\n007,a\n,b\n", "csv", "parquet")))
    assert set(converted.schema.types) == {pa.string()}
    assert converted.column("id").to_pylist() == ["007", ""]


def test_values_of_jsonl_keep_their_digits_and_lose_lone_surrogates():
    assert b"1.10,A ?," in convert(b'{"price": 1.10, "text": "a \\ud800"}\n', "jsonl", "csv")


@pytest.mark.parametrize("second", [b'{"text": "b", "more": 1}', b'{"text": "b", "id": 1, "id": 2}'])
def test_objects_with_other_names_than_the_first_are_refused(second):
    with pytest.raises(ColumnError, match="do not all have the names of the first one"):
        convert(b'{"text": "a", "id": 1}\n' + second + b"\n", "jsonl", "csv")


def test_a_name_that_exists_twice_is_refused():
    with pytest.raises(ColumnError, match="'id' more than once"):
        convert(b"id,id,text\n1,2,a\n", "csv", "jsonl")


@pytest.mark.parametrize("target", WITH_COLUMNS)
@pytest.mark.parametrize("origin", list(FORMATS))
def test_a_file_without_rows_is_converted_to_one_without_rows(origin, target):
    if origin != target:
        assert read(target, convert(make(origin, []), origin, target)) == []


def test_rows_of_the_same_format_are_not_converted():
    source = StreamSource(io.BytesIO())
    assert Layout(format_name="csv").convert(source, Path("out.csv.gz")).name == "csv"
    assert Layout(format_name="csv").convert(source, Path("out.data")).name == "csv"
    assert Layout(format_name="ndjson").convert(source, Path("out.jsonl")).name == "jsonl"
    with pytest.raises(ParameterError, match="does not tell its format"):
        Layout().convert(source, Path("out.data"))
