"""What is particular to one format."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.errors import ColumnError, InputError
from textveil.tables import FORMATS, Result

from .test_contract import open_table, read, rewrite


def test_txt_keeps_carriage_returns_and_odd_separators():
    content = "one\r\ntwo\u2028still two\x0b\x1e\n\nfour".encode()
    assert read("txt", content) == ["one\r", "two\u2028still two\x0b\x1e", "", "four"]
    assert rewrite("txt", content, str) == content + b"\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'id,text\n1,"never closed\n2,b\n', 2),
        (b'id,text\n1,a\n2,"x"y\n', 3),
        (b"id,text\n1,a\n2,b,c\n", 3),
        (b"id,text\n1,a\n2\n", 3),
        (b"id,text\n1,a\rb\n", 2),
        (b'id,text\n1,"two\nlines"\n2\n', 4),
    ],
    ids=["open quote", "text behind a quote", "too many", "too few", "bare return", "behind a long record"],
)
def test_csv_that_is_broken_is_reported_by_the_line_where_the_record_begins(content, line):
    with pytest.raises(InputError, match=f"the file, line {line}: "):
        read("csv", content)


def test_csv_keeps_line_ends_quotes_and_commas_inside_fields():
    content = b'id,text\n1,"a ""b"", c\r\nd\re"\n'
    assert read("csv", content) == ['a "b", c\r\nd\re']
    assert read("csv", rewrite("csv", content, str)) == ['a "b", c\r\nd\re']


def test_csv_blank_lines_are_rows_only_where_there_is_one_column():
    assert read("csv", b"id,text\n1,a\n\n2,b\n\n") == ["a", "b"]
    assert read("csv", b"text\na\n\nb\n") == ["a", "", "b"]


def test_csv_without_a_header_is_refused():
    with pytest.raises(InputError, match="is empty"):
        read("csv", b"")


def test_csv_with_a_column_twice_is_refused():
    with pytest.raises(ColumnError, match="more than once"):
        read("csv", b"text,text\na,b\n")


def test_csv_takes_fields_of_a_megabyte():
    assert read("csv", b"text\n" + b"x" * 1_000_000 + b"\n") == ["x" * 1_000_000]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "SECRET', "line 2: this is not JSON"),
        (b'["SECRET"]', "line 2: expected a JSON object"),
        (b'{"text": 7}', "line 2: the column 'text' holds int"),
        (b"[" * 100_000, "line 2: this is not JSON"),
    ],
)
def test_jsonl_that_is_broken_is_reported_by_line_and_never_quoted(line, message):
    with pytest.raises(InputError, match=message) as caught:
        read("jsonl", b'{"text": "fine"}\n' + line + b"\n")
    assert "SECRET" not in str(caught.value)


def test_jsonl_keeps_values_of_every_kind_and_lone_surrogates():
    row = {"text": "a \ud800 b", "tags": [1, 2.5, None, {"x": True}], "big": 10**30}
    content = json.dumps(row).encode() + b"\n\n" + b'{"text": "gr\\u00fcn"}\n'
    result = rewrite("jsonl", content, lambda text: text + "!")
    first, second = (json.loads(line) for line in result.splitlines())
    assert first == {**row, "text": "a \ud800 b!", "outcome": "fine"}
    assert second["text"] == "grün!"


def test_jsonl_a_row_without_the_column_has_no_text():
    assert read("jsonl", b'{"text": "a"}\n{"id": 1}\n') == ["a", None]


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def test_parquet_keeps_types_and_metadata():
    from datetime import UTC, datetime

    table = pa.table(
        {
            "when": pa.array([datetime(2020, 1, 1, tzinfo=UTC), None], pa.timestamp("ns", tz="UTC")),
            "text": pa.array(["a", "b"]).dictionary_encode(),
            "tags": pa.array([[1, 2], []], pa.list_(pa.int8())),
        }
    ).replace_schema_metadata({"made": "here"})
    result = pq.read_table(io.BytesIO(rewrite("parquet", parquet(table), str.upper)))
    assert result.schema.field("when").type == pa.timestamp("ns", tz="UTC")
    assert result.schema.field("text").type == pa.string()
    assert result.schema.metadata[b"made"] == b"here"
    assert result.column("tags").to_pylist() == [[1, 2], []]
    assert result.column("text").to_pylist() == ["A", "B"]


def test_parquet_of_numbers_has_no_text():
    with pytest.raises(InputError, match="column 'text' holds int64"):
        read("parquet", parquet(pa.table({"text": [1, 2]})))


@pytest.mark.parametrize("cut", [0, 3, 100, -1, -20])
def test_parquet_that_is_cut_off_is_refused(cut):
    content = parquet(pa.table({"text": ["some text"] * 1000}))
    with pytest.raises(InputError, match="not a complete Parquet file"):
        read("parquet", content[:cut])


def test_parquet_whose_pages_are_damaged_is_refused():
    content = bytearray(parquet(pa.table({"text": [f"some text {n}" for n in range(1000)]})))
    content[100:400] = b"\xff" * 300
    with pytest.raises(InputError, match="not a complete Parquet file"):
        read("parquet", bytes(content))


def test_parquet_needs_its_extra(monkeypatch):
    import sys

    from textveil.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'textveil\[parquet\]'"):
        open_table("parquet")


def test_small_parts_of_parquet_are_merged_into_large_row_groups():
    table = open_table("parquet")
    batches = list(table.read(io.BytesIO(parquet(pa.table({"text": ["a"] * 50}))), batch_size=5))
    parts = []
    for rows in batches:
        part = io.BytesIO()
        with table.writer(part, head=True) as writer:
            writer.write(rows, [Result("b", "fine")] * len(rows.texts))
        parts.append(io.BytesIO(part.getvalue()))
    target = io.BytesIO()
    table.merge(parts, target)
    merged = pq.ParquetFile(target)
    assert (merged.metadata.num_rows, merged.metadata.num_row_groups) == (50, 1)


def test_names_and_aliases_of_formats():
    assert list(FORMATS) == ["txt", "csv", "tsv", "jsonl", "parquet"]
    assert FORMATS.load("ndjson").name == "jsonl"
