"""Fitting of a spelling table: ridge regression of known vectors on the character n-grams of their entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.bundles.spelling import Keys, Spelling, SpellingTable, hash_ngrams
from textveil.bundles.vectors import Floats, Matrix, RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.extras import require

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
