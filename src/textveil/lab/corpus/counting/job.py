"""Counting all frequent n-grams of a corpus: exactly, level by level, in bounded memory, with resumption.

Tasks run on any worker: they number the words of a block, pair the words of a part, and merge a range. A task writes
its results to files, and then a mark that completes it.

    1/BLOCK.json            the mark of a block, with its parts and the numbers of its documents and words
    1/PART.keys             the sorted distinct words of a part with their counts (a run)
    1/PART.npy              the documents of the part, as indices into these words
    1/table/000000.keys     the frequent words of a range
    1/table.run             the frequent words of the corpus; the number of a word is its row
    2/PART.json, .keys ...  the same for n-grams of two words, whose keys are pairs of numbers
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

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
from textveil.lab.corpus.counting.runs import (
    Index,
    KeyRange,
    Keys,
    Run,
    WordKeys,
    find_rows,
    join_runs,
    make_ranges,
    map_words,
    merge_range,
    plan_cuts,
    read_run,
    to_arrow,
    to_words,
    write_run,
)
from textveil.lab.corpus.counting.words import NONE, Ids, WordNumbering, pair_neighbors, split_key
from textveil.lab.corpus.inputs import Block, Corpus, DatasetShard
from textveil.lab.corpus.resumption import CorpusRun, Reading, Task, loading, release_memory, save_json
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import hash_file, make_folder, writing
from textveil.text.matching import LONGEST
from textveil.version import __version__

_TABLE = "table.run"
DISTINCT_WEIGHT = 4
"""The memory of a new distinct word, in positions."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of a finished task."""

    documents: int = 0
    distinct: int = 0
    rows: int = 0
    digest: str = ""
    parts: list[Run] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """The number of words of all parts."""
        return sum(part.tokens for part in self.parts)

    def write(self, path: Path) -> Mark:
        """Write the mark, which completes the task."""
        save_json(path, asdict(self))
        return self

    @classmethod
    def load(cls, path: Path) -> Mark:
        """Read a mark."""
        with loading(path):
            values = json.loads(path.read_bytes())
            return cls(**{**values, "parts": [Run(**part) for part in values["parts"]]})


def _write_numbers(path: Path, numbers: Ids) -> None:
    with writing(path) as stream:
        # np.save would hide the reason of a failure.
        write_array_header_1_0(stream, header_data_from_array_1_0(numbers))
        stream.write(numbers.data)


def number_block(block: Block, output: Path, *, positions: int) -> int:
    """Number the words of a block, in parts that fit into memory. Progress counts words.

    If the block is not from a file, its documents are hashed.
    """
    numbering = WordNumbering()
    parts: list[Run] = []
    documents = 0
    hashed, digest = isinstance(block, DatasetShard), hashlib.sha256()
    for texts in block.read():
        present = [text for text in texts if text is not None]
        documents += len(present)
        for text in present if hashed else ():
            digest.update(text.encode(errors="surrogatepass") + b"\0")
        numbering.add(present)
        if numbering.positions + DISTINCT_WEIGHT * numbering.distinct >= positions:
            parts.append(_write_part(numbering, output, len(parts)))
            numbering = WordNumbering()
    if numbering.positions:
        parts.append(_write_part(numbering, output, len(parts)))
    return Mark(documents, parts=parts, digest=digest.hexdigest() if hashed else "").write(output).tokens


def _write_part(numbering: WordNumbering, output: Path, index: int) -> Run:
    path, tokens = output.with_name(f"{output.stem}-{index:06}.keys"), numbering.tokens
    words, counts, numbers = numbering.finish()
    _write_numbers(path.with_suffix(".npy"), numbers)
    return write_run(path, WordKeys.from_words(words), counts, tokens=tokens)


def pair_part(output: Path, *, tokens: int, shorter: Path, table: Path, longest: bool) -> int:
    """Find and count the n-grams of a part that may be frequent. Progress counts words."""
    part = shorter / f"{output.stem}.keys"
    frequent = find_rows(_load_keys(part), table)
    path = part.with_suffix(".npy")
    with loading(path):
        numbers: Ids = np.load(path, allow_pickle=False)
    pairs, counts, indices = pair_neighbors(numbers, frequent)
    if not longest:
        _write_numbers(output.with_suffix(".npy"), indices)
    run = write_run(output.with_suffix(".keys"), Keys(pairs), counts, tokens=tokens)
    return Mark(parts=[run]).write(output).tokens


def _load_keys(path: Path) -> Keys:
    """All keys of a run."""
    batches = [keys for keys, _ in read_run(path)]
    return type(batches[0]).join(batches) if batches else Keys(np.empty(0, np.uint64))


def merge_keys(output: Path, *, keys: KeyRange, min_count: int) -> int:
    """Add up the counts of a range of keys over all parts, and write the frequent keys. Progress counts these."""
    frequent, counts, distinct = merge_range(keys, min_count)
    write_run(output.with_suffix(".keys"), frequent, counts)
    return Mark(rows=len(frequent), distinct=distinct).write(output).rows


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
            counts = _Counting(self, limits, unfinished.folder, reading).run()
            if self.output.exists() and not self.overwrite and not _is_same(self.output / MANIFEST, counts / MANIFEST):
                raise OutputExistsError(f"{str(self.output)!r} appeared during the run. Move it away, then run again.")
            return counts

        def is_worth_keeping(error: TextveilError) -> bool:
            return not isinstance(error, _UselessCorpusError) and any(unfinished.folder.glob("1/*.json"))

        unfinished.write(
            Reading(self.corpus, executor, progress),
            settings,
            count,
            overwrite=self.overwrite,
            derive=now._asdict,
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
            self._pair(length, blocks.parts)
            levels.append(self._merge(length, blocks.parts))
            _remove_files(self._find(length - 1))
        return self._write_tables(levels, blocks)

    def _find(self, length: int) -> Path:
        """The folder of a level."""
        folder = self.folder / str(length)
        make_folder(folder / "table")
        return folder

    def _number_words(self) -> Blocks:
        """Number the words of all blocks, and add up their marks."""
        work = partial(number_block, positions=self.limits.positions)
        marks = self.reading.run_blocks("reading", self._find(1), work, recall=lambda output: Mark.load(output).tokens)
        parts: dict[str, int] = {}
        documents = 0
        digests: list[str] = []
        for mark in map(Mark.load, marks):  # the indexes of their runs are left on disk until they are merged
            parts.update((part.name, part.tokens) for part in mark.parts)
            documents += mark.documents
            digests += [mark.digest] if mark.digest else []
        return Blocks([mark.stem for mark in marks], parts, documents, digests)

    def _pair(self, length: int, parts: Mapping[str, int]) -> None:
        """Find and count the n-grams of every part that may be frequent."""
        folder, before = self._find(length), self._find(length - 1)
        pair = partial(pair_part, shorter=before, table=before / _TABLE, longest=length == LONGEST)
        tasks = (Task(folder / f"{name}.json", tokens, partial(pair, tokens=tokens)) for name, tokens in parts.items())
        if not (folder / "table.json").exists():
            self.reading.run(f"counting {length}-grams", tasks, sum(parts.values()))

    def _merge(self, length: int, names: Iterable[str]) -> Mark:
        """Merge the counts of all parts into the table of a length; the names are those of the marks of its tasks."""
        folder = self._find(length)
        finished, whole = folder / "table.json", folder / _TABLE
        if not finished.exists():
            rows = self.limits.rows // 2 if length == 1 else self.limits.rows  # words are longer than pairs of numbers
            index = Index.gather(folder, _read_runs(folder, names))
            cuts = plan_cuts(index, rows)
            release_memory()  # of the marks, which are far larger than the index
            merge = partial(merge_keys, min_count=self.job.min_count)
            tasks = (
                Task(folder / "table" / f"{number:06}.json", 1, partial(merge, keys=keys))
                for number, keys in enumerate(make_ranges(index, cuts))
            )
            marks = self.reading.run(
                f"merging {length}-grams", tasks, len(cuts) + 1, lambda output: Mark.load(output).rows
            )
            pieces = list(map(Mark.load, marks))
            join_runs([mark.with_suffix(".keys") for mark in marks], whole)
            distinct = sum(piece.distinct for piece in pieces)
            Mark(rows=sum(piece.rows for piece in pieces), distinct=distinct).write(finished)
        total = Mark.load(finished)
        if total.rows >= NONE:
            raise ParameterError(f"There are too many frequent {length}-grams: {total.rows:,}. Raise `min_count`.")
        _remove_files(folder / "table")
        return total

    def _write_tables(self, levels: Sequence[Mark], blocks: Blocks) -> Path:
        """Write the n-grams with their words, and the manifest."""
        folder = self.folder / "counts"
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
        assembly = Assembly([self._find(length) / _TABLE for length in range(1, LONGEST + 1)], self._find(1))
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


def _read_runs(folder: Path, names: Iterable[str]) -> Iterator[Run]:
    """The runs of all parts whose indexes are in these marks."""
    for name in names:
        yield from Mark.load(folder / f"{name}.json").parts


def _remove_files(folder: Path) -> None:
    """Remove the files of parts or pieces that are not needed any more. The marks and the table remain."""
    for path in [*folder.glob("*.npy"), *folder.glob("*.keys")]:
        path.unlink()
