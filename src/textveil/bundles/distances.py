"""Distances between the entries of a vocabulary, in quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import RowNumbers, Vectors

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SAMPLE = 1000
_ALIKE = 1e-6  # of the largest norm: a smaller distance is a rounding error
_BATCH_ROWS = 4096
"""The number of entries that are compared with the sample at once, which limits memory."""
_CANDIDATES = 256
"""The number of entries among which a near one is searched at once. Nearly all entries have one among the first."""
_LEAST_LIMIT, _GAPS = 1.5, 4.0
"""How far an entry may lie from all others. In the shipped bundle, the farthest is 1.4 gaps beyond the 95% quantile."""


def measure_distances(vectors: Vectors) -> dict[str, Any]:
    """Quantiles of three distances: between two entries, to the nearest other entry, and to the center.

    They are measured on a sample of every k-th entry, at most a thousand. Pairs are pairs of the sample; the nearest
    entry is searched among all. The center is the position of words that are not in the vocabulary.
    """
    sample = sample_rows(len(vectors))
    rows = vectors.take(sample)
    lengths = np.einsum("ij,ij->i", rows, rows)
    pairs = np.empty((len(sample), len(sample)), dtype=np.float32)
    nearest = np.full(len(sample), np.inf, dtype=np.float32)
    for start in range(0, len(vectors), _BATCH_ROWS):
        tile = vectors.stored.take(slice(start, start + _BATCH_ROWS))
        norms = np.einsum("ij,ij->i", tile, tile)
        squared = norms + lengths[:, None] - 2 * (rows @ tile.T)
        first, last = np.searchsorted(sample, [start, start + len(tile)]).tolist()
        itself = np.arange(first, last)
        squared[itself, sample[itself] - start] = np.inf
        np.minimum(nearest, squared.min(axis=1), out=nearest)
        pairs[:, itself] = squared[:, sample[itself] - start]
    measured = {
        "pairs": np.sqrt(np.maximum(pairs[np.isfinite(pairs)], 0)),
        "nearest": np.sqrt(np.maximum(nearest[np.isfinite(nearest)], 0)),
        "center": np.linalg.norm(rows - vectors.center, axis=1),
    }
    return {"metric": "euclidean", **{kind: _quantiles(distances) for kind, distances in measured.items()}}


def find_outliers(vectors: Vectors) -> RowNumbers:
    """The entries that are much farther from the center, or from every other entry, than is usual in this vocabulary.

    Such a word returns at every level. The limit is the 95% quantile of the distances of all entries to the center,
    plus four times its gap to the median, but at least 1.5 times the median. The nearest other entry may also be as far
    away as two entries are in the median. Every entry is checked, in blocks.
    """
    center = vectors.center.astype(np.float32)
    centers = np.concatenate([np.linalg.norm(rows - center, axis=1) for _, rows in vectors.stored.tiles()])
    median, high = np.quantile(centers, [0.5, 0.95]).tolist()
    limit = max(_LEAST_LIMIT * median, high + _GAPS * (high - median)) + _ALIKE * float(centers.max())
    far = centers > limit
    if len(vectors) == 1:
        return np.flatnonzero(far)
    apart = max(limit, (1 + _ALIKE) * find_unit(vectors.take(sample_rows(len(vectors)))))
    return np.union1d(np.flatnonzero(far), _find_lonely(vectors, np.argsort(centers, kind="stable"), apart))


def _find_lonely(vectors: Vectors, order: RowNumbers, limit: float) -> RowNumbers:
    """The entries without another one within a distance. Candidates are tried in an order, until one is near enough."""
    lonely = order
    for first in range(0, len(order), _CANDIDATES):
        candidates = order[first : first + _CANDIDATES]
        tile = vectors.take(candidates).astype(np.float64)
        norms = np.einsum("ij,ij->i", tile, tile)
        left = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(lonely), _BATCH_ROWS):
            some = lonely[start : start + _BATCH_ROWS]
            rows = vectors.take(some).astype(np.float64)
            squared = norms + np.einsum("ij,ij->i", rows, rows)[:, None] - 2 * (rows @ tile.T)
            squared[some[:, None] == candidates] = np.inf
            left.append(some[squared.min(axis=1) > limit**2])
        lonely = np.concatenate(left)
    return lonely


def find_unit(matrix: npt.NDArray[Any]) -> float:
    """The median distance between two entries, in the same sample: the unit of distances.

    It is 1 where most entries are at the same place.
    """
    rows = np.asarray(matrix[sample_rows(len(matrix))], dtype=np.float64)
    norms = np.einsum("ij,ij->i", rows, rows)
    squared = norms + norms[:, None] - 2 * (rows @ rows.T)
    pairs = squared[np.triu_indices(len(rows), k=1)]
    median = float(np.sqrt(max(0.0, np.median(pairs)))) if len(pairs) else 0.0
    return median if median > _ALIKE * np.sqrt(norms.max()) else 1.0


def sample_rows(rows: int) -> RowNumbers:
    """Every k-th row, at most a thousand."""
    return np.linspace(0, rows - 1, num=min(_SAMPLE, rows), dtype=np.int64)


def _quantiles(distances: npt.NDArray[Any]) -> dict[str, float]:
    if len(distances) == 0:
        return {}
    return {str(quantile): round(float(np.quantile(distances, quantile)), 4) for quantile in QUANTILES}
