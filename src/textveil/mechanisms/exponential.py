"""The exponential mechanism on distances: SanText (Yue et al. 2021), and with a cap TEM (Carvalho et al. 2023)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers, Vectors
from textveil.mechanisms.base import Draft, Mechanism, Request
from textveil.mechanisms.sampling import Exponent, Exponents, Single, draw
from textveil.registry import Option
from textveil.threads import in_threads

BLOCK_CHUNKS = 64
"""Chunks that one thread draws at a time; this bounds the memory for probabilities."""
BLOCK_PROBABILITIES = 2**20
"""With few entries, a block has more chunks, up to this number of probabilities."""
KEPT_DISTANCES = 2**23
"""Distances are measured once for each of the most frequent chunks of a batch: this many numbers at most, 32 MiB."""
MEASURED_CHUNKS = 16
"""Chunks whose distances one thread measures at a time, so that two threads share even a single text."""

Kept: TypeAlias = Mapping[int, Single]
"""The distances of the chunks of some rows from all writable entries."""


class _Block(NamedTuple):
    rows: RowNumbers
    points: Floats
    shares: Floats
    uniforms: Floats
    drafted: RowNumbers
    """The entry of the draft for each chunk."""
    draft_shares: Floats
    """The budget of the draft for each chunk; 0 without a draft."""


class _Part(NamedTuple):
    request: Request
    part: slice
    uniforms: Floats


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
        self._block = max(BLOCK_CHUNKS, BLOCK_PROBABILITIES // len(self.space.writable))
        self._exponents = Exponents(self.space.matrix[self.space.writable], self.cap)

    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request."""
        if not requests:
            return []
        kept = self._keep_distances(requests)
        blocks = ((block, kept) for block in self._blocks(requests))
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

    def _keep_distances(self, requests: Sequence[Request]) -> Kept:
        """The distances of the most frequent chunks."""
        asked = np.concatenate([request.rows for request in requests]).astype(np.int64, copy=False)
        rows, counts = np.unique(asked, return_counts=True)
        frequent = rows[np.argsort(-counts, kind="stable")]
        frequent = frequent[frequent != UNKNOWN][: KEPT_DISTANCES // len(self.space.writable)]
        parts = [frequent[start : start + MEASURED_CHUNKS] for start in range(0, len(frequent), MEASURED_CHUNKS)]
        distances = in_threads(self._measure, ((part,) for part in parts))
        return dict(zip(frequent.tolist(), itertools.chain.from_iterable(distances), strict=True))

    def _measure(self, rows: RowNumbers) -> Single:
        return self._exponents.measure(self.space.place(rows))

    def _weigh_distances(
        self,
        points: Floats,
        shares: Floats,
        draft: Draft | None,
        kept: Sequence[Single | None] | None = None,
    ) -> Exponent:
        """The unnormalized log-probabilities of all writable entries, without a language model."""
        exponents = self._exponents.compute(points, shares, kept)
        if draft is not None and draft.shares.any():
            exponents += self._exponents.compute(self.space.place(draft.rows), draft.shares)
        return exponents

    def _choose(self, block: _Block, kept: Kept) -> RowNumbers:
        draft = Draft(block.drafted, block.draft_shares)
        found = find_kept(kept, block.rows)
        return draw(self._weigh_distances(block.points, block.shares, draft, found), block.uniforms)

    def _blocks(self, requests: Sequence[Request]) -> Iterator[_Block]:
        """The positions, shares, uniform numbers and drafts of all chunks, a block at a time."""
        parts: list[_Part] = []
        room = self._block
        for request in requests:
            number = len(request.rows)
            uniforms = request.generator.random(number)
            start = 0
            while start < number:
                part = slice(start, min(start + room, number))
                parts.append(_Part(request, part, uniforms[part]))
                room -= part.stop - start
                start = part.stop
                if room == 0:
                    yield self._join(parts)
                    parts, room = [], self._block
        if parts:
            yield self._join(parts)

    def _join(self, parts: Sequence[_Part]) -> _Block:
        asked = [(each.request, each.part) for each in parts]
        draft = join_drafts(asked)
        return _Block(
            np.concatenate([request.rows[part] for request, part in asked]),
            self.place_all(asked),
            np.concatenate([each.request.shares[each.part] for each in parts]),
            np.concatenate([each.uniforms for each in parts]),
            draft.rows,
            draft.shares,
        )


def find_kept(kept: Kept, rows: RowNumbers) -> list[Single | None]:
    """The kept distances of each row, or ``None``."""
    return [kept.get(row) for row in rows.tolist()]


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
