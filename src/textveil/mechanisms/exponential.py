"""The exponential mechanism on distances: SanText (Yue et al. 2021), and with a cap TEM (Carvalho et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.mechanisms.base import Mechanism, Request
from textveil.mechanisms.sampling import Exponents, draw
from textveil.registry import Option
from textveil.threads import in_threads

BLOCK_CHUNKS = 64
"""Chunks that one thread draws at a time; this bounds the memory for probabilities."""
BLOCK_PROBABILITIES = 2**20
"""With few entries, a block has more chunks, up to this number of probabilities."""


class Exponential(Mechanism):
    """Draws an entry y for a chunk x with p(y | x) proportional to exp(-share * min(d(x, y), cap) / 2).

    All writable entries are candidates, whatever the input.

    Guarantee:
        For two chunks at the distance D, the numerators differ by at most exp(share * min(D, cap) / 2), since the
        capped distance is a metric, and so do the sums that normalize them. Hence the probabilities of any entry differ
        by a factor of at most exp(share * min(D, cap)). With a cap this is at most exp(share * cap) for any two chunks:
        local differential privacy, without a distance.

    Without a cap this is SanText. TEM groups all entries beyond its threshold into one candidate with the score
    -threshold + 2 ln(n) / share, and then draws one of the n uniformly: each gets exp(-share * threshold / 2), so TEM
    is this mechanism with the threshold as the cap.
    """

    name = "exponential"
    guarantee = "exp(share * min(distance, cap)) between any two chunks, distance Euclidean in the bundle's embedding"

    options = (
        Option(
            "cap",
            float,
            None,
            "Distance from which on all entries are equally likely. It bounds the ratio for any two words by "
            "exp(share * cap). By default there is no cap.",
            least=0,
            most=1e12,
        ),
    )
    cap: float | None

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        self._block = max(BLOCK_CHUNKS, BLOCK_PROBABILITIES // len(self.space.writable))
        self._exponents = Exponents(self.space.matrix[self.space.writable], self.cap)

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        chosen = [np.empty(0, dtype=np.int64), *in_threads(self._choose, self._blocks(requests))]
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(self.space.writable[np.concatenate(chosen)], ends[:-1])

    def log_channel(self, points: Floats, shares: Floats) -> Floats:
        """The log-probability of every writable entry for chunks at these points: one row per point."""
        return normalize(self._exponents.compute(points, shares).astype(np.float64, copy=False))

    def _choose(self, points: Floats, shares: Floats, uniforms: Floats) -> RowNumbers:
        return draw(self._exponents.compute(points, shares), uniforms)

    def _blocks(self, requests: Sequence[Request]) -> Iterator[tuple[Floats, Floats, Floats]]:
        """The positions, shares and uniform numbers of all chunks, a block at a time."""
        parts: list[tuple[Floats, Floats, Floats]] = []
        room = self._block
        for request in requests:
            uniforms = request.generator.random(len(request.rows))
            start = 0
            while start < len(request.rows):
                part = slice(start, start + room)
                parts.append((self.place(request, part), request.shares[part], uniforms[part]))
                start += len(parts[-1][1])
                room -= len(parts[-1][1])
                if room == 0:
                    yield _join(parts)
                    parts, room = [], self._block
        if parts:
            yield _join(parts)


def _join(parts: Sequence[tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats, Floats]:
    points, shares, uniforms = zip(*parts, strict=True)
    return np.concatenate(points), np.concatenate(shares), np.concatenate(uniforms)


def normalize(exponents: Floats) -> Floats:
    """Log-probabilities whose exponentials sum to 1 in every row; the input is overwritten."""
    exponents -= exponents.max(axis=1, keepdims=True)
    exponents -= np.log(np.exp(exponents).sum(axis=1, keepdims=True))
    return exponents
