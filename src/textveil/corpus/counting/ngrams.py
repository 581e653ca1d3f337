"""Counted n-grams: the tables that ``prepare count`` writes and ``prepare score`` reads.

counts/
    counts.json          the manifest: corpus, parameters, totals, versions, SHA-256 of every table
    1-grams.parquet      ngram, count: every frequent word, in order
    2-grams.parquet      ngram (words joined by a space), count, prefix, suffix: every frequent n-gram, in order
    ...

``prefix`` and ``suffix`` are the rows, in the table of n-grams one word shorter, of an n-gram without its last and
without its first word. Both are there, since they are at least as frequent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.corpus.counting.words import Ids
from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.extras import require
from textveil.language.matching import LONGEST
from textveil.storage.atomic import writing
from textveil.storage.hashing import hash_file

FORMAT = 1
MANIFEST = "counts.json"
TABLE_COLUMNS = ("ngram", "count", "prefix", "suffix")
"""The columns of a table; that of words has the first two."""
GROUP_ROWS = 1 << 16
"""Rows in a row group."""


def output_files() -> list[str]:
    """What counting writes."""
    return [MANIFEST, *map(table_name, range(1, LONGEST + 1))]


def table_name(length: int) -> str:
    """The file of the n-grams with so many words."""
    return f"{length}-grams.parquet"


def check_output(output: Path, files: Sequence[str]) -> None:
    """Refuse an output folder that cannot be made, or that is there and has anything in it that is not ours.

    Args:
        output: The folder.
        files: What we would write, the manifest first.
    """
    if not output.parent.is_dir():
        raise ParameterError(f"There is no folder {str(output.parent)!r}. Make it first.")
    if not output.exists():
        return
    if not (output / files[0]).is_file():
        raise OutputExistsError(f"{str(output)!r} exists and has no {files[0]}. Choose another name.")
    if any(path.name not in files for path in output.iterdir()):
        raise OutputExistsError(f"{str(output)!r} has other files beside {files[0]}. Choose another name.")


def write_table(path: Path, columns: Sequence[str], blocks: Iterator[Sequence[Any]]) -> None:
    """Write a Parquet table from blocks of columns, in row groups whose size does not depend on the blocks'."""
    arrow, parquet = require("pyarrow", extra="prepare"), require("pyarrow.parquet", extra="prepare")
    types = {"ngram": arrow.string(), "count": arrow.int64(), "score": arrow.float64()}
    schema = arrow.schema([(name, types.get(name, arrow.uint32())) for name in columns])
    waiting = schema.empty_table()
    with writing(path) as stream, parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for block in blocks:
            waiting = arrow.concat_tables([waiting, arrow.table(list(block), schema=schema)])
            while len(waiting) >= GROUP_ROWS:
                writer.write_table(waiting.slice(0, GROUP_ROWS).combine_chunks())
                waiting = waiting.slice(GROUP_ROWS)
        writer.write_table(waiting.combine_chunks())


@dataclass(frozen=True)
class NgramTable:
    """The frequent n-grams with so many words, in order."""

    ngrams: Any
    counts: NDArray[np.int64]
    prefixes: Ids
    suffixes: Ids

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class NgramCounts:
    """A folder of counted n-grams."""

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def load(cls, folder: Path) -> NgramCounts:
        """Open the folder; every table is checked when it is read."""
        try:
            manifest = json.loads((folder / MANIFEST).read_bytes())
            numbers = [int(manifest[name]) for name in ("format", "tokens", "documents", "min_count")]
            tables = [manifest["tables"][str(length)]["sha256"] for length in range(1, LONGEST + 1)]
            complete = min(numbers) > 0 and all(isinstance(table, str) for table in tables)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{str(folder)!r} has no {MANIFEST} that can be read. Write it with: textveil prepare count"
            ) from error
        if not complete or manifest["format"] > FORMAT:
            raise InputError(f"{str(folder / MANIFEST)!r} is incomplete or from a newer textveil. Count again.")
        return cls(folder, manifest)

    @property
    def tokens(self) -> int:
        """All words of the corpus, frequent or not."""
        return int(self.manifest["tokens"])

    @property
    def documents(self) -> int:
        """All documents of the corpus."""
        return int(self.manifest["documents"])

    @property
    def min_count(self) -> int:
        """How often an n-gram occurs at least."""
        return int(self.manifest["min_count"])

    @cached_property
    def tables(self) -> dict[int, NgramTable]:
        """The table for every number of words."""
        return {length: self._load_table(length) for length in range(1, LONGEST + 1)}

    def _load_table(self, length: int) -> NgramTable:
        arrow, parquet = require("pyarrow", extra="prepare"), require("pyarrow.parquet", extra="prepare")
        path = self.folder / table_name(length)
        try:
            if hash_file(path) != self.manifest["tables"][str(length)]["sha256"]:
                raise InputError(f"{str(path)!r} is not what {MANIFEST} says: it was changed. Count again.")
            table = parquet.read_table(path, memory_map=False)
        except (OSError, KeyError, arrow.ArrowException) as error:
            raise InputError(f"{str(path)!r} cannot be read. Count again.") from error
        none = np.empty(0, np.uint32)
        rows = [table[name].to_numpy() if length > 1 else none for name in TABLE_COLUMNS[2:]]
        return NgramTable(table["ngram"], table["count"].to_numpy(), *rows)
