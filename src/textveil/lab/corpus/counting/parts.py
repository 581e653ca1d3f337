"""The tasks of counting, which run on any worker: hash a file, number the words of a block, pair a part, merge a range.

A task writes its results to files, and then a mark that completes it. If it runs twice, it writes the same files again.

    hashes/FILE.json        the mark of a file of the corpus, with its SHA-256
    1/BLOCK.json            the mark of a block, with its parts and the numbers of its documents and words
    1/PART.keys             the sorted distinct words of a part with their counts (a run)
    1/PART.npy              the documents of the part, as indices into these words
    1/table/000000.keys     the frequent words of a range
    1/table.run             the frequent words of the corpus; the number of a word is its row
    2/PART.json, .keys ...  the same for n-grams of two words, whose keys are pairs of numbers
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

from textveil.errors import InputError
from textveil.execution import Executor
from textveil.lab.corpus.counting.runs import (
    Key,
    KeyRange,
    Keys,
    PairKeys,
    Run,
    WordKeys,
    find_rows,
    merge_range,
    read_run,
    write_run,
)
from textveil.lab.corpus.counting.words import Ids, WordNumbering, pair_neighbors
from textveil.lab.corpus.inputs import Block, InputFile
from textveil.storage.atomic import writing
from textveil.storage.resumable import damaged_file

DISTINCT_WEIGHT = 4
"""The memory of a new distinct word, in positions."""
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the corpus on one level: its name, and the index of the run of its keys."""

    name: str
    tokens: int
    firsts: list[Key]
    sizes: list[int]
    places: list[int]

    def run(self, folder: Path) -> Run:
        """The run of its keys."""
        return Run(folder / f"{self.name}.keys", self.firsts, self.sizes, self.places)


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of a finished task."""

    size: int = 0
    documents: int = 0
    distinct: int = 0
    rows: int = 0
    digest: str = ""
    parts: list[Part] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """The number of words of all parts."""
        return sum(part.tokens for part in self.parts)

    def write(self, path: Path) -> Mark:
        """Write the mark, which completes the task."""
        with writing(path) as stream:
            stream.write(json.dumps(asdict(self)).encode())
        return self

    @classmethod
    def load(cls, path: Path) -> Mark:
        """Read a mark."""
        try:
            values: dict[str, Any] = json.loads(path.read_bytes())
            parts = [Part(**part) for part in values.pop("parts")]
            return cls(**values, parts=parts)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise damaged_file(path) from error


def _write_numbers(path: Path, numbers: Ids) -> None:
    with writing(path) as stream:
        # np.save would hide the reason of a failure.
        write_array_header_1_0(stream, header_data_from_array_1_0(numbers))
        stream.write(numbers.data)


def _load_numbers(path: Path) -> Ids:
    try:
        numbers: Ids = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise damaged_file(path) from error
    return numbers


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"A worker cannot see {str(folder)!r}. Put `output` where all machines see it.")


@dataclass(frozen=True, slots=True)
class BlockTask:
    """Number the words of a block, in parts that fit into memory.

    If the block is not from a file, its documents are hashed.
    """

    name: str
    block: Block
    folder: Path
    positions: int
    hashed: bool

    def run(self) -> Mark:
        """Write the parts and then the mark."""
        _check_folder(self.folder)
        numbering = WordNumbering()
        parts: list[Part] = []
        documents = 0
        digest = hashlib.sha256()
        for texts in self.block.read():
            present = [text for text in texts if text is not None]
            documents += len(present)
            if self.hashed:
                for text in present:
                    digest.update(text.encode(errors="surrogatepass") + b"\0")
            numbering.add(present)
            if numbering.positions + DISTINCT_WEIGHT * numbering.distinct >= self.positions:
                parts.append(self._write(numbering, len(parts)))
                numbering = WordNumbering()
        if numbering.positions:
            parts.append(self._write(numbering, len(parts)))
        mark = Mark(self.block.size, documents, parts=parts, digest=digest.hexdigest() if self.hashed else "")
        return mark.write(self.folder / f"{self.name}.json")

    def _write(self, numbering: WordNumbering, index: int) -> Part:
        name, tokens = f"{self.name}-{index:06}", numbering.tokens
        words, counts, numbers = numbering.finish()
        _write_numbers(self.folder / f"{name}.npy", numbers)
        run = write_run(self.folder / f"{name}.keys", WordKeys.from_words(words), counts)
        return Part(name, tokens, run.firsts, run.sizes, run.places)


@dataclass(frozen=True, slots=True)
class PairTask:
    """Find and count the n-grams of a part that may be frequent."""

    name: str
    tokens: int
    shorter: Path
    folder: Path
    table: Path
    longest: bool

    def run(self) -> Mark:
        """Write the part on this level and then the mark."""
        _check_folder(self.folder)
        frequent = find_rows(_load_keys(self.shorter / f"{self.name}.keys"), self.table)
        pairs = pair_neighbors(_load_numbers(self.shorter / f"{self.name}.npy"), frequent)
        if not self.longest:
            _write_numbers(self.folder / f"{self.name}.npy", pairs.numbers)
        run = write_run(self.folder / f"{self.name}.keys", PairKeys(pairs.keys), pairs.counts)
        part = Part(self.name, self.tokens, run.firsts, run.sizes, run.places)
        return Mark(parts=[part]).write(self.folder / f"{self.name}.json")


def _load_keys(path: Path) -> Keys:
    """All keys of a run."""
    batches = [keys for keys, _ in read_run(path)]
    return type(batches[0]).join(batches) if batches else PairKeys(np.empty(0, np.uint64))


@dataclass(frozen=True, slots=True)
class MergeTask:
    """Add up the counts of a range of keys over all parts."""

    name: str
    folder: Path
    keys: KeyRange
    min_count: int

    def run(self) -> Mark:
        """Write the frequent keys and then the mark."""
        _check_folder(self.folder)
        keys, counts, distinct = merge_range(self.keys, self.min_count)
        run = write_run(self.folder / f"{self.name}.keys", keys, counts)
        return Mark(rows=run.rows, distinct=distinct).write(self.folder / f"{self.name}.json")


@dataclass(frozen=True, slots=True)
class HashTask:
    """Compute the SHA-256 of a file of the corpus."""

    file: InputFile
    mark: Path

    def run(self) -> Mark:
        """Write the mark with the SHA-256."""
        _check_folder(self.mark.parent)
        return Mark(self.file.size, digest=self.file.hash()).write(self.mark)


Task = HashTask | BlockTask | PairTask | MergeTask


def do_task(task: Task) -> Mark:
    """Run a task on any worker, and then release its memory."""
    try:
        return task.run()
    finally:
        release_memory()


def run_tasks(executor: Executor, tasks: Iterable[tuple[Path, Task]]) -> Iterator[Mark]:
    """Run the tasks that have no mark yet; the marks of all tasks, in any order.

    Args:
        executor: Where the work runs.
        tasks: The tasks, each with the path of its mark.
    """
    finished: list[Path] = []

    def missing() -> Iterator[Task]:
        for path, task in tasks:
            if path.exists():
                finished.append(path)
            else:
                yield task

    for mark in executor.map(do_task, missing()):
        while finished:  # first, so that progress resumes where it was
            yield Mark.load(finished.pop())
        yield mark
    yield from map(Mark.load, finished)


def release_memory() -> None:
    """Return freed memory to the system. By default, the C library and Arrow would keep it."""
    pa.default_memory_pool().release_unused()
    if _TRIM is not None:
        _TRIM(0)
