"""The tasks of counting, which run on any worker: number the words of a block, pair a part, merge a range.

A task writes its results to files, and then a mark that completes it.

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
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

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
from textveil.lab.corpus.inputs import Block
from textveil.lab.corpus.resumption import Task, loading, save_json
from textveil.storage.atomic import writing

DISTINCT_WEIGHT = 4
"""The memory of a new distinct word, in positions."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the corpus on one level: its name, its number of words, and the index of the run of its keys."""

    name: str
    tokens: int
    firsts: list[Key]
    sizes: list[int]
    places: list[int]

    @classmethod
    def write(cls, name: str, tokens: int, folder: Path, keys: Keys, counts: Ids) -> Part:
        """Write the run of a part."""
        run = write_run(folder / f"{name}.keys", keys, counts)
        return cls(name, tokens, run.firsts, run.sizes, run.places)

    def run(self, folder: Path) -> Run:
        """The run of its keys."""
        return Run(folder / f"{self.name}.keys", self.firsts, self.sizes, self.places)


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of a finished task."""

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
        save_json(path, asdict(self))
        return self

    @classmethod
    def load(cls, path: Path) -> Mark:
        """Read a mark."""
        with loading(path):
            values = json.loads(path.read_bytes())
            return cls(**{**values, "parts": [Part(**part) for part in values["parts"]]})


def _write_numbers(path: Path, numbers: Ids) -> None:
    with writing(path) as stream:
        # np.save would hide the reason of a failure.
        write_array_header_1_0(stream, header_data_from_array_1_0(numbers))
        stream.write(numbers.data)


@dataclass(frozen=True, slots=True)
class BlockTask(Task):
    """Number the words of a block, in parts that fit into memory. Progress counts words.

    If the block is not from a file, its documents are hashed.
    """

    block: Block
    positions: int
    hashed: bool

    def run(self) -> int:
        """Write the parts and then the mark."""
        numbering = WordNumbering()
        parts: list[Part] = []
        documents = 0
        digest = hashlib.sha256()
        for texts in self.block.read():
            present = [text for text in texts if text is not None]
            documents += len(present)
            for text in present if self.hashed else ():
                digest.update(text.encode(errors="surrogatepass") + b"\0")
            numbering.add(present)
            if numbering.positions + DISTINCT_WEIGHT * numbering.distinct >= self.positions:
                parts.append(self._write(numbering, len(parts)))
                numbering = WordNumbering()
        if numbering.positions:
            parts.append(self._write(numbering, len(parts)))
        mark = Mark(documents, parts=parts, digest=digest.hexdigest() if self.hashed else "")
        return mark.write(self.output).tokens

    def recall(self) -> int:
        """The number of words."""
        return Mark.load(self.output).tokens

    def _write(self, numbering: WordNumbering, index: int) -> Part:
        folder, name, tokens = self.output.parent, f"{self.output.stem}-{index:06}", numbering.tokens
        words, counts, numbers = numbering.finish()
        _write_numbers(folder / f"{name}.npy", numbers)
        return Part.write(name, tokens, folder, WordKeys.from_words(words), counts)


@dataclass(frozen=True, slots=True)
class PairTask(Task):
    """Find and count the n-grams of a part that may be frequent. Its size is its number of words."""

    shorter: Path
    table: Path
    longest: bool

    def run(self) -> int:
        """Write the part on this level and then the mark."""
        folder, name = self.output.parent, self.output.stem
        frequent = find_rows(_load_keys(self.shorter / f"{name}.keys"), self.table)
        path = self.shorter / f"{name}.npy"
        with loading(path):
            numbers: Ids = np.load(path, allow_pickle=False)
        pairs = pair_neighbors(numbers, frequent)
        if not self.longest:
            _write_numbers(folder / f"{name}.npy", pairs.numbers)
        part = Part.write(name, self.size, folder, PairKeys(pairs.keys), pairs.counts)
        return Mark(parts=[part]).write(self.output).tokens


def _load_keys(path: Path) -> Keys:
    """All keys of a run."""
    batches = [keys for keys, _ in read_run(path)]
    return type(batches[0]).join(batches) if batches else PairKeys(np.empty(0, np.uint64))


@dataclass(frozen=True, slots=True)
class MergeTask(Task):
    """Add up the counts of a range of keys over all parts. Progress counts frequent keys."""

    keys: KeyRange
    min_count: int

    def run(self) -> int:
        """Write the frequent keys and then the mark."""
        keys, counts, distinct = merge_range(self.keys, self.min_count)
        write_run(self.output.with_suffix(".keys"), keys, counts)
        return Mark(rows=len(keys), distinct=distinct).write(self.output).rows

    def recall(self) -> int:
        """The number of frequent keys."""
        return Mark.load(self.output).rows
