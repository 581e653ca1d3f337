"""Exact batched nearest-neighbor search, in bounded memory."""

from __future__ import annotations

import math

import numpy as np

from textveil.bundles.files import Floats, Matrix, RowNumbers, StoredMatrix

TILE_ENTRIES = 2048  # with 512 points, 4 MiB of scores at a time: they are read back from the cache


class ExactIndex:
    """Finds the nearest entry of a matrix, in Euclidean distance, for many points at once.

    The nearest entry w of a point q is the one with the largest q.w - |w|^2/2. A matrix product in single precision
    finds the two best entries. If their scores differ by less than the rounding error, double precision decides.
    Therefore the answer depends neither on the batch size nor on the number of threads.

    Points are given in homogeneous coordinates: the point times its weight, and the weight. A weight of 1 is an
    ordinary point. As the weight approaches 0, the point moves to infinity. At 0 it is a direction, and its nearest
    entry is the one most aligned with it.

    The entries of a small matrix are copied once. Those of a large one are read from where they are stored, a tile at a
    time, in every search. Answers are the same.

    Args:
        matrix: One entry per row.
        rows: The rows to search, by default all. Answers are positions in this list.
    """

    def __init__(self, matrix: StoredMatrix | Matrix, rows: RowNumbers | None = None) -> None:
        self._matrix = matrix if isinstance(matrix, StoredMatrix) else StoredMatrix(matrix)
        self._rows = np.arange(self._matrix.shape[0]) if rows is None else rows
        self._dimensions = self._matrix.shape[1]
        self._halves = np.empty(len(self._rows), dtype=np.float32)
        shape = (0 if self._matrix.is_large else len(self._rows), self._dimensions + 1)
        self._extended = np.empty(shape, dtype=np.float32)
        for start in range(0, len(self._rows), TILE_ENTRIES):
            tile = slice(start, start + TILE_ENTRIES)
            extended = extend(self._matrix.take(self._rows[tile]))
            self._halves[tile] = extended[:, -1]
            if len(self._extended):
                self._extended[tile] = extended
        self._error = RoundingError(self._dimensions, float(self._halves.min(initial=0.0)))

    def _read_tile(self, start: int, buffer: Matrix) -> Matrix:
        """The entries from ``start`` on, with their last column; a large matrix fills the buffer with them."""
        if len(self._extended):
            return self._extended[start : start + TILE_ENTRIES]
        tile = slice(start, start + TILE_ENTRIES)
        extended = buffer[: len(self._rows[tile])]
        extended[:, :-1], extended[:, -1] = self._matrix.take(self._rows[tile]), self._halves[tile]
        return extended

    def _make_buffer(self) -> Matrix:
        return np.empty((0 if len(self._extended) else TILE_ENTRIES, self._dimensions + 1), dtype=np.float32)

    def search(self, points: Floats, weights: Floats) -> RowNumbers:
        """The nearest row of each point; the first one of equally near entries.

        Batches of a few hundred points are fastest. The method is thread-safe.
        """
        queries = np.concatenate([points, weights[:, None]], axis=1, dtype=np.float32, casting="same_kind")
        each = np.arange(len(queries))
        starts = range(0, len(self._rows), TILE_ENTRIES)
        tops = np.empty((len(starts), len(queries)), dtype=np.float32)
        seconds = np.empty_like(tops)
        rows = np.empty(tops.shape, dtype=np.int64)
        buffer, room = np.empty((len(queries), min(TILE_ENTRIES, len(self._rows))), np.float32), self._make_buffer()
        for tile, start in enumerate(starts):
            entries = self._read_tile(start, room)
            scores = np.matmul(queries, entries.T, out=buffer[:, : len(entries)])
            row = scores.argmax(axis=1)
            tops[tile], rows[tile] = scores[each, row], row + start
            scores[each, row] = -np.inf
            seconds[tile] = scores.max(axis=1)
        winner = tops.argmax(axis=0)
        nearest: RowNumbers = rows[winner, each]
        best = tops[winner, each]
        others = np.where(np.arange(len(starts))[:, None] == winner, seconds, tops).max(axis=0)
        doubt = self._error.doubt(points, weights)
        for query in np.flatnonzero(best - others <= doubt):
            floor = best[query] - doubt[query]
            tiles = np.flatnonzero(tops[:, query] >= floor)
            nearest[query] = self._decide(points[query], weights[query], queries[query], tiles, floor)
        return nearest

    def _decide(self, point: Floats, weight: float, query: Matrix, tiles: RowNumbers, floor: float) -> int:
        """The best entry in double precision, among the entries of ``tiles`` with a score of at least ``floor``."""
        room = self._make_buffer()
        starts = (tiles * TILE_ENTRIES).tolist()
        candidates = np.concatenate(
            [start + np.flatnonzero(self._read_tile(start, room) @ query >= floor) for start in starts]
        )
        return int(candidates[find_best(self._matrix, self._rows[candidates], point, weight)])


class RoundingError:
    """The error of scores that a product in single precision gives.

    Args:
        dimensions: The number of coordinates of a point.
        least_half: The least -|w|^2/2 of an entry w.
    """

    def __init__(self, dimensions: int, least_half: float) -> None:
        # |fl(x.y) - x.y| <= n u |x||y| for n terms and the unit round-off u. The factors are rounded too, which adds a
        # little, and |w|^2/2 counts twice because it was itself rounded.
        unit = (dimensions + 4) * float(np.finfo(np.float32).eps) / 2
        longest = -2 * least_half * (1 + unit)
        self._per_length = unit * math.sqrt(longest)
        self._per_weight = unit * longest

    def doubt(self, points: Floats, weights: Floats) -> Floats:
        """The difference of two scores up to which rounding may have changed their order."""
        lengths: Floats = np.linalg.norm(points, axis=1)
        error: Floats = lengths * self._per_length + weights * self._per_weight
        return 2 * error


def extend(entries: Matrix) -> Matrix:
    """Entries w with one more column, -|w|^2/2, so that one product with a point gives the whole score."""
    extended = np.empty((len(entries), entries.shape[1] + 1), dtype=np.float32)
    extended[:, :-1], extended[:, -1] = entries, np.einsum("ij,ij->i", entries, entries) / -2
    return extended


def find_best(matrix: StoredMatrix, rows: RowNumbers, point: Floats, weight: float) -> int:
    """The position of the row nearest to a point, in double precision; the first one of equally near rows."""
    best, best_score = 0, -math.inf
    for start in range(0, len(rows), TILE_ENTRIES):  # in tiles, since all entries may be equally near
        entries = matrix.take(rows[start : start + TILE_ENTRIES]).astype(np.float64)
        # einsum sums every row in the same order, so equal entries have equal scores.
        scores = np.einsum("ij,j->i", entries, point) - weight / 2 * np.einsum("ij,ij->i", entries, entries)
        place = int(scores.argmax())
        if scores[place] > best_score:
            best, best_score = start + place, float(scores[place])
    return best
