"""A vocabulary and its matrix, with exact batched nearest-neighbor search."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from textveil.errors import ParameterError
from textveil.language.text import spoken
from textveil.language.words import find_words

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]
RowNumbers = npt.NDArray[np.int64]

UNKNOWN = -1
"""The row of a chunk that is not in the vocabulary."""

TILE_ENTRIES = 2048  # with 512 points, 4 MiB of scores at a time: they are read back from the cache
_PLAIN_ENTRY = re.compile(r"[^\W_]+(?:[ _][^\W_]+)*")


def is_plain(entry: str) -> bool:
    """Whether an entry consists of words only and can therefore be written into a text.

    >>> [is_plain(entry) for entry in ("tea", "new_york", "_tea_", "...", "a@b.org")]
    [True, True, False, False, False]
    """
    return entry.isalnum() or _PLAIN_ENTRY.fullmatch(entry) is not None


def _join_words(entries: Sequence[str]) -> list[str]:
    """Entries in lowercase, with underscores for spaces and apostrophes: equal if two entries have the same words."""
    joined = "\n".join(entries)  # all at once is several times faster than one by one
    if joined.count("\n") != max(len(entries) - 1, 0):
        return [entry.lower().replace(" ", "_").replace("'", "_") for entry in entries]
    lowered = joined.lower().replace(" ", "_").replace("'", "_")
    return list(entries) if lowered == joined else lowered.split("\n")[: len(entries)]


class ExactIndex:
    """Finds the nearest entry of a matrix, in Euclidean distance, for many points at once.

    The nearest entry w of a point q is the one with the largest q.w - |w|^2/2. A matrix product in single precision
    finds the two best entries. If their scores differ by less than the rounding error, double precision decides.
    Therefore the answer depends neither on the batch size nor on the number of threads.

    Points are given in homogeneous coordinates: the point times its weight, and the weight. A weight of 1 is an
    ordinary point. As the weight approaches 0, the point moves to infinity. At 0 it is a direction, and its nearest
    entry is the one most aligned with it.

    Args:
        matrix: One entry per row.
        rows: The rows to search, by default all. Answers are positions in this list.
    """

    def __init__(self, matrix: Matrix, rows: RowNumbers | None = None) -> None:
        rows = np.arange(len(matrix)) if rows is None else rows
        # The last column carries -|w|^2/2, so that one product gives the whole score.
        self._extended = np.empty((len(rows), matrix.shape[1] + 1), dtype=np.float32)
        self._entries = self._extended[:, :-1]
        for start in range(0, len(rows), TILE_ENTRIES):  # in tiles, to avoid a second copy
            tile = slice(start, start + TILE_ENTRIES)
            self._entries[tile] = matrix[rows[tile]]
        norms = np.einsum("ij,ij->i", self._entries, self._entries)
        self._extended[:, -1] = norms / -2
        # |fl(x.y) - x.y| <= n u |x||y| for n terms and the unit round-off u. The factors are rounded too, which adds a
        # little, and |w|^2/2 counts twice because it was itself rounded.
        unit = (matrix.shape[1] + 4) * float(np.finfo(np.float32).eps) / 2
        longest = float(norms.max(initial=0.0)) * (1 + unit)
        self._error_per_length = unit * math.sqrt(longest)
        self._error_per_weight = unit * longest

    def search(self, points: Floats, weights: Floats) -> RowNumbers:
        """The nearest row of each point; the first one of equally near entries.

        Batches of a few hundred points are fastest. The method is thread-safe.
        """
        queries = np.concatenate([points, weights[:, None]], axis=1, dtype=np.float32, casting="same_kind")
        each = np.arange(len(queries))
        starts = range(0, len(self._extended), TILE_ENTRIES)
        tops = np.empty((len(starts), len(queries)), dtype=np.float32)
        seconds = np.empty_like(tops)
        rows = np.empty(tops.shape, dtype=np.int64)
        buffer = np.empty((len(queries), min(TILE_ENTRIES, len(self._extended))), dtype=np.float32)
        for tile, start in enumerate(starts):
            entries = self._extended[start : start + TILE_ENTRIES]
            scores = np.matmul(queries, entries.T, out=buffer[:, : len(entries)])
            row = scores.argmax(axis=1)
            tops[tile], rows[tile] = scores[each, row], row + start
            scores[each, row] = -np.inf
            seconds[tile] = scores.max(axis=1)
        winner = tops.argmax(axis=0)
        nearest: RowNumbers = rows[winner, each]
        best = tops[winner, each]
        others = np.where(np.arange(len(starts))[:, None] == winner, seconds, tops).max(axis=0)
        doubt = self._doubt(points, weights)
        for query in np.flatnonzero(best - others <= doubt):
            floor = best[query] - doubt[query]
            tiles = np.flatnonzero(tops[:, query] >= floor)
            nearest[query] = self._decide(points[query], weights[query], queries[query], tiles, floor)
        return nearest

    def _doubt(self, points: Floats, weights: Floats) -> Floats:
        """The difference of two scores up to which rounding may have changed their order."""
        lengths: Floats = np.linalg.norm(points, axis=1)
        error: Floats = lengths * self._error_per_length + weights * self._error_per_weight
        return 2 * error

    def _decide(self, point: Floats, weight: float, query: Matrix, tiles: RowNumbers, floor: float) -> int:
        """The best entry in double precision, among the entries of ``tiles`` with a score of at least ``floor``."""
        candidates = np.concatenate(
            [
                tile * TILE_ENTRIES
                + np.flatnonzero(self._extended[tile * TILE_ENTRIES : (tile + 1) * TILE_ENTRIES] @ query >= floor)
                for tile in tiles
            ]
        )
        entries = self._entries[candidates].astype(np.float64)
        # einsum sums every row in the same order, so equal entries have equal scores.
        exact = np.einsum("ij,j->i", entries, point) - weight / 2 * np.einsum("ij,ij->i", entries, entries)
        return int(candidates[exact.argmax()])


def find_axes(moved: Matrix) -> Floats:
    """The principal axes of vectors around the origin, one per column, by decreasing variance."""
    _, axes = np.linalg.eigh((moved.T @ moved).astype(np.float64))
    axes = axes[:, ::-1]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    directed: Floats = axes * signs  # an axis has two directions; the choice must not depend on the library
    return directed


class Vectors:
    """The entries of a vocabulary with their vectors.

    Args:
        entries: The vocabulary; an entry of several words has underscores between them.
        matrix: One vector per entry.
        excluded: Entries that are known as inputs but never written, such as people's names.
        single_words: Never write an entry of several words, because texts are split into single words.
        axes: The principal axes of the vectors, one per column, if they are known already.
    """

    def __init__(
        self,
        entries: Sequence[str],
        matrix: Matrix,
        *,
        excluded: Iterable[str] = (),
        single_words: bool = False,
        axes: Floats | None = None,
    ) -> None:
        self.entries = entries
        self.matrix = matrix
        self.transform: Floats | None = None
        """The matrix that maps the bundle's vectors to these; ``None`` if these are the bundle's."""
        self._known_axes = axes
        self._rows = dict(zip(entries, range(len(entries)), strict=True))
        self._excluded = frozenset(excluded)
        self._single_words = single_words

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def are_distinct(self) -> bool:
        """Whether no entry is there twice."""
        return len(self._rows) == len(self.entries)

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
    def spoken_rows(self) -> dict[str, int]:
        """The row of every writable entry, by how a text has it."""
        return {spoken(self.entries[row]): row for row in self.writable.tolist()}

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest entry."""
        return 1 + max(entry.count("_") for entry in self.entries)

    @cached_property
    def plain(self) -> RowNumbers:
        """The rows of the entries that consist of words and are not excluded."""
        marks = np.fromiter(map(str.isalnum, self.entries), bool, len(self.entries))  # plain, and most entries are
        for row in np.flatnonzero(~marks).tolist():
            marks[row] = is_plain(self.entries[row])
        marks &= ~np.fromiter(map(self._excluded.__contains__, self.entries), bool, len(self.entries))
        # Only other entries with the words of an excluded one are compared as a text has them.
        excluded = tuple(self._excluded)
        keys, joined = _join_words(excluded), _join_words(self.entries)
        like = frozenset(keys)
        suspects = np.flatnonzero(marks & np.fromiter(map(like.__contains__, joined), bool, len(joined))).tolist()
        asked = {joined[row] for row in suspects}
        unwritten = {spoken(entry) for entry, key in zip(excluded, keys, strict=True) if key in asked}
        for row in suspects:
            marks[row] = spoken(self.entries[row]) not in unwritten
        return np.flatnonzero(marks)

    @cached_property
    def writable(self) -> RowNumbers:
        """The rows of the entries that may be written."""
        if not self._single_words:
            return self.plain
        return np.array([row for row in self.plain if self.entries[row].isalnum()], dtype=np.int64)

    @cached_property
    def center(self) -> Matrix:
        """The mean of all vectors: the position of an unknown chunk that is not placed by its spelling."""
        mean: Floats = self.matrix.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)

    @cached_property
    def index(self) -> ExactIndex:
        """The index of the entries that may be written, built at first use."""
        return ExactIndex(self.matrix, self.writable)

    def place(self, rows: RowNumbers, spelled: Floats | None = None) -> Floats:
        """The vectors of these rows.

        Args:
            rows: Rows of the matrix, or ``UNKNOWN``.
            spelled: The bundle's vectors for the unknown rows, in their order; by default they are at the center.
        """
        points = self.matrix[rows].astype(np.float64)
        if spelled is None:
            points[rows == UNKNOWN] = self.center
        else:
            points[rows == UNKNOWN] = spelled if self.transform is None else spelled @ self.transform
        return points

    @cached_property
    def axes(self) -> Floats:
        """The principal axes of the vectors, one per column, by decreasing variance.

        They are orthonormal. A projection on some of them contracts distances.
        """
        if self._known_axes is not None:
            return self._known_axes
        return find_axes(self.matrix - self.center)

    def project(self, dimensions: int) -> Vectors:
        """The same vocabulary in fewer dimensions: the projection of all vectors on the first principal axes."""
        if not 1 <= dimensions <= self.dimensions:
            raise ParameterError(f"`dimensions` must be from 1 to {self.dimensions}. Got {dimensions} instead.")
        return self if dimensions == self.dimensions else self.map_by(self.axes[:, :dimensions])

    def limit_to_words(self) -> Vectors:
        """The same vocabulary, of which only entries that are a single word of a text may be written."""
        written = ((row, spoken(self.entries[row])) for row in self.writable)
        single = [row for row, text in written if find_words(text) == [text]]
        if len(single) == len(self.writable):
            return self
        limited = copy.copy(self)
        limited.__dict__.pop("index", None)
        limited.writable = np.array(single, dtype=np.int64)
        return limited

    def map_by(self, transform: Floats) -> Vectors:
        """The same vocabulary with every vector multiplied by a matrix."""
        mapped = copy.copy(self)
        for name in ("center", "index", "axes"):
            mapped.__dict__.pop(name, None)
        mapped.matrix = (self.matrix @ transform.astype(np.float32)).astype(np.float32)
        mapped.transform = transform if self.transform is None else self.transform @ transform
        mapped._known_axes = None  # a copy of this object
        return mapped

    def nearest(self, points: Floats, weights: Floats) -> RowNumbers:
        """The writable row nearest to each point; see :class:`ExactIndex`."""
        return self.writable[self.index.search(points, weights)]
