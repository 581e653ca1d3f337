"""Exact sampling from a distribution that is given by unnormalized log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import Floats, Matrix, RowNumbers

BLOCK_ENTRIES = 256
"""Entries whose probabilities are summed together: first a block is chosen, then an entry in it."""
TILE_ENTRIES, TILE_POINTS = 512, 96
"""Entries and points whose distances are measured together: they stay in the cache from one operation to the next."""
LARGEST_SHARE = 1e290
"""Beyond this share, a product with a distance would overflow; the distribution has long reached its limit."""
LARGEST_SINGLE = 1000.0
"""Up to this product of share and distance, single precision suffices."""
WHOLE_BITS = 25
"""The longest entry has at most this many bits, in whole units."""
FARTHEST = 1.75
"""Up to this multiple of the longest entry, squared distances have at most 53 bits, so they are exact."""
PRECISION = 1e-3
"""The largest relative error of a probability. It is usually below 1e-5."""
_SMALLEST = -1000.0  # its exponential is 0
_FARTHEST_UNITS = 2.0**30  # beyond all distances in whole units

Exponent: TypeAlias = npt.NDArray[np.floating[Any]]
Single: TypeAlias = npt.NDArray[np.float32]


def squared_distances(points: Floats, entries: npt.NDArray[np.floating[Any]]) -> Floats:
    """The squared Euclidean distances of points (rows) and entries (columns), in double precision."""
    entries = entries.astype(np.float64, copy=False)
    squares: Floats = np.einsum("ij,ij->i", points, points)[:, None] - 2 * (points @ entries.T)
    squares += np.einsum("ij,ij->i", entries, entries)
    return np.maximum(squares, 0, out=squares)


class Exponents:
    """Computes the exponents -share * min(distance, cap) / 2 of many points and all entries.

    Vectors are rounded to whole numbers of a small unit. Sums of their products are then exact in double precision, in
    whatever order a library adds them. So the exponents of a point depend neither on the other points, nor on their
    number, nor on the processor. A point with a very large share is computed alone, without rounding. So a probability
    has a relative error of at most ``PRECISION``.

    Args:
        entries: One entry per row.
        cap: The distance from which on all distances count alike; ``None`` for no cap.
    """

    def __init__(self, entries: Matrix, cap: float | None) -> None:
        self._cap = cap
        self._entries = entries
        self._longest = float(np.einsum("ij,ij->i", entries, entries, dtype=np.float64).max(initial=0.0)) ** 0.5
        self._scale = 2.0 ** (WHOLE_BITS - math.frexp(self._longest)[1])  # the longest entry has at most 2^25 units
        # |x - y|^2 is the product of (-2x, 1, |x|^2) and (y, |y|^2, 1).
        self._extended = self._extend(entries)
        self._cap_units = np.float32(min(math.inf if cap is None else cap * self._scale, _FARTHEST_UNITS))

    def _extend(self, vectors: npt.NDArray[np.floating[Any]]) -> Floats:
        """Vectors in whole units, each with the square of its length, and 1."""
        extended = np.ones((len(vectors), vectors.shape[1] + 2))
        whole = np.rint(np.multiply(vectors, self._scale, dtype=np.float64), out=extended[:, :-2])
        extended[:, -2] = np.einsum("ij,ij->i", whole, whole)
        return extended

    def compute(self, points: Floats, shares: Floats, measured: Sequence[Single] | None = None) -> Single:
        """The exponents of points (rows) and entries (columns), up to a constant for each point that is computed alone.

        Alone are points with a huge share, and those so far from the origin that their products are not exact.

        Args:
            points: One point per row.
            shares: Their shares.
            measured: What :meth:`measure` gave for each of the points; by default, they are measured now.
        """
        factors = np.minimum(shares, LARGEST_SHARE) / -2
        lengths = np.linalg.norm(points, axis=1)
        alone = (factors * (lengths + self._longest) <= LARGEST_SINGLE / -2) | (lengths > FARTHEST * self._longest)
        if measured is None and not alone.any():
            return self._measure(points, factors)
        exponents: Single = np.empty((len(points), len(self._entries)), dtype=np.float32)
        if measured is None:
            exponents[~alone] = self._measure(points[~alone], factors[~alone])
        else:
            for row in np.flatnonzero(~alone).tolist():
                np.multiply(measured[row], np.float32(factors[row]), out=exponents[row])
        for row in np.flatnonzero(alone).tolist():
            exact = self._measure_alone(points[row]) * factors[row]
            exponents[row] = np.maximum(exact - exact.max(), _SMALLEST)
        return exponents

    def measure(self, points: Floats) -> Single:
        """The capped distances of points (rows) and entries (columns)."""
        return self._measure(points, np.ones(len(points)))

    def _measure(self, points: Floats, factors: Floats) -> Single:
        """The capped distances of points (rows) and entries (columns), times the factor of the point."""
        queries = self._extend(points)
        queries[:, :-2] *= -2
        queries[:, [-2, -1]] = queries[:, [-1, -2]]  # the 1 meets the squares of the entries, and the other way round
        units = (factors / self._scale).astype(np.float32)[:, None]
        distances: Single = np.empty((len(points), len(self._entries)), dtype=np.float32)
        for start in range(0, len(self._entries), TILE_ENTRIES):
            entries = self._extended[start : start + TILE_ENTRIES].T
            for first in range(0, len(points), TILE_POINTS):
                some = slice(first, first + TILE_POINTS)
                tile: Single = (queries[some] @ entries).astype(np.float32)
                np.sqrt(tile, out=tile)
                if self._cap is not None:
                    np.minimum(tile, self._cap_units, out=tile)
                np.multiply(tile, units[some], out=distances[some, start : start + TILE_ENTRIES])
        return distances

    def _measure_alone(self, point: Floats) -> Floats:
        """The capped distances of a point and all entries, in double precision."""
        distances = np.empty(len(self._entries))
        for start in range(0, len(self._entries), TILE_ENTRIES):
            differences = self._entries[start : start + TILE_ENTRIES] - point
            distances[start : start + TILE_ENTRIES] = np.sqrt(np.einsum("ij,ij->i", differences, differences))
        return distances if self._cap is None else np.minimum(distances, self._cap)


def draw(exponents: Exponent, uniforms: Floats, rows: RowNumbers | None = None) -> RowNumbers:
    """A random column for every uniform number, with a probability proportional to the exponential of its exponent.

    A uniform number selects the column of its row by the cumulative sum of the probabilities. The largest exponent is
    subtracted first, so nothing overflows, and what underflows has less than 1e-37 of the largest probability.
    Exponentials are in single precision and sums in double precision, which adds a relative error of at most 1e-5. A
    uniform number has 53 bits, so the probability of a column is a multiple of 2**-53.

    Args:
        exponents: The unnormalized log-probabilities. They are overwritten.
        uniforms: Numbers in [0, 1).
        rows: The row of each of them; by default, there is one for every row.
    """
    exponents -= exponents.max(axis=1, keepdims=True)
    if exponents.dtype != np.float32:
        exponents = np.maximum(exponents, _SMALLEST).astype(np.float32)
    weights, columns = np.exp(exponents, out=exponents), exponents.shape[1]
    starts = np.arange(0, columns, BLOCK_ENTRIES)
    sums = np.empty((len(weights), len(starts)))
    whole = columns // BLOCK_ENTRIES
    middle = whole * BLOCK_ENTRIES
    weights[:, :middle].reshape(len(weights), whole, BLOCK_ENTRIES).sum(axis=2, dtype=np.float64, out=sums[:, :whole])
    if middle < columns:  # the last block is shorter
        sums[:, whole] = weights[:, middle:].sum(axis=1, dtype=np.float64)
    rows = np.arange(len(weights)) if rows is None else rows
    ends = np.cumsum(sums, axis=1)[rows]
    targets = uniforms * ends[:, -1]
    blocks = _count_below(ends, targets)
    rest = targets - np.where(blocks > 0, ends[np.arange(len(rows)), blocks - 1], 0.0)
    inside = starts[blocks][:, None] + np.arange(min(BLOCK_ENTRIES, columns))
    likely = weights[rows[:, None], np.minimum(inside, columns - 1)]
    likely[inside >= columns] = 0  # the last block may be shorter
    chosen: RowNumbers = starts[blocks] + _count_below(np.cumsum(likely, axis=1, dtype=np.float64), rest)
    return chosen


def _count_below(ends: Floats, targets: Floats) -> RowNumbers:
    """The first column whose cumulative sum exceeds the target; at the latest, the last one with a probability."""
    last = (ends < ends[:, -1:]).sum(axis=1)
    found: RowNumbers = np.minimum((ends <= targets[:, None]).sum(axis=1), last)
    return found
