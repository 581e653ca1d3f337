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
    KeyRange,
    Keys,
    Run,
    WordKeys,
    find_rows,
    merge_range,
    read_run,
    write_run,
)
from textveil.lab.corpus.counting.words import Ids, WordNumbering, pair_neighbors
from textveil.lab.corpus.inputs import Block, DatasetShard
from textveil.lab.corpus.resumption import loading, save_json
from textveil.storage.atomic import writing

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
    pairs = pair_neighbors(numbers, frequent)
    if not longest:
        _write_numbers(output.with_suffix(".npy"), pairs.numbers)
    run = write_run(output.with_suffix(".keys"), Keys(pairs.keys), pairs.counts, tokens=tokens)
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
