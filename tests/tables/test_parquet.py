import io
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil import Ledger, Obfuscator
from textveil.errors import InputError
from textveil.tables import Result

from .test_contract import open_table, read, rewrite


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def test_parquet_keeps_types():
    from datetime import UTC, datetime

    table = pa.table(
        {
            "when": pa.array([datetime(2020, 1, 1, tzinfo=UTC), None], pa.timestamp("ns", tz="UTC")),
            "text": pa.array(["a", "b"]).dictionary_encode(),
            "tags": pa.array([[1, 2], []], pa.list_(pa.int8())),
        }
    )
    result = pq.read_table(io.BytesIO(rewrite("parquet", parquet(table), str.upper)))
    assert result.schema.field("when").type == pa.timestamp("ns", tz="UTC")
    assert result.schema.field("text").type == pa.string()
    assert result.column("tags").to_pylist() == [[1, 2], []]
    assert result.column("text").to_pylist() == ["A", "B"]


def test_parquet_with_broken_utf8_is_refused():
    broken = pa.array([b"fine", b"\xff\xfe"], pa.binary()).view(pa.string())
    with pytest.raises(InputError, match="the file: the column 'text' has a value that is not UTF-8"):
        read("parquet", parquet(pa.table({"text": broken})))


@pytest.mark.parametrize("name", ["string", "large_string", "string_view"])
def test_every_type_of_string_is_read(name):
    try:
        kind = getattr(pa, name)()
        content = parquet(pa.table({"text": pa.array(["a", None], kind), "other": pa.array(["b", "c"], kind)}))
    except (AttributeError, pa.ArrowNotImplementedError):
        if name != "string_view":
            raise
        pytest.skip("this Arrow does not write views")
    result = pq.read_table(io.BytesIO(rewrite("parquet", content, lambda text: text and text.upper())))
    assert result.column("text").to_pylist() == ["A", None]
    assert result.column("other").to_pylist() == ["b", "c"]


def test_another_column_with_broken_utf8_is_copied_and_refused_in_a_conversion():
    broken = pa.array([b"fine", b"\xff\xfe"], pa.binary()).view(pa.string())
    content = parquet(pa.table({"text": ["a", "b"], "other": broken}))
    copied = pq.read_table(io.BytesIO(rewrite("parquet", content, str)))
    assert copied.column("other").cast(pa.binary()).to_pylist() == [b"fine", b"\xff\xfe"]
    table = open_table("parquet")
    (rows,) = table.read(io.BytesIO(content), batch_size=9)
    for read_other in (lambda: table.export(rows), lambda: table.values(rows, "other")):
        with pytest.raises(InputError, match="the file: the column 'other' has a value that is not UTF-8. Write"):
            read_other()


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


SECRET = {"note": "HIV positive"}


def write_nested(metadata):
    """A file with metadata everywhere, or nowhere."""
    inner = pa.field("inner", pa.int8(), nullable=False, metadata=metadata)
    fields = [
        pa.field("text", pa.string(), nullable=False, metadata=metadata),
        pa.field("flat", pa.int64(), nullable=False, metadata=metadata),
        pa.field("struct", pa.struct([inner]), metadata=metadata),
        pa.field("list", pa.list_(pa.field("element", pa.struct([inner]), metadata=metadata))),
        pa.field("large", pa.large_list(pa.field("element", pa.int8(), metadata=metadata))),
        pa.field("fixed", pa.list_(pa.field("element", pa.int8(), metadata=metadata), 2)),
        pa.field("map", pa.map_(pa.string(), pa.field("value", pa.int8(), metadata=metadata))),
    ]
    row = {"text": "a", "flat": 1, "struct": {"inner": 1}, "list": [{"inner": 1}], "large": [1], "fixed": [1, 2]}
    schema = pa.schema(fields, metadata=metadata)
    return parquet(pa.Table.from_pylist([{**row, "map": [("k", 1)]}], schema=schema))


def test_metadata_is_dropped_and_types_and_nullability_stay():
    content = write_nested(SECRET)
    assert b"HIV positive" in content
    written = rewrite("parquet", content, str.upper)
    assert b"HIV" not in written
    plain, result = pq.read_table(io.BytesIO(write_nested(None))), pq.read_table(io.BytesIO(written))
    assert result.schema.remove(result.schema.get_field_index("textveil_outcome")) == plain.schema
    assert result.drop_columns(["text", "textveil_outcome"]).to_pylist() == plain.drop_columns(["text"]).to_pylist()


@pytest.mark.parametrize(("metadata", "dropped"), [(None, False), (SECRET, True), ({"PARQUET:field_id": "7"}, False)])
@pytest.mark.parametrize("place", ["file", "column", "nested"])
def test_a_table_knows_whether_metadata_was_dropped(metadata, dropped, place):
    inner = pa.field("inner", pa.int8(), metadata=metadata if place == "nested" else None)
    text = pa.field("text", pa.string(), metadata=metadata if place == "column" else None)
    schema = pa.schema([text, pa.field("other", pa.struct([inner]))], metadata=metadata if place == "file" else None)
    table = open_table("parquet")
    list(table.read(io.BytesIO(parquet(pa.Table.from_pylist([], schema=schema))), batch_size=5))
    assert table.dropped_metadata == (dropped or (place == "file" and metadata is not None))
    if place == "column" and metadata != SECRET:
        assert (table.schema.field("text").metadata or {}) == {
            k.encode(): v.encode() for k, v in (metadata or {}).items()
        }


def test_a_refused_text_of_a_column_that_must_not_lack_any_is_empty(tmp_path, tiny):
    schema = pa.schema([pa.field("text", pa.string(), nullable=False)])
    pq.write_table(pa.table({"text": ["alpha", "alpha"]}, schema), tmp_path / "in.parquet")
    ledger = Ledger(tmp_path / "spent.db", budget_per_document=15)
    obfuscator = Obfuscator(tiny, ledger=ledger, largest_share=math.inf)
    obfuscator.obfuscate_file(tmp_path / "in.parquet", tmp_path / "out.parquet", epsilon=10)
    written = pq.read_table(tmp_path / "out.parquet").to_pydict()
    assert written["textveil_outcome"][1] == "refused"
    assert written["text"][1] == ""
