"""Sources of rows: files and streams, with the format detected from the file name."""

from __future__ import annotations

import lzma
import stat
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from textveil.errors import InputError, ParameterError, TextveilError
from textveil.registry import Registry
from textveil.tables.base import OUTCOME_COLUMN, TEXT_COLUMN, Rows, Table
from textveil.tables.compression import SUFFIXES, decompress, strip_suffix

FORMATS: Registry[type[Table]] = Registry("format")
"""The file formats by name, each a kind of ``Table``."""
FORMATS.register("txt", "textveil.tables.delimited:LinesTable", aliases=["text"])
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
        written.convert_from(table)
        return written


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
