"""Positions of unknown words, computed from their spelling: sums of the rows of a table of character n-grams."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import UNKNOWN, Floats, Vectors

Keys = npt.NDArray[np.uint32]

NGRAM_SIZES = (3, 4, 5)
"""The lengths of character n-grams; the boundaries of a word count as characters."""
HASH = "crc32"
"""The function that turns an n-gram in UTF-8 into its key. It is public and the same on every machine."""
LONGEST_WORD = 100
"""Only the first characters of a word are read, this many."""

_DIGIT = re.compile(r"\d")
_LARGEST_SCALE = 1e12


def hash_ngrams(word: str) -> Keys:
    """The keys of the character n-grams of a word, sorted; all digits are alike.

    >>> len(hash_ngrams("tea")), len(hash_ngrams("a")), hash_ngrams("1984").tolist() == hash_ngrams("2026").tolist()
    (6, 1, True)
    """
    marked = f"<{_DIGIT.sub('0', word[:LONGEST_WORD])}>"
    written = marked.encode() if marked.isascii() else None  # of ASCII, a slice in bytes is one in characters
    if written is None:
        ngrams = {
            marked[start : start + size].encode(errors="replace")
            for size in NGRAM_SIZES
            for start in range(len(marked) - size + 1)
        }
    else:
        ngrams = {written[start : start + size] for size in NGRAM_SIZES for start in range(len(written) - size + 1)}
    return np.array(sorted(set(map(zlib.crc32, ngrams))), dtype=np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class SpellingTable:
    """A row of numbers for each known n-gram, on the first principal axes of the vectors.

    Attributes:
        keys: The keys of the n-grams, in increasing order.
        rows: Their rows, in whole numbers.
        scales: The factor of each row.
    """

    keys: Keys
    rows: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]

    @property
    def dimensions(self) -> int:
        """The number of principal axes."""
        return int(self.rows.shape[1])

    def describe(self) -> dict[str, Any]:
        """The part of its description in a manifest that is checked when it is loaded."""
        sizes = list(NGRAM_SIZES)
        return {"ngrams": len(self.keys), "dimensions": self.dimensions, "ngram_sizes": sizes, "hash": HASH}

    def find_fault(self, description: Any) -> str | None:
        """The reason not to use this table; ``None`` if there is none."""
        kinds = [array.dtype.name for array in (self.keys, self.rows, self.scales)]
        if kinds != ["uint32", "int8", "float32"]:
            return "has numbers of another type"
        if len(self.keys) == 0:
            return "has no n-grams"
        if not (self.keys[1:] > self.keys[:-1]).all():
            return "has n-grams that are not in order"
        if not ((self.scales >= 0) & (self.scales < _LARGEST_SCALE)).all():  # NaN fails too
            return "has scales that are not finite, negative or too large"
        for name, value in self.describe().items():
            if not isinstance(description, Mapping) or description.get(name) != value:
                return f"does not fit the manifest: {name} should be {value}"
        return None

    def sum_rows(self, word: str) -> Floats:
        """The sum of the rows of a word's n-grams; zero if it has no known n-gram."""
        keys = hash_ngrams(word)
        places = np.minimum(self.keys.searchsorted(keys), len(self.keys) - 1)
        places = places[self.keys[places] == keys]
        total: Floats = (self.rows[places] * self.scales[places, None].astype(np.float64)).sum(axis=0)
        return total


class Spelling:
    """Places unknown words in the space of a bundle's vectors.

    A position is a public function of the word: it depends on the bundle and on nothing else. It is at most as far from
    the center as the entry that is farthest from it, so distances stay bounded.
    """

    def __init__(self, table: SpellingTable, vectors: Vectors) -> None:
        # Plain views: every access to a memory map costs more than the sum of a word.
        self.table = SpellingTable(*map(np.asarray, (table.keys, table.rows, table.scales)))
        self._vectors = vectors
        self._axes = np.ascontiguousarray(vectors.axes[:, : table.dimensions])

    @cached_property
    def center(self) -> Floats:
        """The position of a word without a known n-gram."""
        return self._vectors.center.astype(np.float64)

    @cached_property
    def radius(self) -> float:
        """The largest distance of an entry from the center."""
        tiles = (tile - self._vectors.center for _, tile in self._vectors.stored.tiles())
        return max(float(np.linalg.norm(moved, axis=1).max()) for moved in tiles)

    def place(self, keys: Sequence[str | None]) -> Floats:
        """The positions of unknown chunks.

        Args:
            keys: The chunks as vocabularies spell them; ``None`` is a chunk whose spelling must not count. It is at the
                center.
        """
        positions = np.empty((len(keys), self._vectors.dimensions))
        for number, key in enumerate(keys):
            positions[number] = self.center if key is None else self._place_chunk(key)
        return positions

    def _place_chunk(self, key: str) -> Floats:
        """The mean of the positions of a chunk's words."""
        if key and "_" not in key:
            return self._place_word(key)
        words = [word for word in key.split("_") if word]
        mean: Floats = np.mean([self._place_word(word) for word in words] or [self.center], axis=0)
        return mean

    def _place_word(self, word: str) -> Floats:
        row = self._vectors.find(word)
        if row == UNKNOWN:
            return self.center + self.move(word)
        place: Floats = self._vectors.stored.take(slice(row, row + 1))[0].astype(np.float64)
        return place

    def move(self, word: str) -> Floats:
        """The position of a word relative to the center, by its spelling alone."""
        moved: Floats = self._axes @ self.table.sum_rows(word)
        length = math.sqrt(moved.dot(moved))
        return moved if length <= self.radius else moved * (self.radius / length)
