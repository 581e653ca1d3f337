"""The base of mechanisms that add noise to a vector and then choose an entry near the noisy point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.methods.mechanisms.base import Draft, Mechanism, Request, cut_into_blocks
from textveil.threads import in_threads

BLOCK_CHUNKS = 512
"""Chunks that one thread looks up at a time; this bounds the memory for noise."""

_NONE: RowNumbers = np.empty(0, dtype=np.int64)
_NO_UNIFORMS: Floats = np.empty(0)


class Block(NamedTuple):
    """Noisy points in homogeneous coordinates: each point times its weight, and the weights."""

    points: Floats
    weights: Floats
    rows: RowNumbers
    """The rows of the chunks."""
    shares: Floats
    """The shares of the chunks; after a draft, those of both rounds together."""
    uniforms: Floats
    """A number in [0, 1) for every chunk; empty if the mechanism does not need any."""


class NoisyVector(Mechanism):
    """Adds multivariate Laplace noise to the vector of a chunk, of density proportional to exp(-share * |z|).

    The noise is a uniform direction times a length drawn from Gamma(d, 1/share). Scaled by share / (share + length),
    the noisy point has finite coordinates for every share: at share 0 it is a direction, which does not depend on the
    input, and that is the limit of the mechanism.

    After a draft there are two noisy points for a chunk. Their mean is weighted by the squares of the shares, since the
    variance of the noise is proportional to one over the square.
    """

    needs_uniforms = False
    """Whether the choice of an entry is random, too."""

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        self.searched = self.space
        """The vectors among which entries are chosen."""
        _ = self.searched.index  # built once, not by several threads
        self.stretch: Floats | None = None
        """A matrix that shapes the noise; ``None`` for noise that is alike in all directions."""

    @abstractmethod
    def choose(self, block: Block) -> RowNumbers:
        """The rows chosen for the noisy points of a block."""

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        chosen = [_NONE, *in_threads(self.choose, ((block,) for block in self.add_noise(requests)))]
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(np.concatenate(chosen), ends[:-1])

    def draft(self, requests: Sequence[Request]) -> list[Draft]:
        """The chosen rows with the noisy points that led to them.

        The bound holds for the noisy points themselves, so the second round may use them. They are not written.
        """
        kept: list[Block] = []

        def keep(blocks: Iterator[Block]) -> Iterator[tuple[Block]]:
            for block in blocks:
                kept.append(block._replace(points=block.points.astype(np.float32)))
                yield (block,)

        chosen = np.concatenate([_NONE, *in_threads(self.choose, keep(self.add_noise(requests)))])
        points = np.concatenate(
            [np.empty((0, self.searched.dimensions), np.float32), *(block.points for block in kept)]
        )
        reaches = np.concatenate([np.empty(0), *(block.shares / block.weights for block in kept)])
        drafts, start = [], 0
        for request in requests:
            part = slice(start, start + len(request.rows))
            drafts.append(Draft(chosen[part], request.shares, points[part], reaches[part]))
            start = part.stop
        return drafts

    def regroup(self, draft: Draft, starts: RowNumbers, rows: RowNumbers) -> Draft:
        """The draft of chunks: the noisy point of a word, and for several words, the vector of their entry."""
        joined = super().regroup(draft, starts, rows)
        if draft.points is None or draft.reaches is None:
            raise RuntimeError  # a draft of another mechanism
        points, reaches = draft.points[starts], draft.reaches[starts]
        several = np.diff(starts, append=len(draft.rows)) > 1
        points[several] = self.searched.take(rows[several])
        reaches[several] = joined.shares[several]
        return joined._replace(points=points, reaches=reaches)

    def add_noise(self, requests: Sequence[Request]) -> Iterator[Block]:
        """The noisy points of all requests, one after the other, a block at a time."""
        dimensions = self.searched.dimensions
        lengths = uniforms = _NO_UNIFORMS
        for parts in cut_into_blocks(requests, BLOCK_CHUNKS):
            drawn = []
            for request, part in parts:
                if part.start == 0:
                    # All lengths before all directions: so a block may end anywhere and the stream stays the same.
                    lengths = request.generator.standard_gamma(dimensions, size=len(request.rows))
                    uniforms = request.generator.random(len(request.rows)) if self.needs_uniforms else _NO_UNIFORMS
                normals = request.generator.standard_normal((part.stop - part.start, dimensions))
                drawn.append((lengths[part], normals, uniforms[part]))
            yield self._blur(parts, *map(np.concatenate, zip(*drawn, strict=True)))

    def _blur(self, parts: Sequence[tuple[Request, slice]], lengths: Floats, noise: Floats, uniforms: Floats) -> Block:
        """The noisy points of parts of requests, given the lengths of the noise and normal numbers as directions."""
        rows = np.concatenate([request.rows[part] for request, part in parts])
        shares = np.concatenate([request.shares[part] for request, part in parts])
        weights = shares / (shares + lengths)
        noise *= ((1 - weights) / np.linalg.norm(noise, axis=1))[:, None]
        if self.stretch is not None:  # BLAS may round a row by its place in the block, einsum does not
            noise = np.einsum("ij,jk->ik", noise, self.stretch)
        points = self.place_all(parts, self.searched) * weights[:, None] + noise
        ends = accumulate(part.stop - part.start for _, part in parts)
        for (request, part), (start, end) in zip(parts, pairwise([0, *ends]), strict=True):
            draft, own = request.draft, slice(start, end)
            if draft is not None:
                reaches = shares[own] + lengths[own]
                points[own], weights[own] = fuse(points[own], shares[own], reaches, draft, part)
                shares[own] += draft.shares[part]
        return Block(points, weights, rows, shares, uniforms)


def fuse(points: Floats, shares: Floats, reaches: Floats, draft: Draft, part: slice) -> tuple[Floats, Floats]:
    """The means of noisy points and those of a draft, weighted by the squares of the shares.

    All points are in homogeneous coordinates: a point times share / reach, and this factor.

    Args:
        points: The noisy points times share / reach.
        shares: The shares of the chunks.
        reaches: The share of each chunk plus the length of its noise, in units of one over the share.
        draft: The draft.
        part: The chunks of the draft.
    """
    if draft.points is None or draft.reaches is None:
        raise RuntimeError  # a draft of another mechanism
    largest = np.maximum(reaches, draft.reaches[part])  # no product overflows
    new, old = shares / largest, draft.shares[part] / largest
    factors = np.stack([new * (reaches / largest), old * (draft.reaches[part] / largest)])
    total = factors.sum(axis=0)
    spent = total > 0
    factors = np.where(spent, factors, [[1.0], [0.0]])  # without any share, the new direction alone
    total[~spent] = 1
    factors /= total
    return points * factors[0][:, None] + draft.points[part] * factors[1][:, None], (new**2 + old**2) / total
