"""Conversion: rows of one format, written in another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, BinaryIO

from textveil.tables.base import Rows, Table, Writer, check_names, spell


class ConvertedTable(Table):
    """Reads rows in one format and writes them in another.

    Args:
        origin: The table to read.
        target: The table to write.
    """

    def __init__(self, origin: Table, target: Table) -> None:
        super().__init__(column=origin.columns, outcome_column=origin.outcome_column, source=origin.source)
        self.name = f"{origin.name} to {target.name}"
        self.has_columns = origin.has_columns
        self.drop_columns, self.keep_columns = origin.drop_columns, origin.keep_columns
        self._origin = origin
        self._target = target

    def read(self, stream: IO[bytes], *, batch_size: int) -> Iterator[Rows]:
        """Stream the rows, in the form of the target."""
        done = 0
        for rows in self._origin.read(stream, batch_size=batch_size):
            if done == 0:
                self._adopt_columns()
            values = dict(zip(self._origin.list_names(), self._origin.export(rows), strict=True))
            texts = Rows(list(map(spell, rows.texts)), None, rows.width)  # without lone surrogates of JSON
            yield self._target.pack(texts, values, first=done + 1)
            done += rows.size
        if done == 0:
            self._adopt_columns()

    def _adopt_columns(self) -> None:
        names = self._origin.list_names()
        check_names(names, self.source)
        self._target.adopt(names)
        self.dropped_metadata = self._origin.dropped_metadata

    def values(self, rows: Rows, column: str) -> list[str | None]:
        """The values of another column."""
        return self._target.values(rows, column)

    def describe_head(self) -> str:
        """The header or schema of the target."""
        return self._target.describe_head()

    def describe_rows(self, rows: Rows) -> Iterable[str]:
        """The rows in the form of the target."""
        return self._target.describe_rows(rows)

    def list_names(self) -> list[str]:
        """The names of all columns."""
        return self._origin.list_names()

    def export(self, rows: Rows) -> list[list[Any]]:
        """The values of all columns in the form of the target."""
        return self._target.export(rows)

    def adopt(self, names: Sequence[str]) -> None:
        """Prepare the target for these columns."""
        self._target.adopt(names)

    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """Rows of another format in the form of the target."""
        return self._target.pack(rows, values, first=first)

    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer of the target."""
        return self._target.writer(stream, head=head)

    def merge(self, parts: Iterable[BinaryIO], target: BinaryIO) -> None:
        """Join the parts as the target does."""
        self._target.merge(parts, target)
