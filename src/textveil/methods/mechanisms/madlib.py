"""MADLIB (Feyisetan et al. 2020): multivariate Laplace noise on the vector, then the nearest entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.methods.mechanisms.noise import Block, NoisyVector
from textveil.registry import Option


class Madlib(NoisyVector):
    """Adds noise of density proportional to exp(-share * norm(z)) and writes the nearest entry.

    Guarantee:
        For two chunks at the Euclidean distance D, and any entry, the probabilities of choosing it differ by a factor
        of at most exp(share * D); the search for the nearest entry is post-processing. A chunk that is not in the
        vocabulary is placed by its spelling, or at the center of all vectors, so D is defined for every pair of chunks.
        The proof is for real numbers; the effect of floating-point noise is an open question.

    With ``rank_decay``, the nearest entry gives way to one of its neighbors: the one of rank r, where the entry itself
    has rank 0, with a probability proportional to exp(-rank_decay * share * r) (Asghar et al. 2024). It depends on
    nothing but the released entry and the public share, so it is post-processing, too. It softens the cliff between
    hardly any and nearly all words that return.
    """

    name = "madlib"
    guarantee = "exp(share * distance) between any two chunks, distance Euclidean in the bundle's embedding"

    options = (
        Option(
            "rank_decay",
            float,
            None,
            "Draw among the neighbors of the nearest entry, with probabilities proportional to "
            "exp(-rank_decay * share * rank). By default the nearest entry is written.",
            least=0,
        ),
    )
    rank_decay: float | None

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        self.needs_uniforms = self.rank_decay is not None

    def choose(self, block: Block) -> RowNumbers:
        """The entries nearest to the noisy points, or neighbors of them."""
        nearest = self.searched.nearest(block.points, block.weights)
        if self.rank_decay is None:
            return nearest
        ranks = draw_ranks(self.rank_decay * block.shares, len(self.searched.writable), block.uniforms)
        return self._find_neighbors(nearest, ranks)

    def _find_neighbors(self, rows: RowNumbers, ranks: RowNumbers) -> RowNumbers:
        """The writable entry of a rank among the neighbors of each row; rank 0 is the row itself."""
        writable = self.searched.writable
        entries = self.searched.matrix[writable]
        norms = np.einsum("ij,ij->i", entries, entries)
        found = rows.copy()
        for position in np.flatnonzero(ranks):
            row, rank = rows[position], int(ranks[position])
            squares = norms - 2 * (entries @ self.searched.matrix[row])
            squares[np.searchsorted(writable, row)] = -np.inf
            found[position] = writable[np.argpartition(squares, rank)[rank]]
        return found


def draw_ranks(decays: Floats, number: int, uniforms: Floats) -> RowNumbers:
    """Ranks from 0 to ``number`` - 1 with probabilities proportional to exp(-decay * rank).

    >>> draw_ranks(np.array([0.0, 0.0, 50.0]), 10, np.array([0.0, 0.99, 0.99])).tolist()
    [0, 9, 0]
    """
    flat = decays < 1e-12  # the limit of a uniform distribution
    steps = np.where(flat, 1.0, decays)
    # The inverse of the distribution function (1 - exp(-decay * (r + 1))) / (1 - exp(-decay * number)).
    drawn = np.floor(-np.log1p(uniforms * np.expm1(-steps * number)) / steps)
    ranks: RowNumbers = np.where(flat, np.floor(uniforms * number), drawn).astype(np.int64)
    return np.clip(ranks, 0, number - 1)
