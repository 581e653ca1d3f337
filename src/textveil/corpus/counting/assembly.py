"""Assembling n-grams: from keys, which are rows of shorter n-grams, to words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textveil.corpus.counting.columns import to_arrow, to_words
from textveil.corpus.counting.pairs import split_key
from textveil.corpus.counting.runs import PairKeys, map_words, read_run
from textveil.corpus.counting.words import Ids
from textveil.storage.atomic import writing


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
                assert isinstance(keys, PairKeys)  # noqa: S101 # like every run of this level
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
