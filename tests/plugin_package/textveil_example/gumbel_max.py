"""The exponential mechanism, drawn by adding noise to scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from textveil.methods.mechanisms import Mechanism, Request

BLOCK = 64
"""Chunks to draw at a time, so that memory does not grow with a text."""


class GumbelMax(Mechanism):
    """Draws an entry y for a chunk x with p(y | x) proportional to exp(-share * d(x, y) / 2).

    The entry with the largest sum of -share * d(x, y) / 2 and Gumbel noise has this distribution.

    Guarantee:
        By the triangle inequality, numerators for two chunks at the distance D differ by at most exp(share * D / 2),
        and so do the sums that normalize them. Hence probabilities differ by at most exp(share * D). A draft is public
        and multiplies all probabilities by the same factors for any x, so the bound stays.
    """

    name = "gumbel_max"
    guarantee = "exp(share * distance) between any two chunks, distance Euclidean in the bundle's embedding"

    def perturb(self, requests: Sequence[Request]) -> list[np.ndarray]:
        """The rows chosen for the chunks of each request."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> np.ndarray:
        blocks = [slice(start, start + BLOCK) for start in range(0, len(request.rows), BLOCK)]
        return np.concatenate([np.empty(0, dtype=np.int64), *(self._draw(request, block) for block in blocks)])

    def _draw(self, request: Request, block: slice) -> np.ndarray:
        scores = -self._weigh(self.place(request, block), request.shares[block])
        if request.draft is not None:
            scores -= self._weigh(self.space.place(request.draft.rows[block]), request.draft.shares[block])
        noise = request.generator.gumbel(size=scores.shape)
        return self.space.writable[np.argmax(scores + noise, axis=1)]

    def _weigh(self, points: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Share times distance to every writable entry, divided by 2."""
        squares = (points**2).sum(axis=1)[:, None] + (self._entries**2).sum(axis=1) - 2 * points @ self._entries.T
        return np.minimum(shares, 1e100)[:, None] * np.sqrt(np.maximum(squares, 0)) / 2

    @cached_property
    def _entries(self) -> np.ndarray:
        return self.space.matrix[self.space.writable].astype(float)
