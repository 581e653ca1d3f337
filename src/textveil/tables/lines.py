"""Plain text: one document per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO

from textveil.errors import ColumnError
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

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for lines."""
        return _LinesWriter(stream)


class _LinesWriter(Writer):
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        self._stream.write("".join(f"{result.text}\n" for result in results).encode())
