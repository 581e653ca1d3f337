"""Approximate nearest-neighbor search: only the most promising lists of entries are read."""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np

from textveil.bundles.exact_index import RoundingError, extend, find_best
from textveil.bundles.files import Floats, Matrix, RowNumbers, StoredMatrix

PROBES = 64
"""The number of lists that are read for a point, by default."""
SHELLS = 4
"""The lists of a cell: from its entries near the center of all vectors to those far from it."""

_ROUNDS = 8
_SAMPLE_PER_CELL = 64
_LEVELS = 2**14  # of the numbers that rank lists; their sums are exact in double precision
_EXACT_SUM = 2**23  # sums of whole numbers up to this are exact in single precision
_BATCH_ENTRIES = 4096
_NEAR_PART = 4  # every fourth list is chosen by its mean alone, for points with little noise


class Summary(NamedTuple):
    """What is known of every list without reading it."""

    table: Floats
    """A column for every list: the mean of its entries in units of ``unit`` / 2^14, rounded to whole numbers."""
    unit: float
    halves: Floats
    """The mean of |w|^2/2 over its entries w."""
    lengths: Floats
    """The squared length of its mean."""
    spreads: Floats
    """About how far its best entry is from its mean, in any direction."""


class CellIndex:
    """Finds an entry that is the nearest one of a point with some probability, which its user has to measure.

    Entries are divided into cells by k-means, and those of a cell by their distance from the center of all vectors:
    a point with much noise is far from all entries, and the entry nearest to it is a far one itself. For every point
    the lists with the best possible scores are read, by an estimate from their means and deviations. The answer is the
    nearest one of their entries.

    Cells and the choice of lists are computed from vectors that are rounded to whole numbers, whose sums are exact.
    Therefore answers depend neither on the batch size nor on the number of threads. There is no randomness.

    For speed, the index keeps a copy of all searched entries in single precision, list by list.

    Args:
        matrix: One entry per row.
        rows: The rows to search, by default all. Answers are positions in this list.
    """

    def __init__(self, matrix: StoredMatrix | Matrix, rows: RowNumbers | None = None) -> None:
        stored = matrix if isinstance(matrix, StoredMatrix) else StoredMatrix(matrix)
        self._matrix, self._rows = stored, np.arange(stored.shape[0]) if rows is None else rows
        self._scale = self._find_scale()
        lists = self._divide()
        self._order = np.argsort(lists, kind="stable")
        """All positions, list by list."""
        counts = np.bincount(lists)
        self._stops = np.cumsum(counts[counts > 0])
        self._starts = self._stops - counts[counts > 0]
        self._extended = np.empty((len(self._rows), stored.shape[1] + 1), dtype=np.float32)
        for start in range(0, len(self._rows), _BATCH_ENTRIES):
            part = slice(start, start + _BATCH_ENTRIES)
            self._extended[part] = extend(stored.take(self._rows[self._order[part]]))
        self._error = RoundingError(stored.shape[1], float(self._extended[:, -1].min(initial=0.0)))
        self._summary = self._summarize()

    def __len__(self) -> int:
        """The number of lists."""
        return len(self._stops)

    def _divide(self) -> RowNumbers:
        """The list of every entry: its cell, and the shell in the cell."""
        number = max(1, math.isqrt(len(self._rows)))
        cells = _find_cells(self._round(_spread(len(self._rows), number * _SAMPLE_PER_CELL)), number)
        assigned = np.empty(len(self._rows), dtype=np.int64)
        sums = np.zeros(self._matrix.shape[1])
        for start in range(0, len(self._rows), _BATCH_ENTRIES):
            numbers = self._round(slice(start, start + _BATCH_ENTRIES))
            assigned[start : start + len(numbers)] = _assign(numbers, cells)
            sums += numbers.sum(axis=0, dtype=np.float64)
        center, distances = np.rint(sums / len(self._rows)), np.empty(len(self._rows))
        for start in range(0, len(self._rows), _BATCH_ENTRIES):
            moved = self._round(slice(start, start + _BATCH_ENTRIES)) - center
            distances[start : start + len(moved)] = np.einsum("ij,ij->i", moved, moved)
        order = np.lexsort((distances, assigned))
        counts = np.bincount(assigned, minlength=len(cells))
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        return assigned * SHELLS + places * SHELLS // counts[assigned]

    def _find_scale(self) -> float:
        """The factor at which vectors are rounded: the product of any two then is exact in single precision."""
        largest = self._matrix.find_largest()
        return math.isqrt(_EXACT_SUM // self._matrix.shape[1]) / largest if largest > 0 else 1.0

    def _round(self, places: RowNumbers | slice) -> Matrix:
        """The vectors at some positions as whole numbers."""
        return cast("Matrix", np.rint(self._matrix.take(self._rows[places]) * np.float32(self._scale)))

    def _summarize(self) -> Summary:
        """The means and deviations of all lists, computed from whole numbers."""
        scale = self._scale
        means, squares = np.empty((len(self), self._matrix.shape[1])), np.empty(len(self))
        for number, (start, stop) in enumerate(zip(self._starts.tolist(), self._stops.tolist(), strict=True)):
            numbers = np.rint(self._extended[start:stop, :-1] * np.float32(scale)).astype(np.float64)
            means[number], squares[number] = numbers.sum(axis=0), np.square(numbers).sum()
        sizes = self._stops - self._starts
        means, squares = means / (sizes[:, None] * scale), squares / (sizes * scale**2)
        lengths = np.einsum("ij,ij->i", means, means)
        deviations = np.sqrt(np.maximum(squares - lengths, 0) / means.shape[1])
        unit = float(np.abs(means).max()) or 1.0
        table = np.ascontiguousarray(np.rint(means / unit * _LEVELS).T)
        return Summary(table, unit, squares / 2, lengths, deviations * np.sqrt(2 * np.log(sizes)))

    def _choose(self, points: Floats, weights: Floats, probes: int) -> RowNumbers:
        """The lists to read for each point.

        The best score in a list of n entries is estimated by the mean of their scores, plus the deviation of their
        scores times the root of 2 log(n), which is about the largest of n normal numbers. A part of the lists is
        chosen by the score of the mean alone.
        """
        summary = self._summary
        largest = np.abs(points).max(axis=1, keepdims=True)
        largest[largest == 0] = 1.0
        products = np.rint(points / largest * _LEVELS) @ summary.table  # of whole numbers, so it is exact
        products *= largest * (summary.unit / _LEVELS**2)
        weights = weights[:, None]
        offsets = np.square(points).sum(axis=1, keepdims=True) - 2 * weights * products + weights**2 * summary.lengths
        some = max(1, probes // _NEAR_PART)
        near = np.argpartition(weights / 2 * summary.lengths - products, some - 1, axis=1)[:, :some]
        scores = products - weights * summary.halves + np.sqrt(np.maximum(offsets, 0)) * summary.spreads
        np.put_along_axis(scores, near, np.inf, axis=1)
        chosen: RowNumbers = np.argpartition(scores, len(self) - probes, axis=1)[:, len(self) - probes :]
        return chosen

    def search(self, points: Floats, weights: Floats, probes: int = PROBES) -> RowNumbers:
        """The nearest row of each point among those in the most promising lists. The method is thread-safe.

        Args:
            points: The points in homogeneous coordinates; see :class:`textveil.bundles.exact_index.ExactIndex`.
            weights: Their weights.
            probes: The number of lists to read for each point.
        """
        probes = min(probes, len(self))
        if len(points) == 0:
            return np.empty(0, dtype=np.int64)
        queries = np.concatenate([points, weights[:, None]], axis=1, dtype=np.float32, casting="same_kind")
        chosen = self._choose(points, weights, probes)
        tops, seconds, places = self._read(queries, chosen)
        each = np.arange(len(points))
        winner = tops.argmax(axis=1)
        nearest: RowNumbers = self._order[places[each, winner]]
        best = tops[each, winner]
        seconds[np.arange(probes) != winner[:, None]] = -np.inf
        tops[each, winner] = -np.inf
        others = np.maximum(tops.max(axis=1), seconds.max(axis=1))
        doubt = self._error.doubt(points, weights)
        for query in np.flatnonzero(best - others <= doubt).tolist():
            floor = best[query] - doubt[query]
            nearest[query] = self._decide(points[query], weights[query], queries[query], chosen[query], floor)
        return nearest

    def _read(self, queries: Matrix, chosen: RowNumbers) -> tuple[Matrix, Matrix, RowNumbers]:
        """The two best scores of every point in each of its lists, and the place of the best one."""
        tops = np.empty(chosen.shape, dtype=np.float32)
        seconds, places = np.empty_like(tops), np.empty(chosen.shape, dtype=np.int64)
        pairs = np.argsort(chosen, axis=None, kind="stable")  # list by list
        lists, starts = np.unique(chosen.ravel()[pairs], return_index=True)
        ends = np.append(starts[1:], len(pairs))
        for number, first, last in zip(lists.tolist(), starts.tolist(), ends.tolist(), strict=True):
            some = pairs[first:last]
            start = int(self._starts[number])
            scores = queries[some // chosen.shape[1]] @ self._extended[start : self._stops[number]].T
            best = scores.argmax(axis=1)
            each = np.arange(len(some))
            tops.flat[some], places.flat[some] = scores[each, best], best + start
            scores[each, best] = -np.inf
            seconds.flat[some] = scores.max(axis=1)
        return tops, seconds, places

    def _decide(self, point: Floats, weight: float, query: Matrix, lists: RowNumbers, floor: float) -> int:
        """The best entry in double precision, among the entries of ``lists`` with a score of at least ``floor``."""
        found = []
        for number in lists.tolist():
            start, stop = int(self._starts[number]), int(self._stops[number])
            found.append(start + np.flatnonzero(self._extended[start:stop] @ query >= floor))
        candidates = np.sort(self._order[np.concatenate(found)])  # of equally near entries, the first one
        return int(candidates[find_best(self._matrix, self._rows[candidates], point, weight)])


def _spread(number: int, wanted: int) -> RowNumbers:
    """Positions at equal steps, at most as many as wanted."""
    return np.linspace(0, number - 1, num=min(wanted, number), dtype=np.int64)


def _assign(numbers: Matrix, cells: Matrix) -> RowNumbers:
    """The nearest cell of each vector; all are whole numbers, so the products are exact."""
    halves = np.einsum("ij,ij->i", cells, cells) / 2
    nearest: RowNumbers = (numbers @ cells.T - halves).argmax(axis=1)
    return nearest


def _find_cells(numbers: Matrix, cells: int) -> Matrix:
    """The centers of cells by k-means, as whole numbers; it starts with vectors at equal steps."""
    centers = numbers[_spread(len(numbers), cells)].copy()
    for _ in range(_ROUNDS):
        assigned = np.concatenate(
            [
                _assign(numbers[start : start + _BATCH_ENTRIES], centers)
                for start in range(0, len(numbers), _BATCH_ENTRIES)
            ]
        )
        order = np.argsort(assigned, kind="stable")
        counts = np.bincount(assigned, minlength=len(centers))
        filled = counts > 0
        sums = np.add.reduceat(numbers[order], (np.cumsum(counts) - counts)[filled], axis=0, dtype=np.float64)
        centers[filled] = np.rint(sums / counts[filled][:, None])
    return centers
