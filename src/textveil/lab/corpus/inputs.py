"""A corpus: its files, folders and data sets, and their division into blocks."""

from __future__ import annotations

import io
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Protocol

from textveil.errors import ColumnError, InputError, ParameterError
from textveil.extras import require
from textveil.lab.corpus import SPLIT
from textveil.storage.atomic import hash_file
from textveil.storage.resumable import ResumableRun
from textveil.tables import FORMATS, TEXT_COLUMN, FileSource, Layout, Source, detect_format
from textveil.tables.base import list_columns
from textveil.tables.compression import SUFFIXES, strip_suffix
from textveil.tables.parquet import ParquetTable

BATCH_DOCUMENTS = 256
"""The number of documents in a batch."""


class Block(Protocol):
    """A piece of the corpus. Blocks are sent to workers, so they refer to documents and rarely hold them."""

    @property
    def size(self) -> int:
        """The number of bytes of the corpus that the block covers, for progress."""

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents in batches."""


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Complete files of any format, or a piece of one file.

    Args:
        sources: The files or the piece.
        layout: The place of the documents in a file.
        size: The number of bytes that the block covers.
        piece: What to read of a file; see ``Table.read_texts``.
    """

    sources: tuple[Source, ...]
    layout: Layout
    size: int
    piece: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> Iterator[list[str | None]]:
        """Stream the documents of every source."""
        for source in self.sources:
            table = self.layout.table(source)
            with source.reading() as stream:
                yield from table.read_texts(stream, batch_size=BATCH_DOCUMENTS, **self.piece)


class LineRange(FileSource):
    """The lines of an uncompressed file that begin between two byte positions."""

    def __init__(self, path: Path, start: int, stop: int) -> None:
        super().__init__(path)
        self._start, self._stop = start, stop
        if start:
            self.title += f" from byte {start:,} on"

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        with self.path.open("rb", buffering=0) as raw:
            raw.seek(max(0, self._start - 1))
            yield _Lines(raw, self._start, self._stop)


class _Lines(io.BufferedReader):
    """A file whose lines end with the last one that begins before a byte position."""

    def __init__(self, raw: io.FileIO, start: int, stop: int) -> None:
        super().__init__(raw)
        # The rest of a line that begins earlier is skipped.
        self._left = stop - start - (len(super().readline()) - 1 if start else 0)

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size) if self._left > 0 else b""
        self._left -= len(line)
        return line


class SentLines(FileSource):
    """Lines of a compressed file. It can only be read from its beginning, so the lines themselves are sent."""

    def __init__(self, path: Path, content: bytes, first_line: int) -> None:
        super().__init__(path)
        self._content = content
        if first_line:
            self.title += f" after line {first_line:,}"

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        yield io.BytesIO(self._content)


@dataclass(frozen=True, slots=True)
class DatasetShard:
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
                yield self._find_texts(batch)
        except (InputError, ColumnError, GeneratorExit):
            raise
        except Exception as error:  # from the library, the network or a file
            raise InputError(
                f"{self.dataset.title} stopped in shard {self.index + 1} of {self.shards} ({type(error).__name__}). "
                "Check the network, then run the same command again to resume."
            ) from error

    def _find_texts(self, batch: dict[str, list[Any]]) -> list[str | None]:
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


HUB = "hf:"
"""The prefix of the name of a Hugging Face data set."""
BLOCK_BYTES = 8 << 20
"""The approximate size of a block in bytes, where files can be divided."""
SENT_BYTES = 4 << 20
"""The approximate number of bytes of lines in a block that holds its lines. Several are in transit at once."""
_READ_BYTES = 1 << 20
_LINE_FORMATS = ("txt", "jsonl")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of the corpus in its state at the beginning of the run.

    Args:
        name: Its name as the user wrote it.
        path: Its absolute path.
        size: Its size in bytes.
        changed: Its modification time in nanoseconds.
        sha256: Its SHA-256, once it is known.
    """

    name: str
    path: Path
    size: int
    changed: int
    sha256: str | None = None

    @classmethod
    def look_at(cls, path: Path) -> InputFile:
        """Record the size and the modification time of a file."""
        try:
            status = path.stat()
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"{str(path)!r} is not a regular file. A corpus is read more than once, so save it to a file first."
            )
        return cls(str(path), path.resolve(), status.st_size, status.st_mtime_ns)

    def hash(self) -> str:
        """The SHA-256 of the file, computed if it is not known yet."""
        try:
            return self.sha256 or hash_file(self.path)
        except OSError as error:
            raise InputError(f"{str(self.path)!r} cannot be read: {error.strerror}.") from error

    def cite(self) -> dict[str, Any]:
        """The description of the file for other machines: with its hash and without its folder."""
        return {"name": self.path.name, "bytes": self.size, "sha256": self.hash()}


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of files and data sets.

    Args:
        files: The files, in order.
        datasets: Hugging Face data sets.
        column: The column that holds the documents, for formats with columns.
        format_name: The format of the files, if their names do not show it.
        skipped: The number of files of unknown format in folders.
        in_background: The number of files, the last ones, whose words only become known; see :meth:`split`.
    """

    files: tuple[InputFile, ...]
    datasets: tuple[HubDataset, ...] = ()
    column: str = TEXT_COLUMN
    format_name: str | None = None
    skipped: int = 0
    in_background: int = 0

    @classmethod
    def find(
        cls,
        names: Sequence[str | Path],
        *,
        column: str = TEXT_COLUMN,
        format_name: str | None = None,
        config: str | None = None,
        split: str = SPLIT,
        revision: str | None = None,
        output: Path | None = None,
        background: Sequence[str | Path] = (),
    ) -> Corpus:
        """Find files, folders (all their files of known format), and ``hf:`` data sets.

        An ``output`` inside one of the folders is not part of the corpus. The ``background`` has files and folders.
        """
        leave_out = () if output is None else (output.resolve(), ResumableRun(output.resolve()).folder)
        if format_name is not None:
            format_name = FORMATS.load(format_name).name
        paths: list[Path] = []
        datasets = []
        skipped = 0
        for name in names:
            if str(name).startswith(HUB):
                datasets.append(HubDataset(str(name).removeprefix(HUB), config, split, revision).pin())
            elif Path(name).is_dir():
                found, others = _search_folder(Path(name), format_name, leave_out)
                paths += found
                skipped += others
            else:
                paths.append(Path(name))
        if not names:
            raise ParameterError("The corpus is missing. Name files, folders, or hf:OWNER/NAME.")
        if (config or revision or split != SPLIT) and not datasets:
            raise ParameterError("`config`, `split` and `revision` need a data set: hf:OWNER/NAME.")
        _refuse_twice([*(path.resolve() for path in paths), *(dataset.name for dataset in datasets)])
        if format_name is None:
            for path in paths:
                detect_format(path)
        corpus = cls(tuple(map(InputFile.look_at, paths)), tuple(datasets), column, format_name, skipped)
        if not background:
            return corpus
        return corpus._join(cls.find(background, column=column, format_name=format_name, output=output))

    def _join(self, background: Corpus) -> Corpus:
        """The same corpus with files in its background."""
        if background.datasets:
            raise ParameterError("`background` must be files or folders. Save the data set to a file first.")
        files = (*self.files, *background.files)
        _refuse_twice([file.path for file in files])
        skipped = self.skipped + background.skipped
        return replace(self, files=files, skipped=skipped, in_background=len(background.files))

    def split(self) -> tuple[Corpus, Corpus | None]:
        """The corpus without its background, and the background."""
        if not self.in_background:
            return self, None
        foreground = len(self.files) - self.in_background
        return (
            replace(self, files=self.files[:foreground], in_background=0),
            replace(self, files=self.files[foreground:], datasets=(), in_background=0),
        )

    @property
    def layout(self) -> Layout:
        """The place of the documents in a file."""
        return Layout(self.column, None, self.format_name)

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)

    def estimate_plain_size(self) -> int:
        """The approximate size of the uncompressed files in bytes. Compression reduces text to about a quarter."""
        return sum(file.size * (4 if file.path.suffix.lower() in SUFFIXES else 1) for file in self.files)

    def describe(self) -> dict[str, Any]:
        """The description of the corpus that must not change between a run and its resumption."""
        return {
            "files": [[str(file.path), file.size, file.changed, file.sha256] for file in self.files],
            "data_sets": [asdict(dataset) for dataset in self.datasets],
            "column": self.column,
            "format": self.format_name,
            **({"background": self.in_background} if self.in_background else {}),
        }

    def add_hashes(self, hashes: Sequence[str]) -> Corpus:
        """The same corpus with the SHA-256 of every file."""
        files = zip(self.files, hashes, strict=True)
        return replace(self, files=tuple(replace(file, sha256=sha256) for file, sha256 in files))

    def manifest(self, digests: Sequence[str]) -> dict[str, Any]:
        """The description of the corpus for the manifest of counts.

        Args:
            digests: The SHA-256 of the documents of every shard of the data sets, in order.
        """
        return {
            "files": [{"name": file.name, "bytes": file.size, "sha256": file.hash()} for file in self.files],
            "data_sets": [asdict(dataset) for dataset in self.datasets],
            "shards_sha256": list(digests),
            "column": self.column,
            "format": self.format_name,
        }

    def cite(self) -> dict[str, Any]:
        """The description of the corpus for other machines: with hashes and without folders."""
        foreground, background = self.split()
        return {
            "files": [file.cite() for file in foreground.files],
            "data_sets": [
                {"name": Path(dataset.name).name if dataset.files else dataset.name}
                | {"config": dataset.config, "split": dataset.split, "revision": dataset.revision}
                for dataset in self.datasets
            ],
            "column": self.column,
            **({"background": [file.cite() for file in background.files]} if background else {}),
        }

    def blocks(self, workers: int) -> Iterator[tuple[str, Block]]:
        """All blocks in order, with their names.

        Compressed files cannot be divided. If there are at least as many of them as workers, each worker reads complete
        files. Otherwise, this process reads them and sends their lines to the workers.
        """
        whole = {file.path for file in self.files if self._must_be_read_whole(file)}
        sent = whole if len(whole) < workers else set()
        small: list[InputFile] = []
        first = gathered = 0
        for number, file in enumerate(self.files):
            if file.size >= BLOCK_BYTES // 2 or file.path in sent:
                for index, block in enumerate(self._send(file) if file.path in sent else self._divide(file)):
                    yield f"{number:06}-{index:06}", block
                continue
            first = first if small else number
            small.append(file)
            gathered += file.size
            if gathered >= BLOCK_BYTES:
                yield f"{first:06}-000000", self._gather(small)
                small, gathered = [], 0
        if small:
            yield f"{first:06}-000000", self._gather(small)
        for number, dataset in enumerate(self.datasets, start=len(self.files)):
            shards = max(1, int(dataset.open().num_shards))
            for index in range(shards):
                yield f"{number:06}-{index:06}", DatasetShard(dataset, self.column, shards, index)

    def _must_be_read_whole(self, file: InputFile) -> bool:
        return file.path.suffix.lower() in SUFFIXES and self._format_of(file) in _LINE_FORMATS

    def _format_of(self, file: InputFile) -> str:
        return self.format_name or detect_format(file.path)

    def _gather(self, files: Sequence[InputFile]) -> Block:
        """A block of complete files."""
        sources = tuple(FileSource(file.path) for file in files)
        return FileBlock(sources, self.layout, sum(file.size for file in files))

    def _divide(self, file: InputFile) -> Iterator[Block]:
        """The blocks of a large file, several if its format allows it."""
        format_name = self._format_of(file)
        if strip_suffix(file.path) != file.path or format_name not in (*_LINE_FORMATS, "parquet"):
            yield self._gather([file])
        elif format_name == "parquet":
            yield from self._divide_row_groups(file)
        else:
            for start in range(0, file.size, BLOCK_BYTES):
                stop = min(start + BLOCK_BYTES, file.size)
                lines = LineRange(file.path, start, stop)
                yield FileBlock((lines,), self.layout, stop - start, {"head": start == 0})

    def _divide_row_groups(self, file: InputFile) -> Iterator[Block]:
        source = FileSource(file.path)
        table = self.layout.table(source)
        assert isinstance(table, ParquetTable)  # noqa: S101 # only Parquet files get here
        with source.reading() as stream:
            sizes = table.group_sizes(stream)
        start = 0
        for stop in range(1, len(sizes) + 1):
            if stop == len(sizes) or sum(sizes[start:stop]) >= BLOCK_BYTES:
                share = file.size * sum(sizes[start:stop]) // max(1, sum(sizes))
                yield FileBlock((source,), self.layout, share, {"groups": range(start, stop)})
                start = stop

    def _send(self, file: InputFile) -> Iterator[Block]:
        """Read a compressed file in this process, and cut it at line ends."""
        source = FileSource(file.path)
        lines, told = 0, 0.0
        rest = b""

        def cut(end: int, fraction: float) -> FileBlock:
            sent = SentLines(file.path, rest[:end], lines)
            return FileBlock((sent,), self.layout, int(file.size * (fraction - told)), {"head": lines == 0})

        with source.reading() as stream:
            while data := stream.read(_READ_BYTES):
                rest += data
                if len(rest) < SENT_BYTES or (end := rest.rfind(b"\n") + 1) == 0:
                    continue
                fraction = source.fraction or told
                yield cut(end, fraction)
                lines, told, rest = lines + rest.count(b"\n", 0, end), fraction, rest[end:]
        if rest or not lines:
            yield cut(len(rest), 1)


def _refuse_twice(names: Sequence[str | Path]) -> None:
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ParameterError(f"{str(twice)!r} is in the corpus twice. Name it once.")


def _search_folder(folder: Path, format_name: str | None, leave_out: Sequence[Path]) -> tuple[list[Path], int]:
    """The files of a folder and its subfolders, except hidden ones; and the number of those of unknown format."""
    files: list[Path] = []
    seen: set[Path] = set()

    def fail(error: OSError) -> None:
        raise InputError(f"{str(error.filename)!r} cannot be read: {error.strerror}. Check the permissions.") from error

    for place, folders, names in os.walk(folder, onerror=fail, followlinks=True):
        real = Path(place).resolve()
        if real in seen or real in leave_out:  # a circular link, or the output
            folders.clear()
            continue
        seen.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(place) / name for name in names if not name.startswith(".")]
    files.sort()
    known = [path for path in files if format_name or strip_suffix(path).suffix.lower().removeprefix(".") in FORMATS]
    if not known:
        raise InputError(f"The folder {str(folder)!r} has no file of a known format: {', '.join(FORMATS)}.")
    return known, len(files) - len(known)
