import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.errors import InputError
from textveil.tables import Result

from .test_contract import open_table, read, rewrite


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


def test_parquet_with_broken_utf8_is_refused():
    broken = pa.array([b"fine", b"\xff\xfe"], pa.binary()).view(pa.string())
    with pytest.raises(InputError, match="not a complete Parquet file"):
        read("parquet", parquet(pa.table({"text": broken})))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_type_of_string_is_read(kind):
    content = parquet(pa.table({"text": pa.array(["a", None], kind), "other": pa.array(["b", "c"], kind)}))
    result = pq.read_table(io.BytesIO(rewrite("parquet", content, lambda text: text and text.upper())))
    assert result.column("text").to_pylist() == ["A", None]
    assert result.column("other").to_pylist() == ["b", "c"]


def test_a_column_of_numbers_is_refused():
    with pytest.raises(InputError, match="column 'text' holds int64"):
        read("parquet", parquet(pa.table({"text": [1, 2]})))


@pytest.mark.parametrize("cut", [0, 3, 100, -1, -20])
def test_a_truncated_parquet_file_is_refused(cut):
    content = parquet(pa.table({"text": ["some text"] * 1000}))
    with pytest.raises(InputError, match="not a complete Parquet file"):
        read("parquet", content[:cut])


def test_parquet_with_damaged_pages_is_refused():
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
