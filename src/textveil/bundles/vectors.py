"""A vocabulary and its matrix: rows by entry, what may be written, and the nearest entries of points."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.entries import UNKNOWN as UNKNOWN  # noqa: PLC0414 # for other modules, too
from textveil.bundles.entries import Entries, is_in
from textveil.bundles.exact_index import ExactIndex
from textveil.bundles.files import Floats as Floats  # noqa: PLC0414 # for other modules, too
from textveil.bundles.files import Matrix as Matrix  # noqa: PLC0414 # for other modules, too
from textveil.bundles.files import RowNumbers as RowNumbers  # noqa: PLC0414 # for other modules, too
from textveil.bundles.files import StoredMatrix
from textveil.errors import ParameterError
from textveil.text.documents import spoken
from textveil.text.words import find_words


def find_axes(covariance: Floats) -> Floats:
    """The principal axes of vectors with this covariance, one per column, by decreasing variance."""
    _, axes = np.linalg.eigh(covariance)
    axes = axes[:, ::-1]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    directed: Floats = axes * signs  # an axis has two directions; the choice must not depend on the library
    return directed


class Vectors:
    """The entries of a vocabulary with their vectors.

    Args:
        entries: The vocabulary; an entry of several words has underscores between them.
        matrix: One vector per entry, in memory or as it is stored.
        excluded: Entries that are known as inputs but never written, such as people's names.
        single_words: Never write an entry of several words, because texts are split into single words.
        axes: The principal axes of the vectors, one per column, if they are known already.
    """

    _compute: Callable[[], Matrix]
    """How to compute the vectors of a mapped vocabulary."""

    def __init__(
        self,
        entries: Sequence[str],
        matrix: StoredMatrix | Matrix,
        *,
        excluded: Iterable[str] = (),
        single_words: bool = False,
        axes: Floats | None = None,
    ) -> None:
        self.entries = Entries.of(entries)
        self.stored = matrix if isinstance(matrix, StoredMatrix) else StoredMatrix(matrix)
        self.dimensions = self.stored.shape[1]
        """The length of a vector."""
        self.transform: Floats | None = None
        """The matrix that maps the bundle's vectors to these; ``None`` if these are the bundle's."""
        self._known_axes = axes
        self._excluded = Entries.of(excluded)
        self._single_words = single_words

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def stored(self) -> StoredMatrix:
        """The vectors as they are stored; those of a mapped vocabulary are computed at first use."""
        return StoredMatrix(self._compute())

    @cached_property
    def matrix(self) -> Matrix:
        """All vectors in single precision. What is stored in fewer bits is decoded at first use."""
        return self.stored.decode()

    def take(self, rows: RowNumbers) -> Matrix:
        """The vectors of some rows in single precision."""
        return self.stored.take(rows)

    def find(self, key: str) -> int:
        """The row of an entry, or ``UNKNOWN``."""
        return self.entries.find(key)

    def __contains__(self, key: object) -> bool:
        return key in self.entries

    @cached_property
    def spoken_rows(self) -> dict[str, int]:
        """The row of every writable entry, by how a text has it."""
        return {spoken(self.entries[row]): row for row in self.writable.tolist()}

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest entry."""
        return 1 + self.entries.most_joints

    @cached_property
    def plain(self) -> RowNumbers:
        """The rows of the entries that consist of words and are not excluded."""
        marks = self.entries.plain.copy()
        if len(self._excluded):
            marks &= ~is_in(self.entries.hashes, self._excluded.hashes)
            # Only other entries with the words of an excluded one are compared as a text has them.
            keys, folded = self._excluded.fold(), self.entries.fold()
            suspects = np.flatnonzero(marks & is_in(folded, keys))
            asked = np.flatnonzero(is_in(keys, folded[suspects]))
            unwritten = {spoken(self._excluded[place]) for place in asked.tolist()}
            for row in suspects.tolist():
                marks[row] = spoken(self.entries[row]) not in unwritten
        return np.flatnonzero(marks)

    @cached_property
    def writable(self) -> RowNumbers:
        """The rows of the entries that may be written."""
        if not self._single_words:
            return self.plain
        return self.plain[self.entries.alphanumeric[self.plain]]

    @cached_property
    def center(self) -> Matrix:
        """The mean of all vectors: the position of an unknown chunk that is not placed by its spelling."""
        if self.stored.is_large:
            total = np.sum([tile.sum(axis=0, dtype=np.float64) for _, tile in self.stored.tiles()], axis=0)
            mean: Floats = total / len(self)
        else:
            mean = self.matrix.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)

    @cached_property
    def index(self) -> ExactIndex:
        """The index of the entries that may be written, built at first use."""
        return ExactIndex(self.stored, self.writable)

    def place(self, rows: RowNumbers, spelled: Floats | None = None) -> Floats:
        """The vectors of these rows.

        Args:
            rows: Rows of the matrix, or ``UNKNOWN``.
            spelled: The bundle's vectors for the unknown rows, in their order; by default they are at the center.
        """
        points = self.take(rows).astype(np.float64)
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
        return find_axes(self.covariance())

    def covariance(self) -> Floats:
        """The sum of the outer products of all vectors relative to their center."""
        if self.stored.is_large:
            moved = ((tile - self.center).astype(np.float64) for _, tile in self.stored.tiles())
            return np.asarray(np.sum([part.T @ part for part in moved], axis=0))
        centered = self.matrix - self.center
        return (centered.T @ centered).astype(np.float64)

    def project(self, dimensions: int) -> Vectors:
        """The same vocabulary in fewer dimensions: the projection of all vectors on the first principal axes."""
        if not 1 <= dimensions <= self.dimensions:
            raise ParameterError(f"`dimensions` must be from 1 to {self.dimensions}. Got {dimensions} instead.")
        return self if dimensions == self.dimensions else self.map_by(self.axes[:, :dimensions])

    def limit_to_words(self) -> Vectors:
        """The same vocabulary, of which only entries that are a single word of a text may be written."""
        written = ((row, spoken(self.entries[row])) for row in self.writable.tolist())
        single = [row for row, text in written if (text.isascii() and text.isalnum()) or find_words(text) == [text]]
        if len(single) == len(self.writable):
            return self
        limited = copy.copy(self)
        limited.__dict__.pop("index", None)
        limited.writable = np.array(single, dtype=np.int64)
        return limited

    def map_by(self, transform: Floats) -> Vectors:
        """The same vocabulary with every vector multiplied by a matrix."""
        mapped = copy.copy(self)
        for name in ("stored", "matrix", "center", "index", "axes"):
            mapped.__dict__.pop(name, None)
        mapped._compute = partial(self._multiply, transform.astype(np.float32))  # a copy of this object
        mapped.dimensions = transform.shape[1]
        mapped.transform = transform if self.transform is None else self.transform @ transform
        mapped._known_axes = None
        return mapped

    def _multiply(self, transform: Matrix) -> Matrix:
        """All vectors times a matrix; those of a large matrix tile by tile."""
        if not self.stored.is_large:
            return (self.matrix @ transform).astype(np.float32)
        product = np.empty((len(self), transform.shape[1]), dtype=np.float32)
        for part, tile in self.stored.tiles():
            np.matmul(tile, transform, out=product[part])
        return product

    def nearest(self, points: Floats, weights: Floats) -> RowNumbers:
        """The writable row nearest to each point; see :class:`ExactIndex`."""
        return self.writable[self.index.search(points, weights)]


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
