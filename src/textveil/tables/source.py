"""Sources of rows: files and streams, with the format detected from the file name."""

from __future__ import annotations

import lzma
import stat
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from textveil.errors import InputError, ParameterError, TextveilError
from textveil.registry import Registry
from textveil.tables.base import OUTCOME_COLUMN, TEXT_COLUMN, Rows, Table, Writer, check_names, spell
from textveil.tables.compression import SUFFIXES, decompress, strip_suffix


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


FORMATS: Registry[type[Table]] = Registry("format")
"""The file formats by name, each a kind of ``Table``."""
FORMATS.register("txt", "textveil.tables.lines:LinesTable", aliases=["text"])
FORMATS.register("csv", "textveil.tables.delimited:CsvTable")
FORMATS.register("tsv", "textveil.tables.delimited:TsvTable", aliases=["tab"])
FORMATS.register("jsonl", "textveil.tables.jsonl:JsonLinesTable", aliases=["ndjson"])
FORMATS.register("parquet", "textveil.tables.parquet:ParquetTable", aliases=["pq"])


def detect_format(path: Path) -> str:
    """The format of a file, by the suffix of its name.

    >>> detect_format(Path("reviews.jsonl.zst"))
    'jsonl'
    """
    suffix = strip_suffix(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ParameterError(
            f"The name {path.name!r} does not tell its format. Rename the file so that it ends in "
            f"{', '.join('.' + name for name in FORMATS)}, optionally followed by {' or '.join(SUFFIXES)}; "
            "or set `format_name`."
        )
    return FORMATS.load(suffix).name


@dataclass(frozen=True, slots=True)
class Layout:
    """The format of a table and its columns of texts and outcomes.

    Args:
        column: The column with the texts, or several columns; ignored for plain text.
        outcome_column: The column for the outcomes; ``None`` writes no outcomes.
        format_name: The format to read; by default it is detected from the name of the file.
        drop_columns: Other columns that are not copied.
        keep_columns: The other columns that are copied; ``None`` copies all but those to drop.
    """

    column: str | Sequence[str] = TEXT_COLUMN
    outcome_column: str | None = OUTCOME_COLUMN
    format_name: str | None = None
    drop_columns: str | Sequence[str] = ()
    keep_columns: str | Sequence[str] | None = None

    def table(self, source: Source) -> Table:
        """A table for reading ``source``."""
        chosen = FORMATS.load(self.format_name or source.detect_format())
        table = chosen(column=self.column, outcome_column=self.outcome_column, source=source.title)
        table.choose_columns(self.drop_columns, self.keep_columns)
        return table

    def convert(self, source: Source, output: Path) -> Table:
        """A table for reading ``source`` and writing ``output``, which may have another format.

        If the name of the output does not show its format, and the format of the input is given, both have the same.
        """
        table = self.table(source)
        suffix = strip_suffix(output).suffix.lower().removeprefix(".")
        if self.format_name is not None and suffix not in FORMATS:
            return table
        target = FORMATS.load(detect_format(output))
        if target.name == table.name:
            return table
        written = target(column=self.column, outcome_column=self.outcome_column, source=repr(str(output)))
        return ConvertedTable(table, written)


class Source(ABC):
    """A source of rows. Its errors name the source and the position."""

    title: str

    @abstractmethod
    def detect_format(self) -> str:
        """The format of the source."""

    @abstractmethod
    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        """The decompressed content."""

    @property
    def fraction(self) -> float | None:
        """The fraction of the source that has been read; ``None`` if unknown."""
        return None

    def read(self, table: Table, *, batch_size: int) -> Iterator[Rows]:
        """Stream the rows of the source.

        Raises:
            InputError: The source cannot be read, or its content does not fit its name.
        """
        with self.reading() as stream:
            yield from table.read(stream, batch_size=batch_size)

    @contextmanager
    def reading(self) -> Iterator[IO[bytes]]:
        """The decompressed content. Errors inside the block become errors that name this source.

        Raises:
            InputError: The source cannot be read, or its content does not fit its name.
        """
        try:
            with self._open() as stream:
                yield stream
        except (TextveilError, GeneratorExit):
            raise
        except FileNotFoundError as error:
            raise InputError(f"{self.title} is not there. Check the path.") from error
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise InputError(
                f"{self.title} is cut off or damaged: it cannot be decompressed. Get the file again."
            ) from error
        except OSError as error:
            raise InputError(
                f"{self.title} cannot be read: {error.strerror or 'it is not what its name says'}."
            ) from error


class FileSource(Source):
    """A file on disk, compressed or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.title = repr(str(path))
        self._raw: BinaryIO | None = None
        self._size = 0

    def detect_format(self) -> str:
        """The format of the file, by its name."""
        return detect_format(self.path)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        status = self.path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise InputError(
                f"{self.title} is a device or a pipe, which may never end, and not an ordinary file. Write it to a "
                "file first, or send it to standard input."
            )
        with self.path.open("rb") as raw:
            self._raw, self._size = raw, status.st_size
            try:
                yield decompress(raw, self.path)
            finally:
                self._raw = None

    @property
    def fraction(self) -> float | None:
        """The fraction of the bytes of the file that has been read."""
        if self._raw is None or self._raw.closed or not self._size:
            return None
        return min(1.0, self._raw.tell() / self._size)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the rows of a table as mappings from column to value.

    Raises:
        InputError: The file cannot be read, or its content does not fit its name.
    """
    source = FileSource(path)
    table = Layout(outcome_column=None).table(source)
    with source.reading() as stream:
        yield from table.read_records(stream)


class StreamSource(Source):
    """An open stream, such as standard input. It can be read only once."""

    def __init__(self, stream: BinaryIO, title: str = "standard input") -> None:
        self._stream = stream
        self.title = title

    def detect_format(self) -> str:
        """Plain text: a stream has no name to detect another format from."""
        return "txt"

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        yield self._stream
