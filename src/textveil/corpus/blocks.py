"""Blocks: pieces of a corpus that workers read, of a few megabytes each if the format allows it."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from textveil.corpus import SPLIT
from textveil.errors import ColumnError, InputError
from textveil.extras import require
from textveil.tables import FileSource, Layout, Source
from textveil.tables.base import list_columns
from textveil.tables.parquet import ParquetTable

BATCH_DOCUMENTS = 256
"""The number of documents in a batch."""


class Block(ABC):
    """A piece of the corpus. Blocks are sent to workers, so they refer to documents and rarely hold them."""

    size: int
    """The number of bytes of the corpus that the block covers, for progress."""

    @abstractmethod
    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents in batches."""


@dataclass(frozen=True, slots=True)
class WholeFiles(Block):
    """Complete files of any format."""

    paths: tuple[Path, ...]
    layout: Layout
    size: int

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents of every file."""
        for path in self.paths:
            source = FileSource(path)
            with source.reading() as stream:
                yield from self.layout.table(source).read_texts(stream, batch_size=BATCH_DOCUMENTS)


@dataclass(frozen=True, slots=True)
class LineRange(Block):
    """The lines of an uncompressed file that begin between two byte positions."""

    path: Path
    layout: Layout
    start: int
    stop: int

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of bytes between the positions."""
        return self.stop - self.start

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents of these lines."""
        source = _RangeSource(self.path, self.start, self.stop)
        table = self.layout.table(source)
        with source.reading() as stream:
            yield from table.read_texts(stream, batch_size=BATCH_DOCUMENTS, head=self.start == 0)


class _RangeSource(FileSource):
    """The lines of a file that begin between two byte positions."""

    def __init__(self, path: Path, start: int, stop: int) -> None:
        super().__init__(path)
        self._start, self._stop = start, stop
        if start:
            self.title += f" from byte {start:,} on"

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        with self.path.open("rb") as raw:
            raw.seek(max(0, self._start - 1))
            if self._start:
                raw.readline()  # skip the rest of a line that begins earlier
            yield io.BufferedReader(_Lines(raw, self._stop))


class _Lines(io.RawIOBase):
    """The lines of a file from its current position that begin before a byte position."""

    def __init__(self, raw: IO[bytes], stop: int) -> None:
        self._raw, self._stop = raw, stop
        self._ended = raw.tell() >= stop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        position = self._raw.tell()
        if self._ended:
            return 0
        data = self._raw.read(len(buffer))  # the last line is the one that holds the byte before the stop
        if position + len(data) >= self._stop:
            end = data.find(b"\n", max(0, self._stop - 1 - position))
            if end >= 0:
                data, self._ended = data[: end + 1], True
        buffer[: len(data)] = data
        return len(data)


@dataclass(frozen=True, slots=True)
class SentLines(Block):
    """Lines of a compressed file. It can only be read from its beginning, so the block holds the lines themselves."""

    path: Path
    layout: Layout
    content: bytes
    first_line: int
    size: int

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents of these lines."""
        source = _BytesSource(self.path, self.content, self.first_line)
        table = self.layout.table(source)
        with source.reading() as stream:
            yield from table.read_texts(stream, batch_size=BATCH_DOCUMENTS, head=self.first_line == 0)


class _BytesSource(Source):
    def __init__(self, path: Path, content: bytes, first_line: int) -> None:
        self.title = repr(str(path)) + (f" after line {first_line:,}" if first_line else "")
        self._path, self._content = path, content

    def detect_format(self) -> str:
        return FileSource(self._path).detect_format()

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        yield io.BytesIO(self._content)


@dataclass(frozen=True, slots=True)
class RowGroups(Block):
    """A range of row groups of a Parquet file."""

    path: Path
    layout: Layout
    start: int
    stop: int
    size: int

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents of these row groups."""
        source = FileSource(self.path)
        table = self.layout.table(source)
        assert isinstance(table, ParquetTable)  # noqa: S101 # only Parquet files are divided into row groups
        with source.reading() as stream:
            groups = range(self.start, self.stop)
            yield from table.read_texts(stream, batch_size=BATCH_DOCUMENTS, groups=groups)


@dataclass(frozen=True, slots=True)
class DatasetShard(Block):
    """A shard of a Hugging Face data set, which is streamed."""

    dataset: HubDataset
    column: str
    shards: int
    index: int
    size: int = 1

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents of this shard."""
        stream = self.dataset.open()
        if self.shards > 1:
            stream = stream.shard(num_shards=self.shards, index=self.index)
        try:
            for batch in stream.iter(batch_size=BATCH_DOCUMENTS):
                yield self._texts(batch)
        except (InputError, ColumnError, GeneratorExit):
            raise
        except Exception as error:  # from the library, the network or a file
            raise InputError(
                f"{self.dataset.title} stopped in shard {self.index + 1} of {self.shards} ({type(error).__name__}). "
                "Check the network, then run the same command again to resume."
            ) from error

    def _texts(self, batch: dict[str, list[Any]]) -> list[str | None]:
        if self.column not in batch:
            raise ColumnError(
                f"{self.dataset.title} has no column {self.column!r}. It has: {list_columns(list(batch))}. "
                "Choose one with `column`."
            )
        texts = batch[self.column]
        if not all(text is None or isinstance(text, str) for text in texts):
            raise InputError(f"{self.dataset.title}: the column {self.column!r} does not hold text.")
        return texts


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A data set of the Hugging Face Hub, or a local folder with the same structure."""

    name: str
    config: str | None = None
    split: str = SPLIT
    revision: str | None = None
    files: tuple[tuple[str, int, int], ...] = ()
    """The names, sizes and modification times of the files of a local folder. They show whether it has changed."""

    def pin(self) -> HubDataset:
        """The data set in its present state: for one on the Hub, its latest commit, so that all workers read the same.

        If the Hub does not answer, the data set stays as it is. Opening it then explains the reason.
        """
        folder = Path(self.name)
        if folder.is_dir():
            paths = sorted(path for path in folder.rglob("*") if path.is_file())
            status = [(str(path.relative_to(folder)), path.stat()) for path in paths]
            files = tuple((name, found.st_size, found.st_mtime_ns) for name, found in status)
            return replace(self, name=str(folder.resolve()), files=files)
        hub = require("huggingface_hub", extra="prepare")
        try:
            return replace(self, revision=hub.HfApi().dataset_info(self.name, revision=self.revision).sha)
        except Exception:  # noqa: BLE001 # the library raises many kinds
            return self

    @property
    def title(self) -> str:
        """Its name in error messages."""
        return f"The data set {self.name!r}"

    def open(self) -> Any:
        """Open the data set for streaming."""
        datasets = require("datasets", extra="prepare")
        datasets.disable_progress_bars()
        try:
            return datasets.load_dataset(
                self.name, self.config, split=self.split, revision=self.revision, streaming=True
            )
        except Exception as error:  # the library raises many kinds, with long messages
            raise InputError(
                f"{self.title} cannot be opened ({type(error).__name__}). Check its name, `config`, `split` and the "
                "network. Or download its files and name their folder."
            ) from error
