"""Plain text: one document per line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, BinaryIO

from textveil.errors import ColumnError, InputError
from textveil.tables.base import Result, Rows, Table, Writer, batch_rows, decode_lines


class LinesTable(Table):
    """One document per line. Outcomes are not written; the certificate counts them."""

    name = "txt"
    has_columns = False

    def read(self, stream: IO[bytes], *, batch_size: int) -> Iterator[Rows]:
        """Stream the lines without line feeds."""
        lines = decode_lines(stream, self.source)
        return batch_rows((((line.removesuffix("\n"),), None) for line in lines), batch_size)

    def values(self, rows: Rows, column: str) -> list[str | None]:
        """Refuse: plain text has no other columns."""
        raise ColumnError(f"{self.source} is plain text and has no column {column!r}. Use csv, tsv, jsonl or parquet.")

    def list_names(self) -> list[str]:
        """The name that the texts have in a format with columns."""
        return list(self.columns)

    def export(self, rows: Rows) -> list[list[Any]]:
        """The texts."""
        return [list(rows.texts)]

    def adopt(self, names: Sequence[str]) -> None:
        """Refuse other columns than that of the texts."""
        if len(names) > 1:
            raise ColumnError(
                f"The input has {len(names)} columns, but {self.source} is plain text, which holds one. Write csv, "
                "tsv, jsonl or parquet, or remove the other columns."
            )

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """The texts, which must not have line breaks: a line is a document."""
        for number, text in enumerate(rows.texts, start=first):
            if text is not None and "\n" in text:
                raise InputError(
                    f"Row {number} of the input has a line break in its text. {self.source} is plain text, where a "
                    "line is a document. Write csv, tsv, jsonl or parquet instead."
                )
        return Rows(rows.texts, [None] * rows.size)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for lines."""
        return _LinesWriter(stream)


class _LinesWriter(Writer):
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        self._stream.write("".join(f"{result.text or ''}\n" for result in results).encode())
