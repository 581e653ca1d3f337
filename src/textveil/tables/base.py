"""The interface of a table: one or several columns of texts, and other columns that are copied unchanged."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.text.batches import batch_texts

TEXT_COLUMN = "text"
"""The default name of the column with the texts."""
OUTCOME_COLUMN = "textveil_outcome"
"""The default name of the column for the outcomes."""

LONGEST_LINE = 1 << 27
"""The largest number of bytes in a line, and of characters in a record of several lines."""
LONGEST_NAME = 40
LONGEST_NAME_WITH_SPACES = 24
_NAME = re.compile(r"[^\W\d][\w.:/-]*( [\w.:/-]+)?")
"""A column name of one or two words. Any other one looks like a text, which errors must not quote."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of a table.

    Attributes:
        texts: The texts, row by row, with one text per text column; ``None`` where a text is missing.
        carried: The complete rows, in a form that only their table knows.
        width: The number of text columns.
    """

    texts: list[str | None]
    carried: Any
    width: int = 1

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.texts) // self.width

    def split(self, size: int) -> tuple[Rows, Rows]:
        """The first rows, and the rest."""
        texts = size * self.width
        return (
            Rows(self.texts[:texts], self.carried[:size], self.width),
            Rows(self.texts[texts:], self.carried[size:], self.width),
        )


@dataclass(frozen=True, slots=True)
class Result:
    """The result for a text: the obfuscated text (``None`` if the text was missing or refused) and the outcome."""

    text: str | None
    outcome: str


class Writer(AbstractContextManager["Writer"]):
    """Writes rows with new texts. The output is complete when the ``with`` block ends.

    Args:
        stream: Where to write.
        encode: The bytes of rows with their results.
    """

    def __init__(self, stream: BinaryIO, encode: Callable[[Rows, Sequence[Result]], bytes]) -> None:
        self._stream = stream
        self._encode = encode

    def write(self, rows: Rows, results: Sequence[Result]) -> None:
        """Write the rows. There is one result per text, in the order of ``rows.texts``."""
        self._stream.write(self._encode(rows, results))

    def __exit__(self, *_: object) -> None:
        """Finish the output. By default there is nothing to do."""


class Table(ABC):
    """One file of texts. A table remembers the header or schema that it reads and uses it for writing.

    Args:
        column: The column with the texts, or several columns.
        outcome_column: The column for the outcomes; ``None`` writes no outcomes. With several text columns, each
            has an outcome column of its own: this name, an underscore and the name of the text column.
        source: The name of the file in error messages.
    """

    name: str
    names: list[str]
    """The names of the columns, once the first rows are read."""
    origin: Table | None = None
    """The table that reads the rows, if they are written in another format than they are read in."""
    has_columns: bool = True

    def __init__(self, *, column: str | Sequence[str], outcome_column: str | None, source: str) -> None:
        self.columns = name_columns(column)
        self.names = list(self.columns)
        self.column = self.columns[0]
        self.outcome_column = outcome_column
        self.outcome_columns = name_outcomes(self.columns, outcome_column)
        self.source = self.output = source
        self.drop_columns: tuple[str, ...] = ()
        self.keep_columns: tuple[str, ...] | None = None
        self.dropped_metadata = False
        """Whether the file that was read has metadata, which the output does not get."""
        if not self.has_columns and len(self.columns) > 1:
            raise ParameterError(f"{source} is plain text, which has no columns. Set `column` for other formats only.")
        for name in self.columns:
            if self.has_columns and name in self.outcome_columns:
                raise ParameterError(
                    f"Texts and outcomes cannot both be in the column {name!r}. Set `outcome_column` to another name."
                )

    def choose_columns(self, drop: str | Sequence[str], keep: str | Sequence[str] | None) -> None:
        """Leave out other columns when rows are read: those to ``drop``, or all but those to ``keep``."""
        if not self.has_columns and (drop or keep is not None):
            raise ParameterError(f"{self.source} is plain text, which has no columns to drop or keep.")
        self.drop_columns, self.keep_columns = name_choice(drop, keep, self.columns)

    @property
    def carries_columns(self) -> bool:
        """Whether the output may have other columns of the input."""
        return self.has_columns and (self.keep_columns is None or not set(self.keep_columns) <= set(self.columns))

    def convert_from(self, origin: Table) -> None:
        """Read rows as another table does, and write them in this format."""
        self.origin = origin
        self.name = f"{origin.name} to {self.name}"
        self.source = origin.source
        self.has_columns = origin.has_columns
        self.drop_columns, self.keep_columns = origin.drop_columns, origin.keep_columns

    def read(self, stream: IO[bytes], *, batch_size: int) -> Iterator[Rows]:
        """Stream the rows in batches of at most ``batch_size``."""
        if self.origin is None:
            return self._read(stream, batch_size)
        return self._convert(self.origin, stream, batch_size)

    @abstractmethod
    def _read(self, stream: IO[bytes], batch_size: int) -> Iterator[Rows]:
        """Stream the rows of a file in this format."""

    def _convert(self, origin: Table, stream: IO[bytes], batch_size: int) -> Iterator[Rows]:
        """Stream the rows of a file in another format, in the form of this one."""
        done = 0
        for rows in origin.read(stream, batch_size=batch_size):
            if done == 0:
                self._adopt_columns(origin)
            values = dict(zip(origin.names, origin.export(rows), strict=True))
            texts = Rows(list(map(spell, rows.texts)), None, rows.width)  # without lone surrogates of JSON
            yield self.pack(texts, values, first=done + 1)
            done += rows.size
        if done == 0:
            self._adopt_columns(origin)

    def _adopt_columns(self, origin: Table) -> None:
        check_names(origin.names, self.source)
        self.adopt(origin.names)
        self.dropped_metadata = origin.dropped_metadata

    def read_texts(self, stream: IO[bytes], *, batch_size: int, head: bool = True) -> Iterator[list[str | None]]:
        """Stream only the texts of the first text column. If ``head`` is false, the stream starts at a later row."""
        return (rows.texts[:: rows.width] for rows in self.read(stream, batch_size=batch_size))

    def read_records(self, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
        """Stream the rows as mappings from column to value. No column needs to hold texts."""
        raise ParameterError(f"{self.source} is plain text, which has no columns. Use csv, tsv, jsonl or parquet.")

    @abstractmethod
    def values(self, rows: Rows, column: str) -> list[str | None]:
        """The values of another column as strings; ``None`` where a value is missing.

        Raises:
            ColumnError: The column does not exist.
        """

    @abstractmethod
    def writer(self, stream: BinaryIO, *, head: bool) -> Writer:
        """A writer for rows that this table has read; ``head`` is true at the beginning of a file."""

    def replace(self, rows: Rows, results: Sequence[Result]) -> dict[str, list[str | None]]:
        """The new values by column: the obfuscated texts, then the outcomes."""
        found = [results[number :: rows.width] for number in range(rows.width)]
        new: dict[str, list[str | None]] = {}
        for name, of_column in zip(self.columns, found, strict=True):
            new[name] = [result.text for result in of_column]
        for name, of_column in zip(self.outcome_columns, found, strict=False):  # there may be none
            new[name] = [result.outcome for result in of_column]
        return new

    def describe_head(self) -> str:
        """The header or schema, which must be the same when a run is resumed."""
        return ""

    def describe_rows(self, rows: Rows) -> Iterable[str]:
        """The content of every row that must be the same when a run is resumed; by default the texts."""
        return ("" if text is None else f"text {text}" for text in rows.texts)

    @abstractmethod
    def export(self, rows: Rows) -> list[list[Any]]:
        """The values of all columns, column by column, for another format."""

    def adopt(self, names: Sequence[str]) -> None:
        """Prepare for writing rows of another format, which have these columns."""
        self.names = list(names)

    @abstractmethod
    def pack(self, rows: Rows, values: Mapping[str, Sequence[Any]], *, first: int) -> Rows:
        """Rows of another format in the form of this table.

        Args:
            rows: The texts.
            values: The values of all columns.
            first: The number of the first row, for error messages.
        """

    def merge(self, parts: Iterable[BinaryIO], target: BinaryIO) -> None:
        """Join the outputs of several writers, of which only the first one wrote a head."""
        import shutil

        for part in parts:
            shutil.copyfileobj(part, target)

    def _carries(self, name: str) -> bool:
        """Whether a column of the input is in the output, too."""
        return name in self.columns or carries(name, self.drop_columns, self.keep_columns)

    def _check_choice(self, columns: Sequence[str]) -> None:
        """Refuse to drop or keep a column that does not exist: a mistyped name would release another column."""
        check_choice(columns, self.drop_columns, self.keep_columns, self.source)

    def _find_columns(self, columns: Sequence[str]) -> list[int]:
        """The positions of the text columns, after a check that outcomes do not replace a column of the user."""
        positions = [self._position(columns, name, parameter=" with `column`") for name in self.columns]
        for name in self.outcome_columns:
            if name in columns and self.outcome_column != OUTCOME_COLUMN:
                raise ColumnError(f"{self.source} has a column {name!r} already. Set `outcome_column` to another name.")
        return positions

    def _position(self, columns: Sequence[str], name: str, *, parameter: str = "") -> int:
        check_names(columns, self.source, only=name)
        if name not in columns:
            raise ColumnError(
                f"{self.source} has no column {name!r}. It has: {list_columns(columns)}. Choose one{parameter}."
            )
        return columns.index(name)


def name_columns(column: str | Sequence[str], parameter: str = "column") -> tuple[str, ...]:
    """The names of text columns, of which there is at least one. Errors name the parameter.

    >>> name_columns("text"), name_columns(["title", "text"])
    (('text',), ('title', 'text'))
    """
    names = (column,) if isinstance(column, str) else tuple(column)
    if not names:
        raise ParameterError(f"`{parameter}` names no column. Set the name of one or more columns.")
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(f"`{parameter}` has the name {name!r} more than once. Leave one out.")
    return names


def name_choice(
    drop: str | Sequence[Any], keep: str | Sequence[Any] | None, texts: Sequence[Any]
) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """The names of the columns to leave out, and of those to keep; ``None`` keeps all others.

    >>> name_choice("id", None, ["text"]), name_choice((), ["stars"], ["text"])
    ((('id',), None), ((), ('stars',)))
    """
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    kept = (keep,) if isinstance(keep, str) else None if keep is None else tuple(keep)
    if dropped and kept is not None:
        raise ParameterError("Set `drop_columns` or `keep_columns`, not both.")
    for name in texts:
        if name in dropped:
            raise ParameterError(f"The column {name!r} has the texts, so it cannot be dropped. Leave it in.")
    return dropped, kept


def carries(name: Any, drop: Sequence[Any], keep: Sequence[Any] | None) -> bool:
    """Whether a column without texts is copied."""
    return name not in drop and (keep is None or name in keep)


def check_choice(columns: Sequence[Any], drop: Sequence[Any], keep: Sequence[Any] | None, source: str) -> None:
    """Refuse to drop or keep a column that does not exist."""
    for parameter, chosen in (("drop_columns", drop), ("keep_columns", keep or ())):
        for name in chosen:
            if name not in columns:
                raise ColumnError(
                    f"{source} has no column {name!r}. It has: {list_columns(list(map(str, columns)))}. Choose with "
                    f"`{parameter}`."
                )


def name_outcomes(columns: Sequence[str], outcome_column: str | None) -> tuple[str, ...]:
    """The names of the outcome columns: one for every text column, or none.

    >>> name_outcomes(["text"], "outcome"), name_outcomes(["title", "text"], "outcome")
    (('outcome',), ('outcome_title', 'outcome_text'))
    """
    if outcome_column is None:
        return ()
    return (outcome_column,) if len(columns) == 1 else tuple(f"{outcome_column}_{name}" for name in columns)


def check_names(columns: Sequence[str], source: str, *, only: str | None = None) -> None:
    """Refuse a table with two columns of the same name, of any name or of one."""
    for name in columns if only is None else [only]:
        if columns.count(name) > 1:
            first, second = [number for number, other in enumerate(columns, start=1) if other == name][:2]
            shown = f" {name!r}" if only is not None or all(map(is_name, columns)) else ""
            raise ColumnError(
                f"{source} has the column{shown} more than once: columns {first} and {second}. Rename one of them."
            )


def list_columns(columns: Sequence[str]) -> str:
    """The names of columns for an error message.

    If a name looks like a text, the header may be missing, so all of them may be values: none is quoted.

    >>> list_columns(["id", "stars"]), list_columns(["id", "I have been ill since May"])
    ("'id', 'stars'", '2 columns (column 2 looks like a text, so the file may lack a header)')
    """
    numbers = [str(number) for number, name in enumerate(columns, start=1) if not is_name(name)]
    if not numbers:
        return ", ".join(map(repr, columns))
    texts = f"column {numbers[0]} looks" if len(numbers) == 1 else f"columns {_shorten(numbers)} look"
    size = f"{len(columns)} columns" if len(columns) > 1 else "1 column"
    return f"{size} ({texts} like a text, so the file may lack a header)"


def _shorten(numbers: Sequence[str], most: int = 5) -> str:
    return ", ".join(numbers if len(numbers) <= most else [*numbers[:most], "..."])


def is_name(column: str) -> bool:
    """Whether a column has a name, and not a text that stands where a name is missing."""
    longest = LONGEST_NAME_WITH_SPACES if " " in column else LONGEST_NAME
    return len(column) <= longest and _NAME.fullmatch(column) is not None


def decode_lines(stream: IO[bytes], source: str) -> Iterator[str]:
    """The lines of a UTF-8 file with their line ends, without a byte order mark.

    Raises:
        InputError: A line is too long or not UTF-8, or it has a NUL byte, as every line of UTF-16 has.
    """
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise too_long(source, number)
        if (place := line.find(0)) >= 0:
            raise InputError(
                f"{source}, line {number}, byte {place + 1}: this is a NUL byte, so the file is not UTF-8 text but "
                "perhaps UTF-16. Convert the file to UTF-8 first, for example with iconv."
            )
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source}, line {number}, byte {error.start + 1}: this is not UTF-8. Convert the file to UTF-8 "
                "first, for example with iconv."
            ) from error
        yield text


def too_long(source: str, line: int) -> InputError:
    """The error for a line, or for a record that begins there."""
    return InputError(
        f"{source}, line {line}: what begins here has more than {LONGEST_LINE >> 20} MiB, which is the limit. Split it "
        "into several, or close a quote that was left open."
    )


def spell(value: Any) -> str | None:
    """A value of any type as a string: structures and truth values as JSON, others as Python writes them.

    >>> spell("a"), spell(None), spell(7), spell([1, True])
    ('a', None, '7', '[1, true]')
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, default=spell)
    return str(value)


def batch_rows(rows: Iterable[tuple[Sequence[str | None], Any]], batch_size: int) -> Iterator[Rows]:
    """Group rows, given as pairs of their texts and the complete row, into batches."""
    for batch in batch_texts(rows, batch_size, text_of=lambda row: join_texts(row[0])):
        yield Rows([text for texts, _ in batch for text in texts], [rest for _, rest in batch], len(batch[0][0]))


def join_texts(texts: Sequence[str | None]) -> str | None:
    """All texts of a row together, to count their characters."""
    return texts[0] if len(texts) == 1 else "".join(text or "" for text in texts)
