"""Positions of unknown words, computed from their spelling: sums of the rows of a table of character n-grams."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import UNKNOWN, Floats, Matrix, RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.extras import require

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


LEAST_ENTRIES = 2_000
"""A smaller vocabulary says too little about spelling."""
MOST_ENTRIES = 100_000
"""Of a larger vocabulary, the most frequent entries are used, or the first ones."""
DIMENSIONS = 64
"""The number of principal axes that spelling predicts."""
MOST_NGRAMS = 27_000
"""With 64 axes, their table has 1.9 MB."""

_CANDIDATES = 100_000  # n-grams in the first of two fits
_LEAST_WORDS = 2  # an n-gram of a single entry says nothing about other words
_RIDGE = 5.0
_STEPS = 12
_BATCH_ROWS = 64
_FEWEST = 20
_EVERY = 10  # of ten words, one is left out to measure the quality
_MOST_LEFT_OUT = 1_000


class Examples(NamedTuple):
    """Words to learn from."""

    keys: Sequence[Keys]
    """The n-grams of each word."""
    targets: Matrix
    """Its vector, relative to the center, on the principal axes."""
    weights: Floats

    def choose(self, places: RowNumbers) -> Examples:
        """Some of the words."""
        return Examples([self.keys[place] for place in places], self.targets[places], self.weights[places])


def find_examples(vectors: Vectors, counts: npt.NDArray[Any] | None = None) -> RowNumbers:
    """The rows of the entries to learn from: single words in lowercase."""
    rows = [row for row, entry in enumerate(vectors.entries) if entry.isalnum() and entry == entry.lower()]
    found = np.array(rows, dtype=np.int64)
    if counts is not None:
        found = found[np.argsort(-counts[found], kind="stable")]
    return np.sort(found[:MOST_ENTRIES])


def fit_spelling(vectors: Vectors, counts: npt.NDArray[Any] | None = None) -> tuple[SpellingTable, dict[str, Any]]:
    """A table that is fitted to all entries, and its description with the quality on entries that were left out.

    A ridge regression predicts short vectors, whose nearest entries are rare words. So the table is stretched until the
    positions of left-out entries have the median length of known ones.

    Args:
        vectors: The vectors of a bundle.
        counts: The number of occurrences of each entry. An entry weighs as much as the logarithm of it.

    Raises:
        ParameterError: There is too little to learn from.
    """
    rows = find_examples(vectors, counts)
    if len(rows) < _FEWEST:
        raise _too_few(len(rows))
    weights = np.ones(len(rows)) if counts is None else np.log1p(counts[rows].astype(np.float64))
    moved = (vectors.matrix[rows] - vectors.center) @ vectors.axes[:, :DIMENSIONS].astype(np.float32)
    examples = Examples(
        [hash_ngrams(vectors.entries[row]) for row in rows], moved, weights / max(float(weights.mean()), 1e-12)
    )
    sample = np.arange(_EVERY // 2, len(rows), max(_EVERY, len(rows) // _MOST_LEFT_OUT))
    table = fit_table(examples.choose(np.delete(np.arange(len(rows)), sample)))
    left_out = [vectors.entries[row] for row in rows[sample]]
    stretch = _find_stretch(vectors, rows, np.array([table.sum_rows(word) for word in left_out]))
    quality = measure_quality(Spelling(_scale(table, stretch), vectors), vectors, rows[sample])
    whole = _scale(fit_table(examples), stretch)
    return whole, {**whole.describe(), "entries": len(rows), "stretch": round(stretch, 4), "quality": quality}


def fit_table(examples: Examples) -> SpellingTable:
    """A table that is fitted to examples, not stretched.

    A first fit uses all n-grams of at least two words. The second one uses those with the largest part in the first.
    """
    sparse = require("scipy.sparse", extra="prepare")
    known, ngrams, numbers = np.unique(np.concatenate(examples.keys), return_inverse=True, return_counts=True)
    ends = np.cumsum([0, *map(len, examples.keys)])
    present = np.ones(len(ngrams), dtype=np.float32)
    incidence = sparse.csr_array((present, ngrams, ends), shape=(len(examples.keys), len(known)))
    # Frequent ones first; an order of equal ones by their key, so that the result is the same everywhere.
    chosen = np.argsort(-numbers, kind="stable")[: min(_CANDIDATES, int((numbers >= _LEAST_WORDS).sum()))]
    if len(chosen) == 0:
        raise _too_few(len(examples.keys))
    for most in (MOST_NGRAMS, None):
        chosen = np.sort(chosen)
        solution = _solve(incidence[:, chosen], examples)
        if most is not None:
            part = numbers[chosen] * np.square(solution).sum(axis=1)
            chosen = chosen[np.argsort(-part, kind="stable")[:most]]
    return _compress(known[chosen], solution)


def _too_few(words: int) -> ParameterError:
    return ParameterError(
        f"No spelling table can be learned from {words} words, which share too few n-grams. Set `spelling=False`."
    )


def _compress(keys: Keys, rows: Matrix) -> SpellingTable:
    scales = np.maximum(np.abs(rows).max(axis=1, initial=0.0) / 127, np.finfo(np.float32).tiny).astype(np.float32)
    return SpellingTable(keys, np.rint(rows / scales[:, None]).astype(np.int8), scales)


def _scale(table: SpellingTable, factor: float) -> SpellingTable:
    return SpellingTable(table.keys, table.rows, (table.scales * factor).astype(np.float32))


def _find_stretch(vectors: Vectors, rows: RowNumbers, sums: Floats) -> float:
    """The factor that gives sums the median length of known vectors."""
    known = np.median(np.linalg.norm(vectors.matrix[rows] - vectors.center, axis=1))
    predicted = np.median(np.linalg.norm(sums, axis=1)) if len(sums) else 0.0
    return float(known / predicted) if predicted > 0 else 1.0


def measure_quality(spelling: Spelling, vectors: Vectors, rows: RowNumbers) -> dict[str, Any]:
    """How near the positions of entries by their spelling are to their vectors.

    Returns:
        The number of entries; the mean cosine of position and vector, both relative to the center; the median rank of
        the entry among all, by their distance from the position; and the share of entries among the nearest 10 and 100.
    """
    words = [vectors.entries[row] for row in rows]
    positions = spelling.center + np.array([spelling.move(word) for word in words]).reshape(len(rows), -1)
    true = vectors.matrix[rows].astype(np.float64)
    ranks = rank_entries(vectors, positions, rows)
    return {
        "left_out": len(rows),
        "cosine": round(float(_cosines(positions - spelling.center, true - spelling.center).mean()), 4),
        "median_rank": float(np.median(ranks)),
        "nearest_10": round(float((ranks <= 10).mean()), 4),
        "nearest_100": round(float((ranks <= 100).mean()), 4),
    }


def rank_entries(vectors: Vectors, positions: Floats, rows: RowNumbers) -> RowNumbers:
    """The rank of each row among all entries, by the distance from its position; the nearest has rank 1."""
    halves = np.einsum("ij,ij->i", vectors.matrix, vectors.matrix) / 2
    ranks = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), _BATCH_ROWS):
        some = slice(start, start + _BATCH_ROWS)
        scores = positions[some].astype(np.float32) @ vectors.matrix.T - halves
        own = scores[np.arange(len(scores)), rows[some]]
        ranks[some] = 1 + (scores > own[:, None]).sum(axis=1)
    return ranks


def _cosines(first: Floats, second: Floats) -> Floats:
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines: Floats = np.einsum("ij,ij->i", first, second) / np.maximum(lengths, np.finfo(np.float64).tiny)
    return cosines


def _solve(incidence: Any, examples: Examples) -> Matrix:
    """Ridge regression by conjugate gradients, preconditioned by the diagonal, for all dimensions at once.

    Args:
        incidence: A sparse matrix with a row per word and a column per n-gram: 1 if the word has it.
        examples: The words.
    """
    words, ngrams = incidence.tocsr(), incidence.T.tocsr()
    weights, ridge = examples.weights.astype(np.float32)[:, None], np.float32(_RIDGE)
    inverse = 1 / (ngrams @ weights + ridge)
    residual: Matrix = ngrams @ (weights * examples.targets)
    solution = np.zeros_like(residual)
    direction = conditioned = inverse * residual
    error = np.einsum("ij,ij->j", residual, conditioned)
    for _ in range(_STEPS):
        image = ngrams @ (weights * (words @ direction)) + ridge * direction
        step = _divide(error, np.einsum("ij,ij->j", direction, image))
        solution += step * direction
        residual -= step * image
        conditioned = inverse * residual
        previous, error = error, np.einsum("ij,ij->j", residual, conditioned)
        direction = conditioned + _divide(error, previous) * direction
    return solution


def _divide(numerator: Matrix, denominator: Matrix) -> Matrix:
    """The quotient, or zero where a dimension is solved exactly."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
