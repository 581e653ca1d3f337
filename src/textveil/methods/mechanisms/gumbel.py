"""The truncated Gumbel mechanism (Xu et al. 2020): noisy distances of the nearest entries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats, Matrix, RowNumbers, Vectors
from textveil.methods.mechanisms.base import NO_GUARANTEE, Mechanism, Request
from textveil.methods.mechanisms.sampling import squared_distances

BLOCK_CHUNKS = 64


class Gumbel(Mechanism):
    """Adds truncated Gumbel noise to the distances of the k nearest entries, and chooses the smallest sum.

    The number k is drawn from a Poisson distribution with the mean ln(n) for n entries, truncated to 1 to n. The scale
    of the noise follows from the share and from the smallest and largest distance between entries, as published. For
    shares too small for the published formula, the noise is uniform, which is the limit of a large scale.

    Guarantee:
        None. The k nearest entries depend on the input, so an entry may be possible for one chunk and impossible for
        another. It is here for comparison.
    """

    name = "gumbel"
    guarantee = NO_GUARANTEE

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        self._entries = self.space.matrix[self.space.writable]
        distances = _sample_distances(self._entries)
        self._smallest, self._largest = float(distances.min()), float(distances.max())

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        return [self._perturb_document(request) for request in requests]

    def _perturb_document(self, request: Request) -> RowNumbers:
        chosen = np.empty(len(request.rows), dtype=np.int64)
        for start in range(0, len(chosen), BLOCK_CHUNKS):
            part = slice(start, min(start + BLOCK_CHUNKS, len(chosen)))
            distances = np.sqrt(squared_distances(self.place(request, part), self._entries))
            for row, share in enumerate(request.shares[part]):
                chosen[start + row] = self._choose(distances[row], float(share), request.generator)
        rows: RowNumbers = self.space.writable[chosen]
        return rows

    def _choose(self, distances: Floats, share: float, generator: np.random.Generator) -> int:
        number = len(distances)
        nearest = number + 1
        while not 1 <= nearest <= number:
            nearest = int(generator.poisson(math.log(number))) if number > 1 else 1
        candidates = np.argpartition(distances, nearest - 1)[:nearest]
        noise = self._draw_noise(nearest, self.find_scale(share), generator)
        return int(candidates[(distances[candidates] + noise).argmin()])

    def find_scale(self, share: float) -> float:
        """The scale of the noise at a share, as published; infinite if the share is too small for it."""
        excess = (share - 2 * (1 + math.log(len(self._entries))) / self._smallest) / 3
        if excess * self._smallest <= 1:
            return math.inf
        lambert = solve_lambert(2 * excess * self._largest)
        return 2 * self._largest / min(lambert, math.log(excess * self._smallest))

    def _draw_noise(self, size: int, scale: float, generator: np.random.Generator) -> Floats:
        """Gumbel noise of at most the largest distance in absolute value, by the inverse distribution function."""
        uniforms = generator.random(size)
        if math.isinf(scale):
            return self._largest * (2 * uniforms - 1)
        low, high = (math.exp(-math.exp(min(-end / scale, 700.0))) for end in (-self._largest, self._largest))
        noise: Floats = -scale * np.log(-np.log(np.clip(low + uniforms * (high - low), 1e-300, 1 - 1e-16)))
        return noise


def solve_lambert(value: float) -> float:
    """The solution w of w * exp(w) = value for a positive value, by Newton's method.

    >>> round(solve_lambert(math.e), 12)
    1.0
    """
    solution = math.log1p(value)
    for _ in range(50):
        step = (solution - value * math.exp(-solution)) / (1 + solution)
        solution -= step
        if abs(step) < 1e-14 * (1 + abs(solution)):
            break
    return solution


def _sample_distances(entries: Matrix) -> Floats:
    """Distances between entries, without those of an entry from itself: of every k-th entry from all."""
    sample = entries[:: max(1, len(entries) // 200)].astype(np.float64)
    distances = np.sqrt(squared_distances(sample, entries))
    apart: Floats = distances[distances > 1e-6 * distances.max(initial=0.0)]
    return apart if len(apart) else np.ones(1)
