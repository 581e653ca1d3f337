"""CSV and TSV: a header, then one record per row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, BinaryIO, ClassVar

from textveil.errors import InputError
from textveil.tables import base
from textveil.tables.base import Result, Rows, Table, Writer, batch_rows, check_names, decode_lines, spell

_OTHER_DELIMITER = re.compile(r"[;,\t|]")
LONGEST_FIELD = 1 << 26
"""The largest number of characters in a field."""


class CsvTable(Table):
    """Comma-separated values, with double quotes around fields that need them. An empty field is an empty text."""

    name = "csv"
    delimiter: ClassVar[str] = ","

    def __init__(self, *, column: str | Sequence[str], outcome_column: str | None, source: str) -> None:
        super().__init__(column=column, outcome_column=outcome_column, source=source)
        self.header: list[str] = []

    def read(self, stream: IO[bytes], *, batch_size: int) -> Iterator[Rows]:
        """Stream the records after the header."""
        records = self._read_fields(stream)
        self.header = self._read_header(records)
        if (
            len(self.header) == 1
            and self.header[0] not in self.columns
            and (found := _OTHER_DELIMITER.search(self.header[0]))
        ):
            raise InputError(
                f"{self.source} has one column only: its header has {found[0]!r} where {self.delimiter!r} is expected. "
                f"Convert the file to {self.name}."
            )
        self._check_choice(self.header)
        kept = [place for place, name in enumerate(self.header) if self._carries(name)]
        if len(kept) < len(self.header):
            self.header = [self.header[place] for place in kept]
            records = ([record[place] for place in kept] for record in records)
        positions = self._find_columns(self.header)
        return batch_rows((([record[position] for position in positions], record) for record in records), batch_size)

    def read_records(self, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
        """Stream the records after the header, with unchanged values."""
        records = self._read_fields(stream)
        header = self._read_header(records)
        check_names(header, self.source)
        return (dict(zip(header, record, strict=True)) for record in records)

    def _read_header(self, records: Iterator[list[str]]) -> list[str]:
        header = next(records, [])
        if not header:
            raise InputError(f"{self.source} is empty. The first line must be a header with the names of the columns.")
        return header

    def _read_fields(self, stream: IO[bytes]) -> Iterator[list[str]]:
        """The header, then the records, which must have as many fields."""
        # The limit is global to the interpreter, so it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        line = width = held = 0

        def read_lines() -> Iterator[str]:
            nonlocal held
            for text in decode_lines(stream, self.source):
                held += len(text)
                if held > base.LONGEST_LINE:
                    raise base.too_long(self.source, line)
                yield text

        reader = csv.reader(read_lines(), delimiter=self.delimiter, strict=True)
        while True:
            line, held = reader.line_num + 1, 0
            try:
                record = next(reader, None)
            except csv.Error as error:
                raise self._broken_record(line, error) from error
            if record is None:
                return
            if not record and width == 1:
                record = [""]
            if record and width and len(record) != width:
                raise InputError(
                    f"{self.source}, line {line}: {len(record)} fields, where the header has {width}. Fix this line."
                )
            if record:
                width = width or len(record)
                yield record

    def _broken_record(self, line: int, error: csv.Error) -> InputError:
        if "field limit" in str(error):
            return InputError(
                f"{self.source}, line {line}: the record that begins here has a field of more than "
                f"{csv.field_size_limit():,} characters, which is the limit. Split this text into several, or close a "
                "quote that was left open."
            )
        return InputError(
            f"{self.source}, line {line}: the record that begins here is broken, perhaps by a quote that is "
            "not closed or not doubled. Fix this line."
        )

    def values(self, rows: Rows, column: str) -> list[str | None]:
        """The fields of a column; an empty field is a missing value."""
        position = self._position(self.header, column)
        return [record[position] or None for record in rows.carried]

    def describe_head(self) -> str:
        """The header."""
        return repr(self.header)

    def describe_rows(self, rows: Rows) -> Iterable[str]:
        """The records."""
        return map(repr, rows.carried)

    def list_names(self) -> list[str]:
        """The header."""
        return self.header

    def export(self, rows: Rows) -> list[list[Any]]:
        """The fields of all columns."""
        return [[record[position] for record in rows.carried] for position in range(len(self.header))]

    def adopt(self, names: Sequence[str]) -> None:
        """Take the names for the header."""
        self.header = list(names)

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """Records of strings; a missing value becomes an empty field."""
        columns = [[spell(value) or "" for value in values[name]] for name in self.header]
        return Rows(rows.texts, [list(record) for record in zip(*columns, strict=True)], rows.width)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for records in the same dialect."""
        return _CsvWriter(stream, self, head=head)


class TsvTable(CsvTable):
    """Tab-separated values, otherwise like CSV."""

    name = "tsv"
    delimiter = "\t"


class _CsvWriter(Writer):
    def __init__(self, stream: BinaryIO, table: CsvTable, *, head: bool) -> None:
        self._stream = stream
        self._delimiter = table.delimiter
        header = [*table.header, *(name for name in table.outcome_columns if name not in table.header)]
        self._texts = [header.index(name) for name in table.columns]
        self._outcomes = [header.index(name) for name in table.outcome_columns]
        self._added = [""] * (len(header) - len(table.header))
        if head:
            self._write_records([header])

    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        of_rows = zip(*(results[column :: rows.width] for column in range(rows.width)), strict=True)
        self._write_records(self._fill(record, found) for record, found in zip(rows.carried, of_rows, strict=True))

    def _fill(self, record: list[str], results: Sequence[Result]) -> list[str]:
        filled = [*record, *self._added]
        for position, result in zip(self._texts, results, strict=True):
            filled[position] = result.text or ""
        for position, result in zip(self._outcomes, results, strict=False):  # there may be none
            filled[position] = result.outcome
        return filled

    def _write_records(self, records: Iterable[list[str]]) -> None:
        buffer = io.StringIO()
        minimal = csv.writer(buffer, delimiter=self._delimiter, lineterminator="\n")
        # The csv module quotes a carriage return only if it is part of the line terminator.
        quoted = csv.writer(buffer, delimiter=self._delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for record in records:
            (quoted if any("\r" in field for field in record) else minimal).writerow(record)
        self._stream.write(buffer.getvalue().encode())
