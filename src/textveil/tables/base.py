"""The contract of a table: texts in one column, and whatever else a row holds carried along."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import itemgetter
from typing import IO, Any, BinaryIO, ClassVar

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.language.batches import batch_texts

TEXT_COLUMN = "text"
"""The column that texts are read from, unless another is named."""
OUTCOME_COLUMN = "textveil_outcome"
"""The column that outcomes are written to, unless another is named."""


LONGEST_NAME = 40
LONGEST_NAME_WORDS = 3


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows: their texts (``None`` where missing), and the rest in the table's own form."""

    texts: list[str | None]
    carried: Any


@dataclass(frozen=True, slots=True)
class Result:
    """What is written for a row: the obfuscated text, ``None`` where it was missing, and the outcome."""

    text: str | None
    outcome: str


class Writer(AbstractContextManager["Writer"], ABC):
    """Writes rows with new texts; complete when the block ends."""

    @abstractmethod
    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        """Write the rows, each with its result."""

    def __exit__(self, *_: object) -> None:
        """Nothing to finish, unless a format says otherwise."""


class Table(ABC):
    """One file of texts. What it learns of the file while reading (header, schema) it uses when writing.

    Args:
        column: The column with the texts.
        outcome_column: The column in which the outcome of a row is written; ``None`` leaves it out.
        source: How errors call the file.
    """

    name: ClassVar[str]
    has_columns: ClassVar[bool] = True

    def __init__(self, *, column: str, outcome_column: str | None, source: str) -> None:
        if self.has_columns and column == outcome_column:
            raise ParameterError(
                f"Texts and outcomes cannot both be in the column {column!r}. Set `outcome_column` to another name."
            )
        self.column = column
        self.outcome_column = outcome_column
        self.source = source

    @abstractmethod
    def read(self, stream: IO[bytes], *, batch_size: int) -> Iterator[Rows]:
        """Stream the rows, up to ``batch_size`` at a time."""

    def read_texts(self, stream: IO[bytes], *, batch_size: int, head: bool = True) -> Iterator[list[str | None]]:
        """Stream the texts alone; without ``head``, the stream begins somewhere in the file, at a row."""
        return (rows.texts for rows in self.read(stream, batch_size=batch_size))

    def read_records(self, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
        """Stream the rows as mappings from column to value; no column has to hold texts."""
        raise ParameterError(f"{self.source} is plain text, which has no columns. Give a table.")

    @abstractmethod
    def values(self, rows: Rows, column: str) -> list[str | None]:
        """What some rows hold in another column, as it is written; ``None`` where there is nothing.

        Raises:
            ColumnError: There is no such column.
        """

    @abstractmethod
    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer of rows that were read by this table; ``head`` is true at the beginning of a file."""

    def describe_head(self) -> str:
        """What the file says once and a resumed run must find again: the header, or the schema."""
        return ""

    def describe_rows(self, rows: Rows) -> Iterable[str]:
        """What every row says, as far as a resumed run must find it again; the texts, unless a format says more."""
        return ("" if text is None else f"text {text}" for text in rows.texts)

    def merge(self, parts: Iterable[BinaryIO], target: BinaryIO) -> None:
        """Join what several writers wrote, of which only the first wrote a head."""
        for part in parts:
            shutil.copyfileobj(part, target)

    def _find_column(self, columns: Sequence[str]) -> int:
        """The position of the text column; outcomes must not replace a column of the user's."""
        position = self._position(columns, self.column, parameter=" with `column`")
        if self.outcome_column in columns and self.outcome_column != OUTCOME_COLUMN:
            raise ColumnError(
                f"{self.source} has a column {self.outcome_column!r} already. Set `outcome_column` to another name."
            )
        return position

    def _position(self, columns: Sequence[str], name: str, *, parameter: str = "") -> int:
        check_names([column for column in columns if column == name], self.source)
        if name not in columns:
            raise ColumnError(
                f"{self.source} has no column {name!r}. It has: {list_columns(columns)}. Choose one{parameter}."
            )
        return columns.index(name)


def check_names(columns: Sequence[str], source: str) -> None:
    """Refuse a table in which two columns have one name."""
    for name in columns:
        if columns.count(name) > 1:
            raise ColumnError(f"{source} has the column {name!r} more than once. Rename one of them.")


def list_columns(columns: Sequence[str]) -> str:
    """The names of columns; what looks like a text is not quoted, since a header may be missing."""
    names = [repr(name) for name in columns if len(name) <= LONGEST_NAME and len(name.split()) <= LONGEST_NAME_WORDS]
    hidden = len(columns) - len(names)
    if hidden:
        names.append(f"{hidden} whose name looks like a text (is the header missing?)")
    return ", ".join(names)


def decode_lines(lines: Iterable[bytes], source: str) -> Iterator[str]:
    """The lines of a UTF-8 file, line ends included; a byte order mark at the beginning is dropped."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source}, line {number}, byte {error.start + 1}: this is not UTF-8. Convert the file first, for "
                "example with iconv."
            ) from error
        yield text


def batch_rows(rows: Iterable[tuple[str | None, Any]], batch_size: int) -> Iterator[Rows]:
    """Group rows, given as text and rest, into batches."""
    for batch in batch_texts(rows, batch_size, text_of=itemgetter(0)):
        yield Rows([text for text, _ in batch], [rest for _, rest in batch])
