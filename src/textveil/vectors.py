"""A vocabulary and its matrix, with exact batched nearest-neighbour search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

UNKNOWN = -1
"""The row of a chunk that is not in the vocabulary."""

TILE_QUERIES = 512
TILE_SCORES = 1 << 20  # scores computed at a time: 4 MiB, so that they are read back from the cache
TILE_DOUBTFUL = 16
_PLAIN_ENTRY = re.compile(r"\w+(?: \w+)*")


def is_plain(entry: str) -> bool:
    """Whether an entry is made of words only, and so can be written into a text.

    >>> [is_plain(entry) for entry in ("tea", "new_york", "...", "a@b.org")]
    [True, True, False, False]
    """
    return _PLAIN_ENTRY.fullmatch(entry) is not None


class ExactIndex:
    """Finds, for many points at once, the entry of a matrix that is nearest in Euclidean distance.

    The nearest entry w of a point q is the one with the largest q.w - |w|^2/2. A matrix product in single precision
    finds the two best; where they are closer than its rounding error can be, double precision decides. So the
    answer depends neither on how queries are batched nor on the number of threads.
    """

    def __init__(self, matrix: Matrix) -> None:
        norms = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
        self._matrix = matrix
        self._half_norms = norms / 2
        # The last column carries -|w|^2/2, so that one product gives the whole score.
        self._extended = np.empty((len(matrix), matrix.shape[1] + 1), dtype=np.float32)
        self._extended[:, :-1] = matrix
        self._extended[:, -1] = -self._half_norms
        # |fl(x.y) - x.y| <= n u |x||y| for n terms and the unit round-off u; two more for rounding the factors.
        unit = (matrix.shape[1] + 3) * float(np.finfo(np.float32).eps) / 2
        self._error_per_length = unit * float(np.sqrt(norms.max(initial=0.0)))
        self._error_per_weight = unit * float(self._half_norms.max(initial=0.0))

    def search(self, points: Floats, weights: Floats) -> Rows:
        """The row nearest to each point, given in homogeneous coordinates.

        Args:
            points: One point per row, multiplied by its weight.
            weights: 1 for an ordinary point; towards 0 the point moves to infinity, and at 0 it is a direction,
                whose nearest entry is the one most aligned with it.

        Returns:
            One row number per point; of equally near entries the first.
        """
        nearest = np.empty(len(points), dtype=np.int64)
        doubtful = np.empty(len(points), dtype=np.bool_)
        for start in range(0, len(points), TILE_QUERIES):
            tile = slice(start, start + TILE_QUERIES)
            nearest[tile], doubtful[tile] = self._search_tile(points[tile], weights[tile])
        again = np.flatnonzero(doubtful)
        for start in range(0, len(again), TILE_DOUBTFUL):
            tile_rows = again[start : start + TILE_DOUBTFUL]
            nearest[tile_rows] = self._decide(points[tile_rows], weights[tile_rows])
        return nearest

    def _search_tile(self, points: Floats, weights: Floats) -> tuple[Rows, Flags]:
        """The best entries in single precision, and whether another one may be better in truth."""
        queries = _extend(points, weights)
        each = np.arange(len(queries))
        best = np.full(len(queries), -np.inf, dtype=np.float32)
        second = best.copy()
        nearest = np.zeros(len(queries), dtype=np.int64)
        width = max(1, TILE_SCORES // len(queries))
        for start in range(0, len(self._extended), width):
            scores = queries @ self._extended[start : start + width].T
            row = scores.argmax(axis=1)
            top = scores[each, row]
            scores[each, row] = -np.inf
            second = np.maximum(np.maximum(second, scores.max(axis=1)), np.minimum(best, top))
            nearest = np.where(top > best, row + start, nearest)
            best = np.maximum(best, top)
        return nearest, best - second <= self._doubt(points, weights)

    def _decide(self, points: Floats, weights: Floats) -> Rows:
        """The best entries in double precision, among those that single precision cannot tell apart."""
        scores = _extend(points, weights) @ self._extended.T
        floor = scores.max(axis=1) - self._doubt(points, weights)
        query, row = np.nonzero(scores >= floor[:, None])
        exact = np.einsum("ij,ij->i", points[query], self._matrix[row], dtype=np.float64)
        exact -= weights[query] * self._half_norms[row]
        order = np.lexsort((row, -exact, query))
        _, first = np.unique(query[order], return_index=True)
        return row[order][first]

    def _doubt(self, points: Floats, weights: Floats) -> Floats:
        """The difference of two scores below which rounding may have changed their order."""
        lengths: Floats = np.linalg.norm(points, axis=1)
        error: Floats = lengths * self._error_per_length + weights * self._error_per_weight
        return 2 * error


def _extend(points: Floats, weights: Floats) -> Matrix:
    return np.concatenate([points, weights[:, None]], axis=1, dtype=np.float32, casting="same_kind")


class Vectors:
    """Entries of a vocabulary with their vectors, and which of them may be written.

    Args:
        entries: The vocabulary; an entry of several words has underscores between them.
        matrix: One vector per entry.
        excluded: Entries that are known as inputs but never written, such as people's names.
    """

    def __init__(self, entries: Sequence[str], matrix: Matrix, *, excluded: Iterable[str] = ()) -> None:
        self.entries = entries
        self.matrix = matrix
        self._rows = {entry: row for row, entry in enumerate(entries)}
        self._excluded = frozenset(excluded)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self.matrix.shape[1])

    def find(self, key: str) -> int:
        """The row of an entry, or ``UNKNOWN``."""
        return self._rows.get(key, UNKNOWN)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    @cached_property
    def writable(self) -> Rows:
        """The rows of the entries that may be written: words, and not excluded."""
        allowed = (row for row, entry in enumerate(self.entries) if is_plain(entry) and entry not in self._excluded)
        return np.fromiter(allowed, dtype=np.int64)

    @cached_property
    def centre(self) -> Matrix:
        """The mean of all vectors: where every chunk that is not in the vocabulary stands."""
        mean: Floats = self.matrix.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)

    @cached_property
    def _index(self) -> ExactIndex:
        everything = len(self.writable) == len(self)
        return ExactIndex(self.matrix if everything else self.matrix[self.writable])

    def place(self, rows: Rows) -> Floats:
        """The vectors of these rows; ``UNKNOWN`` stands at the centre."""
        points = self.matrix[rows].astype(np.float64)
        points[rows == UNKNOWN] = self.centre
        return points

    def nearest(self, points: Floats, weights: Floats) -> Rows:
        """The writable row nearest to each point; see :meth:`ExactIndex.search`."""
        return self.writable[self._index.search(points, weights)]
