"""Counted n-grams: the tables that counting writes and scoring reads.

counts/
    counts.json          the manifest: corpus, parameters, totals, versions, SHA-256 of every table
    1-grams.parquet      ngram, count: all frequent words, sorted
    2-grams.parquet      ngram (words joined by a space), count, prefix, suffix: all frequent n-grams, sorted
    ...

``prefix`` and ``suffix`` are rows of the table of n-grams that are one word shorter: the n-gram without its last word,
and without its first word. Both are in that table, since they are at least as frequent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.extras import require
from textveil.lab.corpus.counting.words import Ids
from textveil.storage.atomic import hash_file, writing
from textveil.text.matching import LONGEST

FORMAT = 1
MANIFEST = "counts.json"
TABLE_COLUMNS = ("ngram", "count", "prefix", "suffix")
"""The columns of a table. The word table has the first two."""
GROUP_ROWS = 1 << 16
"""The number of rows in a row group."""


def output_files() -> list[str]:
    """The names of the files that counting writes, the manifest first."""
    return [MANIFEST, *map(table_name, range(1, LONGEST + 1))]


def table_name(length: int) -> str:
    """The name of the file that holds the n-grams of a length."""
    return f"{length}-grams.parquet"


def check_output(output: Path, files: Sequence[str]) -> None:
    """Refuse an output folder that cannot be created, or that holds files other than an earlier output.

    Args:
        output: The folder.
        files: The names of the files of the output, the manifest first.
    """
    if not output.parent.is_dir():
        raise ParameterError(f"There is no folder {str(output.parent)!r}. Create it first.")
    if not output.exists():
        return
    if not (output / files[0]).is_file():
        raise OutputExistsError(f"{str(output)!r} exists and has no {files[0]}. Choose another name.")
    if any(path.name not in files for path in output.iterdir()):
        raise OutputExistsError(f"{str(output)!r} has other files besides {files[0]}. Choose another name.")


def write_table(path: Path, columns: Sequence[str], blocks: Iterator[Sequence[Any]]) -> None:
    """Write a Parquet table from blocks of Arrow columns. The size of row groups does not depend on the blocks."""
    arrow, parquet = require("pyarrow", extra="prepare"), require("pyarrow.parquet", extra="prepare")
    types = {"ngram": arrow.string(), "count": arrow.int64(), "score": arrow.float64()}
    schema = arrow.schema([(name, types.get(name, arrow.uint32())) for name in columns])
    waiting = arrow.Table.from_batches([], schema)  # schema.empty_table() would import pandas
    with writing(path) as stream, parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for block in blocks:
            waiting = arrow.concat_tables([waiting, arrow.table(list(block), schema=schema)])
            while len(waiting) >= GROUP_ROWS:
                writer.write_table(waiting.slice(0, GROUP_ROWS).combine_chunks())
                waiting = waiting.slice(GROUP_ROWS)
        writer.write_table(waiting.combine_chunks())


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a folder of tables."""
    with writing(path) as stream:
        stream.write((json.dumps(manifest, indent=2) + "\n").encode())


def read_table(path: Path, sha256: str) -> Any:
    """Read a Parquet table, and compare its SHA-256 with that of the manifest."""
    arrow, parquet = require("pyarrow", extra="prepare"), require("pyarrow.parquet", extra="prepare")
    try:
        if hash_file(path) == sha256:
            return parquet.read_table(path, memory_map=False)
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{str(path)!r} cannot be read. Count or score again.") from error
    raise InputError(f"{str(path)!r} does not match its manifest: it was changed. Count or score again.")


@dataclass(frozen=True)
class NgramTable:
    """The sorted frequent n-grams of a length."""

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
        """Open a folder. Each table is checked when it is read."""
        try:
            manifest = json.loads((folder / MANIFEST).read_bytes())
            numbers = [int(manifest[name]) for name in ("format", "tokens", "documents", "min_count")]
            tables = [manifest["tables"][str(length)]["sha256"] for length in range(1, LONGEST + 1)]
            complete = min(numbers) > 0 and all(isinstance(table, str) for table in tables)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{str(folder)!r} has no readable {MANIFEST}. Write it with: textveil prepare count"
            ) from error
        if not complete or manifest["format"] > FORMAT:
            raise InputError(f"{str(folder / MANIFEST)!r} is incomplete or from a newer textveil. Count again.")
        return cls(folder, manifest)

    @property
    def tokens(self) -> int:
        """The number of words in the corpus, including rare ones."""
        return int(self.manifest["tokens"])

    @property
    def min_count(self) -> int:
        """The lowest count of an n-gram."""
        return int(self.manifest["min_count"])

    @cached_property
    def tables(self) -> dict[int, NgramTable]:
        """The tables of all n-grams, by length."""
        return {length: self._load_table(length) for length in range(1, LONGEST + 1)}

    def _load_table(self, length: int) -> NgramTable:
        table = read_table(self.folder / table_name(length), self.manifest["tables"][str(length)]["sha256"])
        none = np.empty(0, np.uint32)
        rows = [table[name].to_numpy() if length > 1 else none for name in TABLE_COLUMNS[2:]]
        return NgramTable(table["ngram"], table["count"].to_numpy(), *rows)
