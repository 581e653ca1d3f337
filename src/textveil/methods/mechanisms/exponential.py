"""The exponential mechanism on distances: SanText (Yue et al. 2021), and with a cap TEM (Carvalho et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.methods.mechanisms.base import Draft, Mechanism, Request, cut_into_blocks
from textveil.methods.mechanisms.sampling import Exponent, Exponents, Single, draw
from textveil.registry import Option
from textveil.threads import in_threads

DRAWN_CHUNKS = 64
"""Chunks that one thread draws at a time; this bounds the memory for probabilities."""
DRAWN_PROBABILITIES = 2**20
"""With few entries, a thread draws more of them, up to this number of probabilities."""
MEASURED_DISTANCES = 2**23
"""Distances that one thread measures at a time, for as many chunks as it draws or more: about 32 MiB."""
SORTED_CHUNKS = 4096
"""Chunks among which one thread looks for equal ones: they have the same probabilities, which are computed once."""


class _Block(NamedTuple):
    rows: RowNumbers
    points: Floats
    shares: Floats
    uniforms: Floats
    draft: Draft
    """The draft of each chunk, which has spent 0 where there is none."""


class Exponential(Mechanism):
    """Draws an entry y for a chunk x with p(y | x) proportional to exp(-share * min(d(x, y), cap) / 2).

    All writable entries are candidates, whatever the input.

    Guarantee:
        For two chunks at the distance D, the numerators differ by at most exp(share * min(D, cap) / 2), since the
        capped distance is a metric, and so do the sums that normalize them. Hence the probabilities of any entry differ
        by a factor of at most exp(share * min(D, cap)). With a cap this is at most exp(share * cap) for any two chunks:
        local differential privacy, without a distance.

    After a draft that has the entry r with the share t, each probability is multiplied by the factor
    exp(-t * min(d(r, y), cap) / 2) and normalized again. Given the draft, it is the same for every x: the bound stays.

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
        self._drawn = max(DRAWN_CHUNKS, DRAWN_PROBABILITIES // len(self.space.writable))
        self._measured = max(self._drawn, MEASURED_DISTANCES // len(self.space.writable))
        self._exponents = Exponents(self.space.matrix[self.space.writable], self.cap)

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        blocks = ((self._join(parts),) for parts in cut_into_blocks(requests, SORTED_CHUNKS))
        chosen = [np.empty(0, dtype=np.int64), *in_threads(self._choose, blocks)]
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(self.space.writable[np.concatenate(chosen)], ends[:-1])

    def log_channel(self, points: Floats, shares: Floats, *, draft: Draft | None = None) -> Floats:
        """The log-probability of every writable entry for chunks at these points: one row per point.

        Args:
            points: One point per row.
            shares: Their shares.
            draft: The answer of the first round for each of them.
        """
        return normalize(self._weigh_distances(points, shares, draft).astype(np.float64, copy=False))

    def _measure(self, rows: RowNumbers, points: Floats) -> list[Single]:
        """The distances of chunks from all writable entries. Those of equal chunks are measured once."""
        keys = np.where(rows == UNKNOWN, -1 - np.arange(len(rows)), rows)  # unknown chunks may differ
        _, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
        distances = self._exponents.measure(points[firsts])
        return [distances[place] for place in places.tolist()]

    def _weigh_distances(
        self, points: Floats, shares: Floats, draft: Draft | None, measured: Sequence[Single] | None = None
    ) -> Exponent:
        """The unnormalized log-probabilities of all writable entries, without a language model."""
        exponents = self._exponents.compute(points, shares, measured)
        if draft is not None and draft.shares.any():
            exponents += self._exponents.compute(self.space.place(draft.rows), draft.shares)
        return exponents

    def _choose(self, block: _Block) -> RowNumbers:
        """The entries chosen for chunks, as columns. Equal chunks have the same probabilities, computed once."""
        order, starts = _sort_chunks(block)
        chosen: RowNumbers = np.empty(len(order), dtype=np.int64)
        for first in range(0, len(starts) - 1, self._measured):
            different = order[starts[:-1][first : first + self._measured]]
            measured = self._measure(block.rows[different], block.points[different])
            for number in range(0, len(different), self._drawn):
                some = different[number : number + self._drawn]
                draft = Draft(block.draft.rows[some], block.draft.shares[some])
                near = measured[number : number + self._drawn]
                exponents = self._weigh_distances(block.points[some], block.shares[some], draft, near)
                ends = starts[first + number : first + number + len(some) + 1]
                alike = order[ends[0] : ends[-1]]
                chosen[alike] = draw(exponents, block.uniforms[alike], np.repeat(np.arange(len(some)), np.diff(ends)))
        return chosen

    def _join(self, parts: Sequence[tuple[Request, slice]]) -> _Block:
        """The positions, shares, uniform numbers and drafts of parts of requests."""
        return _Block(
            np.concatenate([request.rows[part] for request, part in parts]).astype(np.int64, copy=False),
            self.place_all(parts),
            np.concatenate([request.shares[part] for request, part in parts]),
            np.concatenate([request.generator.random(part.stop - part.start) for request, part in parts]),
            join_drafts(parts),
        )


def _sort_chunks(block: _Block) -> tuple[RowNumbers, RowNumbers]:
    """An order in which equal chunks follow each other; where in it each different chunk starts, and where all end."""
    keys = (block.rows, block.shares, block.draft.rows, block.draft.shares)
    order = np.lexsort(keys[::-1])
    differs = np.ones(len(order) + 1, dtype=bool)
    differs[1:-1] = block.rows[order][1:] == UNKNOWN  # unknown chunks may be at different points
    for key in keys:
        differs[1:-1] |= np.diff(key[order]) != 0
    return order, np.flatnonzero(differs)


def join_drafts(parts: Sequence[tuple[Request, slice]]) -> Draft:
    """The drafts of parts of several requests, one part after the other."""
    if all(request.draft is None for request, _ in parts):
        return no_draft(sum(len(request.rows[part]) for request, part in parts))
    drafts = [(request.draft or no_draft(len(request.rows)), part) for request, part in parts]
    return Draft(
        np.concatenate([draft.rows[part] for draft, part in drafts]),
        np.concatenate([draft.shares[part] for draft, part in drafts]),
    )


def no_draft(chunks: int) -> Draft:
    """A draft that spent nothing, and so has no influence."""
    return Draft(np.zeros(chunks, dtype=np.int64), np.zeros(chunks))


def normalize(exponents: Floats) -> Floats:
    """Log-probabilities whose exponentials sum to 1 in every row; the input is overwritten."""
    exponents -= exponents.max(axis=1, keepdims=True)
    exponents -= np.log(np.exp(exponents).sum(axis=1, keepdims=True))
    return exponents
