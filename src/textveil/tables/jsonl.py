"""JSON lines: an object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import IO, Any, BinaryIO

from textveil.errors import InputError
from textveil.tables.base import Result, Rows, Table, Writer, batch_rows, decode_lines


class JsonLinesTable(Table):
    """An object per line; a row whose column is null or absent has no text. Blank lines are no rows."""

    name = "jsonl"

    def read(self, stream: IO[bytes], *, batch_size: int) -> Iterator[Rows]:
        """Stream the objects."""
        return batch_rows(self._read_objects(stream), batch_size)

    def _read_objects(self, stream: IO[bytes]) -> Iterator[tuple[str | None, dict[str, Any]]]:
        first = True
        for number, line in enumerate(decode_lines(stream, self.source), start=1):
            if not line.strip():
                continue
            values = self._parse(line, number)
            if first:
                self._find_column(list(values))
                first = False
            text = values.get(self.column)
            if text is not None and not isinstance(text, str):
                raise InputError(
                    f"{self.source}, line {number}: the column {self.column!r} holds {type(text).__name__}, not text."
                )
            yield text, values

    def _parse(self, line: str, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            # The decoder's own message is left out: it may quote the line.
            raise InputError(f"{self.source}, line {number}: this is not JSON. Mend the line.") from error
        if not isinstance(values, dict):
            raise InputError(f"{self.source}, line {number}: expected a JSON object.")
        return values

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer of objects."""
        return _JsonLinesWriter(stream, self.column, self.outcome_column)


class _JsonLinesWriter(Writer):
    def __init__(self, stream: BinaryIO, column: str, outcome_column: str | None) -> None:
        self._stream = stream
        self._column = column
        self._outcome_column = outcome_column

    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        for values, result in zip(rows.carried, results, strict=True):
            row = {**values, self._column: result.text}
            if self._outcome_column is not None:
                row[self._outcome_column] = result.outcome
            self._stream.write(_encode(row) + b"\n")


def _encode(row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can hold as an escape and UTF-8 cannot
        return json.dumps(row).encode()
