"""Counting all frequent n-grams of a corpus: exactly, level by level, in bounded memory, with resumption."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textveil.errors import InputError, OutputExistsError, ParameterError, TextveilError
from textveil.execution import Executor
from textveil.lab.corpus import MEMORY, MIN_COUNT
from textveil.lab.corpus.counting.ngrams import (
    FORMAT,
    MANIFEST,
    TABLE_COLUMNS,
    NgramCounts,
    check_output,
    output_files,
    table_name,
    write_manifest,
    write_table,
)
from textveil.lab.corpus.counting.parts import BlockTask, Mark, MergeTask, PairTask
from textveil.lab.corpus.counting.runs import (
    Index,
    Run,
    join_runs,
    make_ranges,
    map_words,
    plan_cuts,
    read_run,
    to_arrow,
    to_words,
)
from textveil.lab.corpus.counting.words import NONE, Ids, split_key
from textveil.lab.corpus.inputs import Block, Corpus, DatasetShard
from textveil.lab.corpus.resumption import CorpusRun, Reading, release_memory
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import hash_file, make_folder, writing
from textveil.text.matching import LONGEST
from textveil.version import __version__


class Assembly:
    """The frequent n-grams of all lengths. Their words are stored on disk as rows of the word table.

    Args:
        levels: The table of every length.
        folder: The folder for temporary files.
    """

    def __init__(self, levels: Sequence[Path], folder: Path) -> None:
        self._levels = levels
        self._folder = folder
        self._words = map_words(levels[0], folder).to_arrow()
        self._space = to_words([" "])[0]

    def read(self, length: int) -> Iterator[Sequence[Any]]:
        """Stream the columns of a table: n-gram, count, and for two or more words prefix and suffix.

        Lengths must be read in ascending order, each to its end.
        """
        return self._read_words() if length == 1 else self._read_ngrams(length)

    def _read_words(self) -> Iterator[Sequence[Any]]:
        for keys, counts in read_run(self._levels[0]):
            yield keys.to_arrow().cast(pa.string()), to_arrow(counts)

    def _read_ngrams(self, length: int) -> Iterator[Sequence[Any]]:
        shorter = self._open_rows(length - 1)
        with writing(self._path(length)) as longer:
            for keys, counts in read_run(self._levels[length - 1]):
                prefix, suffix = split_key(keys.values)
                begins, ends = (prefix, suffix) if length == 2 else (shorter[prefix], shorter[suffix, -1])
                rows = np.column_stack((begins, ends))
                if length < len(self._levels):
                    longer.write(rows.tobytes())
                yield self._spell(rows), to_arrow(counts), to_arrow(prefix), to_arrow(suffix)

    def _spell(self, rows: Ids) -> Any:
        """The n-grams whose words are in these rows."""
        columns = (self._words.take(to_arrow(column)) for column in rows.T)
        return pc.binary_join_element_wise(*columns, self._space).cast(pa.string())

    def _open_rows(self, length: int) -> Any:
        """The word rows of all n-grams of a length that was read before."""
        path = self._path(length)
        if length == 1 or path.stat().st_size == 0:
            return np.empty((0, length), np.uint32)
        return np.memmap(path, np.uint32, "r").reshape(-1, length)

    def _path(self, length: int) -> Path:
        return self._folder / f"{length}-grams.rows"


PARENT_BYTES = 112 << 20
"""The memory of this process without tasks: Python, NumPy, Arrow, and the process that starts workers."""
WORKER_BYTES = 44 << 20
"""The memory of a worker between tasks. If more is planned, tasks are smaller. Every range reads from every part, so
the time would then grow with the square of the corpus."""
INDEX_SHARE = 512
"""The bytes of the corpus for which this process needs a byte of memory: for the index of runs, and names of parts."""
LEAST_BYTES = 32 << 20
"""The least memory of a worker for its tasks."""
POSITION_BYTES = 64
"""The memory of a word while its part is counted."""
ROW_BYTES = 88
"""The memory of a row of a run while it is merged."""
MOST_POSITIONS = 1 << 21
"""The largest useful size of a part; see :func:`textveil.lab.corpus.counting.words.pair_neighbors`."""
DIVISION = 2
"""The way in which the work is divided. It rises if ranges change, so that no run is resumed with other ranges."""


class Limits(NamedTuple):
    """The numbers of positions and rows that a worker may hold in memory."""

    positions: int
    rows: int
    workers: int

    @classmethod
    def within(cls, memory: int, executor: Executor, corpus_bytes: int) -> Limits:
        """Divide the memory that a corpus of this size leaves among the workers of an executor."""
        worker = WORKER_BYTES + executor.worker_overhead
        idle = PARENT_BYTES + (executor.processes - 1) * worker + corpus_bytes // INDEX_SHARE
        share = (memory - idle) // executor.workers
        if share < LEAST_BYTES:
            least = math.ceil((idle + executor.workers * LEAST_BYTES) / (1 << 20))
            raise ParameterError(
                f"{executor.workers} workers need at least {least}M of memory together for this corpus. Raise "
                "`memory`, or lower `workers`."
            )
        return cls(min(share // POSITION_BYTES, MOST_POSITIONS), share // ROW_BYTES, executor.workers)


class _CountingRun(CorpusRun):
    """The folder of an unfinished count."""

    our_names = re.compile(f"counts|[1-{LONGEST}]")


class Blocks(NamedTuple):
    """The blocks of the corpus: their names, the words of each of their parts, and what the manifest says of them."""

    names: list[str]
    parts: dict[str, int]
    documents: int
    digests: list[str]

    @property
    def tokens(self) -> int:
        """The number of words."""
        return sum(self.parts.values())


class Level(NamedTuple):
    """The frequent n-grams of a length: their table, and their number."""

    table: Path
    rows: int
    distinct: int


@dataclass(frozen=True, slots=True)
class CountJob:
    """Counts the n-grams of one to four words.

    Args:
        corpus: The corpus.
        output: The folder to write. It appears when it is complete.
        min_count: N-grams that occur less often are left out.
        memory: The approximate number of bytes of memory that all processes together may use.
        overwrite: Replace existing counts, and start over if an unfinished run has other settings.
    """

    corpus: Corpus
    output: Path
    min_count: int = MIN_COUNT
    memory: int = MEMORY
    overwrite: bool = False

    def check(self) -> None:
        """Refuse invalid settings before anything is read."""
        if self.min_count < 1:
            raise ParameterError(f"`min_count` must be at least 1. Got {self.min_count} instead.")
        check_output(self.output, output_files())
        _CountingRun(self.output.resolve()).check(resume=not self.overwrite, overwrite=self.overwrite)

    def run(self, executor: Executor, progress: Progress = ignore_progress) -> NgramCounts:
        """Count the n-grams, or resume an unfinished run."""
        self.check()
        now = Limits.within(self.memory, executor, self.corpus.estimate_plain_size())
        unfinished = _CountingRun(self.output.resolve())
        settings = {
            "textveil": __version__,
            "division": DIVISION,
            "min_count": self.min_count,
            "memory": self.memory,
            "overwrite": self.overwrite,
        }

        def count(reading: Reading, job: Mapping[str, Any]) -> Path:
            limits = Limits(*(int(job.get(name, 1)) for name in Limits._fields))
            if now.rows < limits.rows:
                raise ParameterError(
                    f"The unfinished run was started with {limits.workers} workers. Its pieces are too large for more "
                    f"workers in the same memory. Resume with as many, or remove {str(unfinished.folder)!r}."
                )
            reading = replace(reading, workers=limits.workers)
            counts = _Counting(self, limits, unfinished.folder, reading).run()
            if self.output.exists() and not self.overwrite and not _is_same(self.output / MANIFEST, counts / MANIFEST):
                raise OutputExistsError(f"{str(self.output)!r} appeared during the run. Move it away, then run again.")
            return counts

        def is_worth_keeping(error: TextveilError) -> bool:
            return not isinstance(error, _UselessCorpusError) and any(unfinished.folder.glob("1/*.json"))

        unfinished.write(
            Reading(self.corpus, executor, progress),
            settings,
            now._asdict,
            overwrite=self.overwrite,
            build=count,
            is_worth_keeping=is_worth_keeping,
        )
        return NgramCounts.load(self.output)


class _UselessCorpusError(InputError):
    """The corpus has too few words."""


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and one.read_bytes() == other.read_bytes()


@dataclass(frozen=True, slots=True)
class _Counting:
    """A run of a :class:`CountJob` in a folder."""

    job: CountJob
    limits: Limits
    folder: Path
    reading: Reading

    def run(self) -> Path:
        """Count level after level; the folder of the tables."""
        blocks = self._number_words()
        if blocks.tokens < LONGEST:
            raise _UselessCorpusError(
                f"The corpus has {blocks.tokens} words, too few for n-grams of {LONGEST} words. Check the files"
                + (f" and the column {self.job.corpus.column!r}." if blocks.tokens == 0 else ".")
            )
        levels = [self._merge(1, blocks.names)]
        for length in range(2, LONGEST + 1):
            self._pair(length, blocks.parts, levels[-1])
            levels.append(self._merge(length, blocks.parts))
            _remove_files(self._find(length - 1))
        return self._write_tables(levels, blocks)

    def _find(self, length: int) -> Path:
        """The folder of a level."""
        folder = self.folder / str(length)
        make_folder(folder / "table")
        return folder

    def _number_words(self) -> Blocks:
        """Number the words of all blocks."""

        def make(output: Path, block: Block) -> BlockTask:
            return BlockTask(output, block.size, block, self.limits.positions, isinstance(block, DatasetShard))

        return _read_blocks(self.reading.run_blocks("reading", self._find(1), make))

    def _pair(self, length: int, parts: Mapping[str, int], shorter: Level) -> None:
        """Find and count the n-grams of every part that may be frequent."""
        folder, before = self._find(length), self._find(length - 1)
        tasks = (
            PairTask(folder / f"{name}.json", tokens, before, shorter.table, length == LONGEST)
            for name, tokens in parts.items()
        )
        if not (folder / "table.json").exists():
            self.reading.run(f"counting {length}-grams", tasks, sum(parts.values()))

    def _merge(self, length: int, names: Iterable[str]) -> Level:
        """Merge the counts of all parts into the table of a length; the names are those of the marks of its tasks."""
        folder = self._find(length)
        finished, whole = folder / "table.json", folder / "table.run"
        if not finished.exists():
            rows = self.limits.rows // 2 if length == 1 else self.limits.rows  # words are longer than pairs of numbers
            index = Index.gather(folder, _read_runs(folder, names))
            cuts = plan_cuts(index, rows)
            release_memory()  # of the marks, which are far larger than the index
            tasks = (
                MergeTask(folder / "table" / f"{number:06}.json", 1, keys, self.job.min_count)
                for number, keys in enumerate(make_ranges(index, cuts))
            )
            marks = self.reading.run(f"merging {length}-grams", tasks, len(cuts) + 1)
            pieces = list(map(Mark.load, marks))
            join_runs([mark.with_suffix(".keys") for mark in marks], whole)
            distinct = sum(piece.distinct for piece in pieces)
            Mark(rows=sum(piece.rows for piece in pieces), distinct=distinct).write(finished)
        total = Mark.load(finished)
        if total.rows >= NONE:
            raise ParameterError(f"There are too many frequent {length}-grams: {total.rows:,}. Raise `min_count`.")
        _remove_files(folder / "table")
        return Level(whole, total.rows, total.distinct)

    def _write_tables(self, levels: Sequence[Level], blocks: Blocks) -> Path:
        """Write the n-grams with their words, and the manifest."""
        folder = self.folder / "counts"
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
        assembly = Assembly([level.table for level in levels], self._find(1))
        tables: dict[str, Any] = {}
        for length, level in enumerate(levels, start=1):
            path = folder / table_name(length)
            columns = TABLE_COLUMNS[:2] if length == 1 else TABLE_COLUMNS
            write_table(path, columns, assembly.read(length))
            tables[str(length)] = {"file": path.name, "rows": level.rows, "sha256": hash_file(path)}
            self.reading.progress("writing tables", sum(table["rows"] for table in tables.values()), length / LONGEST)
        manifest = {
            "format": FORMAT,
            "tokens": blocks.tokens,
            "documents": blocks.documents,
            "distinct_words": levels[0].distinct,
            "min_count": self.job.min_count,
            "tables": tables,
            "corpus": self.reading.corpus.manifest(blocks.digests),
            "versions": {"textveil": __version__, **{name: version(name) for name in ("numpy", "pyarrow")}},
        }
        write_manifest(folder / MANIFEST, manifest)
        return folder


def _read_blocks(marks: Sequence[Path]) -> Blocks:
    """Add up the marks of all blocks. The indexes of their runs are left on disk until they are merged."""
    parts: dict[str, int] = {}
    documents = 0
    digests: list[str] = []
    for mark in map(Mark.load, marks):
        parts.update((part.name, part.tokens) for part in mark.parts)
        documents += mark.documents
        digests += [mark.digest] if mark.digest else []
    return Blocks([mark.stem for mark in marks], parts, documents, digests)


def _read_runs(folder: Path, names: Iterable[str]) -> Iterator[Run]:
    """The runs of all parts whose indexes are in these marks."""
    for name in names:
        yield from (part.run(folder) for part in Mark.load(folder / f"{name}.json").parts)


def _remove_files(folder: Path) -> None:
    """Remove the files of parts or pieces that are not needed any more. The marks and the table remain."""
    for path in [*folder.glob("*.npy"), *folder.glob("*.keys")]:
        path.unlink()
