"""Counting all frequent n-grams of a corpus: level by level, exactly, in bounded memory, resumable."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.atomic import output_error, sync_folder, writing
from textveil.corpus import MEMORY, MIN_COUNT
from textveil.corpus.blocks import DatasetShard
from textveil.corpus.inputs import Corpus, hash_file
from textveil.corpus.ngrams import FORMAT, LONGEST, MANIFEST, NgramCounts, table_name, write_table
from textveil.corpus.ngrams import hash_file as hash_table
from textveil.corpus.pairs import split_key
from textveil.corpus.parts import BlockTask, Mark, MergeTask, PairTask, Part, Task, do_task
from textveil.corpus.runs import PairKeys, map_words, plan_ranges, read_run
from textveil.corpus.words import Numbers
from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.execution import Executor
from textveil.progress import Progress, ignore_progress
from textveil.unfinished import Unfinished
from textveil.version import __version__

PROCESS_BYTES = 80 << 20
"""What a process has before it has any work: Python, NumPy, Arrow."""
LEAST_BYTES = 32 << 20
"""What a worker needs on top of that, to be of use."""
POSITION_BYTES = 80
"""What a word costs while its part is worked on."""
ROW_BYTES = 112
"""What a row of a run costs while it is merged."""
MOST_POSITIONS = 1 << 21
"""A larger part would not be faster: see :func:`textveil.corpus.pairs.pair_neighbours`."""


WORDS = "words.rows"
LAST_WORDS = "last_words.rows"


class Limits(NamedTuple):
    """How much a worker may hold at a time."""

    positions: int
    rows: int
    workers: int

    @classmethod
    def within(cls, memory: int, executor: Executor) -> Limits:
        """Divide memory over the workers of an executor."""
        share = (memory - executor.processes * PROCESS_BYTES) // executor.workers
        if share < LEAST_BYTES:
            least = executor.processes * PROCESS_BYTES + executor.workers * LEAST_BYTES
            raise ParameterError(
                f"{executor.workers} workers need at least {least >> 20}M of memory together. Raise --memory, or lower "
                "--workers."
            )
        return cls(min(share // POSITION_BYTES, MOST_POSITIONS), share // ROW_BYTES, executor.workers)


class _Unfinished(Unfinished):
    our_names = re.compile(r"job\.json|hashes\.json|counts|[1-4]|\..*\.unfinished")
    how_to_resume = "with the same command"


class Level(NamedTuple):
    """The frequent n-grams of one length: the pieces of their table, and how many there are."""

    pieces: list[Path]
    rows: int
    distinct: int


@dataclass(frozen=True, slots=True)
class CountJob:
    """Counts the n-grams of one to four words.

    Args:
        corpus: What to read.
        output: The folder to write; it gets its name when it is complete.
        min_count: N-grams that occur less often are left out.
        memory: The bytes of memory that all processes together may use, about.
        overwrite: Replace what is there, and forget an unfinished run.
    """

    corpus: Corpus
    output: Path
    min_count: int = MIN_COUNT
    memory: int = MEMORY
    overwrite: bool = False

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> NgramCounts:
        """Count, or count what is left of it."""
        if self.min_count < 1:
            raise ParameterError(f"The 'min_count' parameter must be at least 1. Got {self.min_count} instead.")
        limits = Limits.within(self.memory, executor)
        check_output(self.output, MANIFEST)
        unfinished = _Unfinished(self.output.resolve())
        settings = {
            "textveil": __version__,
            "min_count": self.min_count,
            "memory": self.memory,
            **self.corpus.describe(),
        }
        with unfinished.locked():
            job = unfinished.start(settings, limits._asdict, resume=not self.overwrite, overwrite=self.overwrite)
            limits = Limits(*(job[name] for name in Limits._fields))
            counting = _Counting(self, limits, unfinished, executor, progress)
            try:
                counting.run()
            except _UselessCorpusError:
                unfinished.remove()  # there is nothing to go on from
                raise
            _put_in_place(unfinished.folder / "counts", unfinished.output, overwrite=self.overwrite)
            unfinished.remove()
        return NgramCounts.load(self.output)


class _UselessCorpusError(InputError):
    """A corpus with too few words."""


def _put_in_place(folder: Path, output: Path, *, overwrite: bool) -> None:
    """Give the finished folder its name; what has it may be replaced if told so, or if it is the same."""
    manifest = output / MANIFEST
    if output.exists() and not overwrite and not _is_same(manifest, folder / MANIFEST):
        raise OutputExistsError(f"{str(output)!r} has appeared during the run. Move it away, then run again.")
    try:
        if output.exists():
            shutil.rmtree(output)
        folder.rename(output)
    except OSError as error:
        raise output_error(output, error) from error
    sync_folder(output.parent)


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and one.read_bytes() == other.read_bytes()


def check_output(output: Path, manifest: str) -> None:
    """Refuse an output folder that cannot be made, or that is there and is not one of ours, to be replaced."""
    if not output.parent.is_dir():
        raise ParameterError(f"There is no folder {str(output.parent)!r}. Make it first.")
    if output.exists() and not (output / manifest).is_file():
        raise OutputExistsError(f"{str(output)!r} exists and has no {manifest}. Choose another name.")


@dataclass(slots=True)
class _Counting:
    """One run of a job."""

    job: CountJob
    limits: Limits
    unfinished: Unfinished
    executor: Executor
    progress: Progress

    def run(self) -> None:
        """Count level after level, then write the tables."""
        hashes = self._hash_files()
        blocks = self._number_words()
        tokens = sum(mark.tokens for mark in blocks)
        if tokens < LONGEST:
            raise _UselessCorpusError(
                f"The corpus has {tokens} words: too few to count n-grams of {LONGEST}. Check the files"
                + (f" and the column {self.job.corpus.column!r}." if tokens == 0 else ".")
            )
        parts = [part for mark in blocks for part in mark.parts]
        levels: list[Level] = []
        for length in range(1, LONGEST + 1):
            if length > 1:
                parts = self._pair(length, parts, levels[-1])
            levels.append(self._merge(length, parts))
            if length > 1:
                _remove_files(self._folder(length - 1))
        self._write_tables(levels, blocks, hashes)

    def _folder(self, length: int) -> Path:
        folder = self.unfinished.folder / str(length)
        try:
            (folder / "table").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(folder, error) from error
        return folder

    def _hash_files(self) -> dict[str, str]:
        name = "hashes.json"
        if (self.unfinished.folder / name).exists():
            return self.unfinished.read_json(name)
        hashes: dict[str, str] = {}
        for path, digest in self.executor.map(hash_file, self.job.corpus.files):
            hashes[path] = digest
            self.progress("hashing files", len(hashes), len(hashes) / len(self.job.corpus.files))
        self.unfinished.write_json(name, hashes)
        return hashes

    def _number_words(self) -> list[Mark]:
        """Read the corpus."""
        folder = self._folder(1)
        names: list[str] = []

        def tasks() -> Iterator[tuple[Path, Task]]:
            for name, block in self.job.corpus.blocks(self.limits.workers):
                names.append(name)
                yield (
                    folder / f"{name}.json",
                    BlockTask(name, block, folder, self.limits.positions, hashed=isinstance(block, DatasetShard)),
                )

        size = self.job.corpus.size
        done = tokens = 0
        for mark in self._do(tasks()):
            done += mark.size
            tokens += mark.tokens
            self.progress("reading", tokens, min(1.0, done / size) if size else None)
        return [Mark.load(folder / f"{name}.json") for name in names]

    def _pair(self, length: int, parts: Sequence[Part], shorter: Level) -> list[Part]:
        """Find the n-grams of every part that may be frequent."""
        folder, before = self._folder(length), self._folder(length - 1)
        tasks = (
            (
                folder / f"{part.name}.json",
                PairTask(part, before, folder, shorter.pieces, longest=length == LONGEST),
            )
            for part in parts
        )
        if not (folder / "table.json").exists():
            tokens, total = 0, sum(part.tokens for part in parts)
            for mark in self._do(tasks):
                tokens += mark.tokens
                self.progress(f"counting {length}-grams", tokens, tokens / total)
        return [part for name in parts for part in Mark.load(folder / f"{name.name}.json").parts]

    def _merge(self, length: int, parts: Sequence[Part]) -> Level:
        """Add up what the parts have counted."""
        folder = self._folder(length)
        table = folder / "table"
        finished = folder / "table.json"
        rows = self.limits.rows // 2 if length == 1 else self.limits.rows  # a word is longer than a pair of numbers
        ranges = plan_ranges([part.run(folder) for part in parts], rows)
        names = [f"{number:06}" for number in range(len(ranges))]
        if not finished.exists():
            tasks = (
                (table / f"{name}.json", MergeTask(name, table, keys, self.job.min_count))
                for name, keys in zip(names, ranges, strict=True)
            )
            found = 0
            for done, mark in enumerate(self._do(tasks), start=1):
                found += mark.rows
                self.progress(f"merging {length}-grams", found, done / len(ranges))
            marks = [Mark.load(table / f"{name}.json") for name in names]
            Mark(rows=sum(mark.rows for mark in marks), distinct=sum(mark.distinct for mark in marks)).write(finished)
        total = Mark.load(finished)
        return Level([table / f"{name}.keys" for name in names], total.rows, total.distinct)

    def _do(self, tasks: Iterable[tuple[Path, Task]]) -> Iterator[Mark]:
        """Do the tasks that have left no mark yet; the marks of all, as they come."""
        marked: list[Path] = []

        def missing() -> Iterator[Task]:
            for path, task in tasks:
                if path.exists():
                    marked.append(path)
                else:
                    yield task

        yield from self.executor.map(do_task, missing())
        for path in marked:
            yield Mark.load(path)

    def _write_tables(self, levels: Sequence[Level], blocks: Sequence[Mark], hashes: dict[str, str]) -> None:
        """Write the n-grams with their words, and the manifest."""
        folder = self.unfinished.folder / "counts"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir()
        except OSError as error:
            raise output_error(folder, error) from error
        tables: dict[str, Any] = {}
        for length, level in enumerate(levels, start=1):
            path = folder / table_name(length)
            if length == 1:
                write_table(path, ("ngram", "count"), _word_blocks(level))
            else:
                write_table(path, ("ngram", "count", "prefix", "suffix"), self._ngram_blocks(length, levels))
            tables[str(length)] = {"file": path.name, "rows": level.rows, "sha256": hash_table(path)}
            self.progress("writing tables", sum(table["rows"] for table in tables.values()), length / LONGEST)
        manifest = {
            "format": FORMAT,
            "tokens": sum(mark.tokens for mark in blocks),
            "documents": sum(mark.documents for mark in blocks),
            "distinct_words": levels[0].distinct,
            "min_count": self.job.min_count,
            "tables": tables,
            "corpus": self.job.corpus.manifest(hashes, [mark.digest for mark in blocks]),
            "versions": {"textveil": __version__, **{name: version(name) for name in ("numpy", "pyarrow")}},
        }
        with writing(folder / MANIFEST) as stream:
            stream.write((json.dumps(manifest, indent=2) + "\n").encode())

    def _ngram_blocks(self, length: int, levels: Sequence[Level]) -> Iterator[Sequence[Any]]:
        """The columns of a table, its n-grams put together from words."""
        import pyarrow as pa
        import pyarrow.compute as pc

        words = map_words(levels[0].pieces, self._folder(1)).to_arrow()
        space = pa.scalar(" ", words.type)
        shorter = _WordRows(self._folder(length - 1), length - 1, levels[length - 2].rows)
        folder = self._folder(length)
        with writing(folder / WORDS) as all_words, writing(folder / LAST_WORDS) as last_words:
            for piece in levels[length - 1].pieces:
                for keys, counts in read_run(piece):
                    assert isinstance(keys, PairKeys)  # noqa: S101 # as every run of this level
                    prefix, suffix = split_key(keys.values)
                    rows = np.column_stack((shorter.words(prefix), shorter.last_words(suffix)))
                    all_words.write(rows.tobytes())
                    last_words.write(rows[:, -1].tobytes())
                    ngrams = pc.binary_join_element_wise(*(words.take(pa.array(column)) for column in rows.T), space)
                    yield ngrams.cast(pa.string()), counts, prefix, suffix


class _WordRows:
    """The words of n-grams of one length, as rows of the table of words; on disk, because n-grams may be many."""

    def __init__(self, folder: Path, length: int, rows: int) -> None:
        self._length = length
        self._path = folder / WORDS
        self._last = np.memmap(folder / LAST_WORDS, np.uint32, "r") if rows and length > 1 else None

    def words(self, rows: Numbers) -> Numbers:
        """All words of these n-grams, whose rows must be in order."""
        if self._length == 1:
            return rows[:, None]
        first, last = int(rows[0]), int(rows[-1])
        width = 4 * self._length
        read = np.fromfile(self._path, np.uint32, (last - first + 1) * self._length, offset=first * width)
        return read.reshape(-1, self._length)[rows - first]

    def last_words(self, rows: Numbers) -> Numbers:
        """The last word of each of these n-grams."""
        return rows if self._last is None else np.asarray(self._last[rows])


def _word_blocks(level: Level) -> Iterator[Sequence[Any]]:
    import pyarrow as pa

    for piece in level.pieces:
        for keys, counts in read_run(piece):
            yield keys.to_arrow().cast(pa.string()), counts


def _remove_files(folder: Path) -> None:
    """Drop what only the next level needed; the marks and the table stay."""
    for path in [*folder.glob("*.npy"), *folder.glob("*.keys")]:
        path.unlink()
