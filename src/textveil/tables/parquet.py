"""Parquet: typed columns, read and written with Arrow."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from textveil.errors import InputError
from textveil.extras import require
from textveil.tables.base import Result, Rows, Table, Writer, check_names, join_texts, spell
from textveil.text.batches import batch_texts

if TYPE_CHECKING:
    import pyarrow as pa

MERGED_GROUP = 1 << 14
"""The number of rows in a row group of a merged file."""
_FIELD_ID = b"PARQUET:field_id"
PAGE_BYTES = 1 << 16
"""The number of bytes to read from a column at a time, instead of a whole row group."""


class ParquetTable(Table):
    """Typed columns. A null is a missing text.

    Metadata of the file and of its columns is dropped, since it can hold any text.
    """

    name = "parquet"

    def __init__(self, *, column: str | Sequence[str], outcome_column: str | None, source: str) -> None:
        super().__init__(column=column, outcome_column=outcome_column, source=source)
        self.arrow = require("pyarrow", extra="parquet")
        self.parquet = require("pyarrow.parquet", extra="parquet")
        self.schema: Any = None
        self._kept: list[int] = []

    def _read(self, stream: IO[bytes], batch_size: int) -> Iterator[Rows]:
        with self._reading(stream) as file:
            for whole in file.iter_batches(batch_size):
                batch = whole.select(self._kept)
                columns = [self._list(batch, batch.schema.names.index(name)) for name in self.columns]
                texts = enumerate(zip(*columns, strict=True))
                for part in batch_texts(texts, batch_size, text_of=lambda row: join_texts(row[1])):
                    found = [text for _, of_row in part for text in of_row]
                    yield Rows(found, batch.slice(part[0][0], len(part)), len(self.columns))

    def values(self, rows: Rows, column: str) -> list[str | None]:
        """The values of a column, converted to strings by Python."""
        values = self._list(rows.carried, self._position(rows.carried.schema.names, column))
        return [None if value is None else str(value) for value in values]

    def read_texts(
        self, stream: IO[bytes], *, batch_size: int, head: bool = True, groups: Iterable[int] | None = None
    ) -> Iterator[list[str | None]]:
        """Stream only the texts of the first text column, of the given row groups or of all."""
        with self._reading(stream) as file:
            wanted = None if groups is None else list(groups)
            for batch in file.iter_batches(batch_size, row_groups=wanted, columns=[self.column]):
                yield from batch_texts(self._list(batch, 0), batch_size, text_of=lambda text: text)

    def read_records(self, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
        """Stream the rows."""
        with self._opening(stream) as file:
            check_names(file.schema_arrow.names, self.source)
            for batch in file.iter_batches():
                yield from batch.to_pylist()

    def group_sizes(self, stream: IO[bytes]) -> list[int]:
        """The number of bytes of every row group."""
        with self._reading(stream) as file:
            return [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]

    @contextmanager
    def _reading(self, stream: IO[bytes]) -> Iterator[Any]:
        """The open file, after a check of its text column."""
        with self._opening(stream) as file:
            whole = file.schema_arrow
            self._check_choice(whole.names)
            self._kept = [place for place, name in enumerate(whole.names) if self._carries(name)]
            schema = self.arrow.schema([whole.field(place) for place in self._kept], whole.metadata)
            self.schema = self._result_schema(schema)
            self.names = list(schema.names)
            yield file

    def _list(self, batch: Any, position: int) -> list[Any]:
        """The values of a column as Python objects."""
        try:
            return batch.column(position).to_pylist()  # type: ignore[no-any-return]
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.source}: the column {batch.schema.names[position]!r} has a value that is not UTF-8. Write the "
                "file again with valid UTF-8."
            ) from error

    @contextmanager
    def _opening(self, stream: IO[bytes]) -> Iterator[Any]:
        """The open file, without a check of its columns."""
        with self._seekable(stream) as content:
            try:
                yield self.parquet.ParquetFile(content, buffer_size=PAGE_BYTES)
            except (self.arrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise InputError(f"{self.source} is not a complete Parquet file. Write it again.") from error

    @contextmanager
    def _seekable(self, stream: IO[bytes]) -> Iterator[IO[bytes]]:
        """The stream, or a copy of it on disk: Arrow needs random access, which only a plain file offers."""
        if isinstance(stream, io.FileIO | io.BufferedReader) and stream.seekable():
            yield stream
            return
        with TemporaryFile() as spooled:
            shutil.copyfileobj(stream, spooled)
            spooled.seek(0)
            yield spooled

    def _result_schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the output: strings in the text column, and the outcome column."""
        stripped = self.arrow.schema([_strip_field(self.arrow, field) for field in schema])
        self.dropped_metadata = not stripped.equals(schema, check_metadata=True)
        schema = stripped
        for position in self._find_columns(schema.names):
            schema = schema.set(position, self._text_field(schema.field(position)))
        for name in self.outcome_columns:
            outcome = self.arrow.field(name, self.arrow.string())
            known = schema.get_field_index(name)
            schema = schema.append(outcome) if known < 0 else schema.set(known, outcome)
        return schema

    def _text_field(self, field: pa.Field) -> pa.Field:
        """A text column of the output."""
        kind, types = field.type, self.arrow.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        is_view = hasattr(types, "is_string_view") and types.is_string_view(kind)  # older Arrow has no views
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind) or is_view):
            raise InputError(
                f"{self.source}: the column {field.name!r} holds {kind}, not text. Choose a column of strings."
            )
        return field.with_type(self.arrow.string() if types.is_null(kind) or is_view else kind)

    def describe_head(self) -> str:
        """The schema."""
        return str(self.schema)

    def export(self, rows: Rows) -> list[list[Any]]:
        """The values of all columns as Python objects."""
        return [self._list(rows.carried, position) for position in range(rows.carried.num_columns)]

    def adopt(self, names: Sequence[str]) -> None:
        """Take the names for columns of strings."""
        super().adopt(names)
        self.schema = self._result_schema(self.arrow.schema([(name, self.arrow.string()) for name in names]))

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """Columns of strings."""
        columns = [self.arrow.array(map(spell, values[name]), self.arrow.string()) for name in self.names]
        return Rows(rows.texts, self.arrow.RecordBatch.from_arrays(columns, names=self.names), rows.width)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for a complete Parquet file."""
        return _ParquetWriter(stream, self)

    def merge(self, parts: Iterable[BinaryIO], target: BinaryIO) -> None:
        """Join the parts. Row groups have a fixed number of rows, so the bytes do not depend on the parts."""
        with self.parquet.ParquetWriter(target, self.schema) as writer:
            waiting: list[pa.Table] = []
            for part in parts:
                waiting.append(self.parquet.ParquetFile(part).read())
                if sum(len(table) for table in waiting) >= MERGED_GROUP:
                    joined = self.arrow.concat_tables(waiting)
                    whole = len(joined) - len(joined) % MERGED_GROUP
                    for start in range(0, whole, MERGED_GROUP):
                        writer.write_table(joined.slice(start, MERGED_GROUP).combine_chunks())
                    waiting = [joined.slice(whole)]
            if waiting:
                writer.write_table(self.arrow.concat_tables(waiting).combine_chunks())


def _strip_field(arrow: Any, field: pa.Field) -> pa.Field:
    """A field without metadata, also inside it. Its type, nullability and number stay."""
    kept = {name: value for name, value in (field.metadata or {}).items() if name == _FIELD_ID and value.isdigit()}
    return arrow.field(field.name, _strip_type(arrow, field.type), field.nullable, kept or None)


def _strip_type(arrow: Any, kind: pa.DataType) -> pa.DataType:
    types, strip = arrow.types, partial(_strip_field, arrow)
    if types.is_struct(kind):
        return arrow.struct([strip(kind.field(number)) for number in range(kind.num_fields)])
    if types.is_map(kind):
        return arrow.map_(strip(kind.key_field), strip(kind.item_field), keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return arrow.list_(strip(kind.value_field), kind.list_size)
    if types.is_large_list(kind):
        return arrow.large_list(strip(kind.value_field))
    return arrow.list_(strip(kind.value_field)) if types.is_list(kind) else kind


class _ParquetWriter(Writer):
    def __init__(self, stream: BinaryIO, table: ParquetTable) -> None:
        self._table, self._schema = table, table.schema
        self._writer = table.parquet.ParquetWriter(stream, table.schema)

    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        columns = rows.carried.columns + [None] * (len(self._schema) - rows.carried.num_columns)
        for name, values in self._table.replace(rows, results).items():
            position = self._schema.get_field_index(name)
            field = self._schema.field(position)
            # A ledger may refuse a text of a column that must not lack any.
            written = values if field.nullable else [value or "" for value in values]
            columns[position] = self._table.arrow.array(written, field.type)
        self._writer.write_batch(self._table.arrow.RecordBatch.from_arrays(columns, schema=self._schema))

    def __exit__(self, *_: object) -> None:
        self._writer.close()
