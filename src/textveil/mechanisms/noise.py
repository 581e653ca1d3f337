"""The base of mechanisms that add noise to a vector and then choose an entry near the noisy point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.mechanisms.base import Mechanism, Request
from textveil.threads import in_threads

BLOCK_CHUNKS = 512
"""Chunks that one thread looks up at a time; this bounds the memory for noise."""


class Block(NamedTuple):
    """Noisy points in homogeneous coordinates: each point times its weight, and the weights."""

    points: Floats
    weights: Floats
    rows: RowNumbers
    """The rows of the chunks."""
    shares: Floats
    uniforms: Floats
    """A number in [0, 1) for every chunk; empty if the mechanism does not need any."""


class NoisyVector(Mechanism):
    """Adds multivariate Laplace noise to the vector of a chunk, of density proportional to exp(-share * |z|).

    The noise is a uniform direction times a length drawn from Gamma(d, 1/share). Scaled by share / (share + length),
    the noisy point has finite coordinates for every share: at share 0 it is a direction, which does not depend on the
    input, and that is the limit of the mechanism.
    """

    needs_uniforms = False
    """Whether the choice of an entry is random, too."""

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        self.searched = self.space
        """The vectors among which entries are chosen."""
        self.stretch: Floats | None = None
        """A matrix that shapes the noise; ``None`` for noise that is alike in all directions."""

    @abstractmethod
    def choose(self, block: Block) -> RowNumbers:
        """The rows chosen for the noisy points of a block."""

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        chosen = [np.empty(0, dtype=np.int64), *in_threads(self.choose, ((block,) for block in self._blocks(requests)))]
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(np.concatenate(chosen), ends[:-1])

    def _blocks(self, requests: Sequence[Request]) -> Iterator[Block]:
        """The noisy points of all requests, one after the other, a block at a time."""
        parts: list[Block] = []
        room = BLOCK_CHUNKS
        for request in requests:
            # All lengths before all directions: so a block may end anywhere and the stream stays the same.
            lengths = request.generator.standard_gamma(self.searched.dimensions, size=len(request.rows))
            uniforms = request.generator.random(len(request.rows) if self.needs_uniforms else 0)
            start = 0
            while start < len(request.rows):
                part = slice(start, start + room)
                parts.append(self._add_noise(request, part, lengths[part], uniforms[part]))
                start += len(parts[-1].weights)
                room -= len(parts[-1].weights)
                if room == 0:
                    yield _join(parts)
                    parts, room = [], BLOCK_CHUNKS
        if parts:
            yield _join(parts)

    def _add_noise(self, request: Request, part: slice, lengths: Floats, uniforms: Floats) -> Block:
        rows, shares = request.rows[part], request.shares[part]
        weights = shares / (shares + lengths)
        noise = request.generator.standard_normal((len(weights), self.searched.dimensions))
        noise *= ((1 - weights) / np.linalg.norm(noise, axis=1))[:, None]
        if self.stretch is not None:
            noise = noise @ self.stretch
        return Block(
            self.place(request, part, self.searched) * weights[:, None] + noise, weights, rows, shares, uniforms
        )


def _join(parts: Sequence[Block]) -> Block:
    return Block(*map(np.concatenate, zip(*parts, strict=True)))
