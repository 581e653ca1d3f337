"""MADLIB (Feyisetan et al. 2020): multivariate Laplace noise on the vector, then the nearest entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from textveil.mechanisms.base import Mechanism, Request
from textveil.vectors import Floats, Rows

BLOCK_CHUNKS = 4096
"""Chunks perturbed at a time; bounds the memory that noise takes."""


class Madlib(Mechanism):
    """Adds noise of density proportional to exp(-share * |z|) and writes the nearest entry.

    The noise is a uniform direction times a length drawn from Gamma(d, 1/share). Scaled by share / (share + length),
    the noisy point has finite coordinates for every share: at share 0 it is a direction, whose nearest entry does
    not depend on the input, and that is the limit of the mechanism.

    Guarantee:
        For two chunks at the Euclidean distance D, and any entry, the probabilities of choosing it differ by a factor
        of at most exp(share * D); the search for the nearest entry is post-processing. A chunk that is not in the
        vocabulary stands at the centre of all vectors, so D is defined for every pair of chunks. This holds for
        real numbers; what floating-point noise adds to it stays open.
    """

    name = "madlib"
    guarantee = "exp(share * distance) between any two chunks, distance Euclidean in the bundle's embedding"

    def perturb(self, requests: Sequence[Request]) -> list[Rows]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        parts = list(self._perturb_blocks(requests))
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(np.concatenate([np.empty(0, dtype=np.int64), *parts]), ends[:-1])

    def _perturb_blocks(self, requests: Sequence[Request]) -> Iterator[Rows]:
        """The chosen rows of all requests, one after the other, a block at a time."""
        points: list[Floats] = []
        weights: list[Floats] = []
        waiting = 0
        for request in requests:
            # All lengths before all directions: so a block may end anywhere and the stream stays the same.
            lengths = request.generator.standard_gamma(self.vectors.dimensions, size=len(request.rows))
            for start in range(0, len(request.rows), BLOCK_CHUNKS):
                part = slice(start, start + BLOCK_CHUNKS)
                weight = request.shares[part] / (request.shares[part] + lengths[part])
                noise = request.generator.standard_normal((len(weight), self.vectors.dimensions))
                noise *= ((1 - weight) / np.linalg.norm(noise, axis=1))[:, None]
                points.append(self.vectors.place(request.rows[part]) * weight[:, None] + noise)
                weights.append(weight)
                waiting += len(weight)
                if waiting >= BLOCK_CHUNKS:
                    yield self.vectors.nearest(np.concatenate(points), np.concatenate(weights))
                    points, weights, waiting = [], [], 0
        if waiting:
            yield self.vectors.nearest(np.concatenate(points), np.concatenate(weights))
