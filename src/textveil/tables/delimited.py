"""CSV and TSV, which have a header and then one record per row, and plain text with one document per line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any, BinaryIO, ClassVar

from textveil.errors import ColumnError, InputError
from textveil.tables import base
from textveil.tables.base import Result, Rows, Table, Writer, batch_rows, check_names, decode_lines, spell

_OTHER_DELIMITER = re.compile(r"[;,\t|]")
LONGEST_FIELD = 1 << 26
"""The largest number of characters in a field."""


class CsvTable(Table):
    """Comma-separated values, with double quotes around fields that need them. An empty field is an empty text."""

    name = "csv"
    delimiter: ClassVar[str] = ","

    def _read(self, stream: IO[bytes], batch_size: int) -> Iterator[Rows]:
        records = self._read_fields(stream)
        self.names = self._read_header(records)
        if (
            len(self.names) == 1
            and self.names[0] not in self.columns
            and (found := _OTHER_DELIMITER.search(self.names[0]))
        ):
            raise InputError(
                f"{self.source} has one column only: its header has {found[0]!r} where {self.delimiter!r} is expected. "
                f"Convert the file to {self.name}."
            )
        self._check_choice(self.names)
        kept = [place for place, name in enumerate(self.names) if self._carries(name)]
        if len(kept) < len(self.names):
            self.names = [self.names[place] for place in kept]
            records = ([record[place] for place in kept] for record in records)
        positions = self._find_columns(self.names)
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
        position = self._position(self.names, column)
        return [record[position] or None for record in rows.carried]

    def describe_head(self) -> str:
        """The header."""
        return repr(self.names)

    def describe_rows(self, rows: Rows) -> Iterable[str]:
        """The records."""
        return map(repr, rows.carried)

    def export(self, rows: Rows) -> list[list[Any]]:
        """The fields of all columns."""
        return [[record[position] for record in rows.carried] for position in range(len(self.names))]

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """Records of strings; a missing value becomes an empty field."""
        columns = [[spell(value) or "" for value in values[name]] for name in self.names]
        return Rows(rows.texts, [list(record) for record in zip(*columns, strict=True)], rows.width)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for records in the same dialect."""
        header = [*self.names, *(name for name in self.outcome_columns if name not in self.names)]
        if head:
            stream.write(self._join_fields([header]))
        return Writer(stream, partial(self._encode_rows, header))

    def _encode_rows(self, header: list[str], rows: Rows, results: Sequence[Result]) -> bytes:
        new = self.replace(rows, results)
        places = [header.index(name) for name in new]
        added = [""] * (len(header) - len(self.names))
        records = []
        for record, values in zip(rows.carried, zip(*new.values(), strict=True), strict=True):
            filled = [*record, *added]
            for place, value in zip(places, values, strict=True):
                filled[place] = value or ""
            records.append(filled)
        return self._join_fields(records)

    def _join_fields(self, records: Iterable[list[str]]) -> bytes:
        buffer = io.StringIO()
        minimal = csv.writer(buffer, delimiter=self.delimiter, lineterminator="\n")
        # The csv module quotes a carriage return only if it is part of the line terminator.
        quoted = csv.writer(buffer, delimiter=self.delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for record in records:
            (quoted if any("\r" in field for field in record) else minimal).writerow(record)
        return buffer.getvalue().encode()


class TsvTable(CsvTable):
    """Tab-separated values, otherwise like CSV."""

    name = "tsv"
    delimiter = "\t"


class LinesTable(Table):
    """One document per line. Outcomes are not written; the certificate counts them."""

    name = "txt"
    has_columns = False

    def _read(self, stream: IO[bytes], batch_size: int) -> Iterator[Rows]:
        lines = decode_lines(stream, self.source)
        return batch_rows((((line.removesuffix("\n"),), None) for line in lines), batch_size)

    def values(self, rows: Rows, column: str) -> list[str | None]:
        """Refuse: plain text has no other columns."""
        raise ColumnError(f"{self.source} is plain text and has no column {column!r}. Use csv, tsv, jsonl or parquet.")

    def export(self, rows: Rows) -> list[list[Any]]:
        """The texts."""
        return [list(rows.texts)]

    def adopt(self, names: Sequence[str]) -> None:
        """Refuse other columns than that of the texts."""
        if len(names) > 1:
            raise ColumnError(
                f"The input has {len(names)} columns, but {self.output} is plain text, which holds one. Write csv, "
                "tsv, jsonl or parquet, or remove the other columns."
            )

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """The texts, which must not have line breaks: a line is a document."""
        for number, text in enumerate(rows.texts, start=first):
            if text is not None and "\n" in text:
                raise InputError(
                    f"Row {number} of the input has a line break in its text. {self.output} is plain text, where a "
                    "line is a document. Write csv, tsv, jsonl or parquet instead."
                )
        return Rows(rows.texts, [None] * rows.size)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for lines."""
        return Writer(stream, _encode_lines)


def _encode_lines(_rows: Rows, results: Sequence[Result]) -> bytes:
    return "".join(f"{result.text or ''}\n" for result in results).encode()
