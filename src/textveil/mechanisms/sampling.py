"""Exact sampling from a distribution that is given by unnormalized log-probabilities."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import Floats, Matrix, RowNumbers

TILE_ENTRIES = 2048
"""Entries whose probabilities are summed together: first a tile is chosen, then an entry in it."""
LARGEST_SHARE = 1e290
"""Beyond this share, a product with a distance would overflow; the distribution has long reached its limit."""
LARGEST_SINGLE = 1000.0
"""Up to this product of share and distance, single precision suffices."""
NEAR = 0.02
"""Squared distances below this part of the largest squared norm are computed in double precision."""
PRECISION = 1e-3
"""The largest relative error of a probability. It is usually below 1e-5."""
ROWS = 16
COLUMNS = 256
_SMALLEST = -1000.0  # its exponential is 0

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

    Distances come from a matrix product in single precision. Those of near vectors are computed in double precision,
    and so are all distances of a point with a very large share. So a probability has a relative error of at most
    ``PRECISION``. The exponents of a point depend neither on the other points nor on their number.

    Args:
        entries: One entry per row.
        cap: The distance from which on all distances count alike; ``None`` for no cap.
    """

    def __init__(self, entries: Matrix, cap: float | None) -> None:
        self._cap = cap
        self._entries = entries
        # |x - y|^2 is the product of (-2x, 1, |x|^2) and (y, |y|^2, 1). Rows of zeros fill up the last tile.
        self._extended = np.zeros((-(-len(entries) // COLUMNS) * COLUMNS, entries.shape[1] + 2), dtype=np.float32)
        self._norms = np.einsum("ij,ij->i", entries, entries, dtype=np.float64)
        self._extended[: len(entries), :-2] = entries
        self._extended[: len(entries), -2] = self._norms
        self._extended[:, -1] = 1
        self._longest = float(self._norms.max(initial=0.0)) ** 0.5

    def compute(self, points: Floats, shares: Floats) -> Single:
        """The exponents of points (rows) and entries (columns), up to a constant for each point with a huge share."""
        shares = np.minimum(shares, LARGEST_SHARE)
        huge = shares * (np.linalg.norm(points, axis=1) + self._longest) >= LARGEST_SINGLE
        if not huge.any():
            return self._scale(points, shares)
        exponents: Single = np.empty((len(points), len(self._entries)), dtype=np.float32)
        exponents[~huge] = self._scale(points[~huge], shares[~huge])
        for row in np.flatnonzero(huge):
            exact = self.measure(points[row : row + 1], np.float64)[0] * (shares[row] / -2)
            exponents[row] = np.maximum(exact - exact.max(), _SMALLEST)
        return exponents

    def _scale(self, points: Floats, shares: Floats) -> Single:
        exponents = self.measure(points)
        exponents *= (shares / -2).astype(np.float32)[:, None]
        return exponents

    def measure(self, points: Floats, precision: type[np.floating[Any]] = np.float32) -> npt.NDArray[Any]:
        """The capped distances of points (rows) and entries (columns)."""
        queries = self._extend(points).astype(precision)
        distances = np.empty((len(points), len(self._entries)), dtype=precision)
        for start in range(0, len(self._extended), TILE_ENTRIES):
            stop = min(start + TILE_ENTRIES, len(self._entries))
            entries = self._extended[start : start + TILE_ENTRIES].astype(precision, copy=False)
            if precision is np.float64:
                entries[: stop - start, -2] = self._norms[start:stop]
            squares = (queries @ entries.T)[: len(points), : stop - start]
            self._sharpen(squares, points, start)
            tile = np.sqrt(np.maximum(squares, 0), out=distances[:, start:stop])
            if self._cap is not None:
                np.minimum(tile, self._cap, out=tile)
        return distances

    def _extend(self, points: Floats) -> Floats:
        """The left factors of the product; zeros fill up the last rows.

        The product rounds a row alike, whatever the number of rows, if that is a multiple of ``ROWS``, and that of
        columns a multiple of ``COLUMNS``.
        """
        extended = np.zeros((-(-len(points) // ROWS) * ROWS, points.shape[1] + 2))
        extended[: len(points), :-2] = -2 * points
        extended[: len(points), -2] = 1
        extended[: len(points), -1] = np.einsum("ij,ij->i", points, points)
        return extended

    def _sharpen(self, squares: npt.NDArray[Any], points: Floats, start: int) -> None:
        """Replace the squared distances of near entries by sums of squared differences in double precision."""
        near = np.flatnonzero(squares < NEAR * self._longest**2)
        rows, columns = np.divmod(near, squares.shape[1])
        differences = points[rows] - self._entries[start + columns]
        squares[rows, columns] = np.einsum("ij,ij->i", differences, differences)


def draw(exponents: Exponent, uniforms: Floats) -> RowNumbers:
    """A random column for every row, with a probability proportional to the exponential of its exponent.

    One uniform number per row selects the column by the cumulative sum of the probabilities. The largest exponent is
    subtracted first, so nothing overflows, and what underflows has less than 1e-37 of the largest probability.
    Exponentials are in single precision and sums in double precision, which adds a relative error of at most 1e-5. A
    uniform number has 53 bits, so the probability of a column is a multiple of 2**-53.

    Args:
        exponents: The unnormalized log-probabilities. They are overwritten.
        uniforms: A number in [0, 1) for every row.
    """
    exponents -= exponents.max(axis=1, keepdims=True)
    if exponents.dtype != np.float32:
        exponents = np.maximum(exponents, _SMALLEST).astype(np.float32)
    weights = exponents
    np.exp(weights, out=weights)
    starts = np.arange(0, weights.shape[1], TILE_ENTRIES)
    sums = np.stack(
        [weights[:, start : start + TILE_ENTRIES].sum(axis=1, dtype=np.float64) for start in starts], axis=1
    )
    ends = np.cumsum(sums, axis=1)
    targets = uniforms * ends[:, -1]
    tiles = _count_below(ends, targets)
    each = np.arange(len(weights))
    rest = targets - np.where(tiles > 0, ends[each, tiles - 1], 0.0)
    columns = starts[tiles][:, None] + np.arange(min(TILE_ENTRIES, weights.shape[1]))
    inside = weights[each[:, None], np.minimum(columns, weights.shape[1] - 1)]
    inside[columns >= weights.shape[1]] = 0  # the last tile may be shorter
    chosen: RowNumbers = starts[tiles] + _count_below(np.cumsum(inside, axis=1, dtype=np.float64), rest)
    return chosen


def _count_below(ends: Floats, targets: Floats) -> RowNumbers:
    """The first column whose cumulative sum exceeds the target; at the latest, the last one with a probability."""
    last = (ends < ends[:, -1:]).sum(axis=1)
    found: RowNumbers = np.minimum((ends <= targets[:, None]).sum(axis=1), last)
    return found
