"""MADLIB (Feyisetan et al. 2020): multivariate Laplace noise on the vector, then the nearest entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.mechanisms.base import Mechanism, Request
from textveil.threads import in_threads

BLOCK_CHUNKS = 512
"""Chunks that one thread looks up at a time; this bounds the memory for noise."""


class Madlib(Mechanism):
    """Adds noise of density proportional to exp(-share * |z|) and writes the nearest entry.

    The noise is a uniform direction times a length drawn from Gamma(d, 1/share). Scaled by share / (share + length),
    the noisy point has finite coordinates for every share: at share 0 it is a direction, whose nearest entry does
    not depend on the input, and that is the limit of the mechanism.

    Guarantee:
        For two chunks at the Euclidean distance D, and any entry, the probabilities of choosing it differ by a factor
        of at most exp(share * D); the search for the nearest entry is post-processing. A chunk that is not in the
        vocabulary is placed at the center of all vectors, so D is defined for every pair of chunks. The proof is for
        real numbers; the effect of floating-point noise is an open question.
    """

    name = "madlib"
    guarantee = "exp(share * distance) between any two chunks, distance Euclidean in the bundle's embedding"

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        _ = self.space.index  # built here, once, and not by several threads at a time

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        chosen = [np.empty(0, dtype=np.int64), *in_threads(self.space.nearest, self._noisy_blocks(requests))]
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(np.concatenate(chosen), ends[:-1])

    def _noisy_blocks(self, requests: Sequence[Request]) -> Iterator[tuple[Floats, Floats]]:
        """The noisy points of all requests, one after the other, a block at a time, with their weights."""
        points: list[Floats] = []
        weights: list[Floats] = []
        room = BLOCK_CHUNKS
        for request in requests:
            # All lengths before all directions: so a block may end anywhere and the stream stays the same.
            lengths = request.generator.standard_gamma(self.space.dimensions, size=len(request.rows))
            start = 0
            while start < len(request.rows):
                part = slice(start, start + room)
                weight = request.shares[part] / (request.shares[part] + lengths[part])
                noise = request.generator.standard_normal((len(weight), self.space.dimensions))
                noise *= ((1 - weight) / np.linalg.norm(noise, axis=1))[:, None]
                points.append(self.place(request, part) * weight[:, None] + noise)
                weights.append(weight)
                start += len(weight)
                room -= len(weight)
                if room == 0:
                    yield np.concatenate(points), np.concatenate(weights)
                    points, weights, room = [], [], BLOCK_CHUNKS
        if weights:
            yield np.concatenate(points), np.concatenate(weights)
