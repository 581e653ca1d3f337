"""The contract of a mechanism."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, Matrix, RowNumbers, Vectors
from textveil.registry import Method, Option

ASKED = -2
"""Marks the chunks of a context that the mechanism chooses."""
LEAST_CHUNKS = 16
"""Fewer chunks are not shared by two threads."""
NO_GUARANTEE = "none"
"""The guarantee of a published mechanism that has no finite bound."""


class Draft(NamedTuple):
    """The answer of a first round, which guides the second one. It is the output of a mechanism, so it may."""

    rows: RowNumbers
    """The entry that the draft has for each chunk."""
    shares: Floats
    """The budget that the draft spent on each chunk."""
    points: Matrix | None = None
    """For mechanisms that add noise to a vector: each noisy point times share / reach."""
    reaches: Floats | None = None
    """The share of each chunk plus the length of its noise, in units of one over the share."""


class Request(NamedTuple):
    """One document's request for its perturbed chunks."""

    rows: RowNumbers
    """The row of each chunk; ``UNKNOWN`` is a chunk that is not in the vocabulary."""
    shares: Floats
    """The share of each chunk; finite and not negative."""
    generator: np.random.Generator
    spelled: Floats | None = None
    """The positions of the unknown chunks, in their order, in the space of the bundle; by default at the center."""
    context: RowNumbers | None = None
    """All chunks of the document: the row of a kept one, or ``ASKED``; by default all are asked."""
    draft: Draft | None = None
    """What a first round answered for these chunks; by default there is only one round."""

    def repeat(self, generator: np.random.Generator) -> Request:
        """The same request for another document, which has a stream of its own."""
        spelled = None if self.spelled is None else self.spelled.copy()
        context = None if self.context is None else self.context.copy()
        return Request(self.rows.copy(), self.shares.copy(), generator, spelled, context, self.draft)


class Mechanism(Method):
    """Chooses a random entry of the vocabulary for every chunk, guided by the chunk's vector and share.

    The answer for a document depends on its own request only, not on the rest of the batch. Noise never leaves the
    mechanism.
    """

    kind = "mechanism"
    index: str = "exact"
    """Whether the nearest entry is searched exactly; mechanisms with a closed form search none."""
    guarantee: ClassVar[str]
    uses_prior: ClassVar[bool] = False
    """Whether the constructor takes a ``prior``: a language model over the entries."""
    cap: float | None = None
    """The distance from which on all distances count alike; ``None`` without a cap."""

    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "dimensions",
            int,
            None,
            "Number of dimensions to project vectors to, on their principal axes. By default there is no projection.",
            least=1,
        ),
    )
    dimensions: int | None

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(**options)
        self.vectors = vectors
        self.space = vectors if self.dimensions is None else vectors.project(self.dimensions)
        """The vectors whose Euclidean distance the guarantee is about."""

    @classmethod
    def find_breach(cls) -> str | None:
        """What this class lacks: besides its options, a mechanism must state its guarantee."""
        if not isinstance(getattr(cls, "guarantee", None), str):
            return f"its guarantee must say what is proven, or {NO_GUARANTEE!r}"
        return super().find_breach()

    def place(self, request: Request, part: slice, space: Vectors | None = None) -> Floats:
        """The positions of a part of a request's chunks, by default in the space of the guarantee."""
        space, rows = space or self.space, request.rows[part]
        if request.spelled is None:
            return space.place(rows)
        before = int(np.count_nonzero(request.rows[: part.start or 0] == UNKNOWN))
        unknown = int(np.count_nonzero(rows == UNKNOWN))
        return space.place(rows, request.spelled[before : before + unknown])

    def place_all(self, parts: Sequence[tuple[Request, slice]], space: Vectors | None = None) -> Floats:
        """The positions of parts of several requests, one part after the other."""
        space = space or self.space
        rows = np.concatenate([request.rows[part] for request, part in parts])
        points = space.place(rows.astype(np.int64, copy=False))  # an empty list makes an array of other numbers
        start = 0
        for request, part in parts:
            stop = start + len(request.rows[part])
            if request.spelled is not None and len(request.spelled):
                points[start:stop] = self.place(request, part, space)
            start = stop
        return points

    def bound(self, share: float) -> float:
        """The largest log-ratio between any two chunks at a share, whatever their distance; infinite without a cap."""
        return math.inf if self.cap is None else share * self.cap

    def rebuild(self, vectors: Vectors) -> Self:
        """The same mechanism on other vectors."""
        return type(self)(vectors, **{name: getattr(self, name) for name in self.list_options()})

    @abstractmethod
    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request; all of them writable."""

    def draft(self, requests: Sequence[Request]) -> list[Draft]:
        """The answer of a first round: the rows, and what else the second one can use."""
        return [Draft(rows, request.shares) for rows, request in zip(self.perturb(requests), requests, strict=True)]

    def regroup(self, draft: Draft, starts: RowNumbers, rows: RowNumbers) -> Draft:
        """The draft of words as one of chunks, whose shares are the sums of those of their words.

        Args:
            draft: The draft of every word.
            starts: The first word of each chunk, in order.
            rows: The entry that the draft has for each chunk.
        """
        return Draft(rows, np.add.reduceat(draft.shares, starts) if len(starts) else draft.shares)


def cut_into_blocks(requests: Sequence[Request], most: int) -> Iterator[list[tuple[Request, slice]]]:
    """Parts of requests with up to ``most`` chunks for one thread at a time: two threads share even a single text."""
    half = math.ceil(sum(len(request.rows) for request in requests) / 2)
    size = room = min(max(half, LEAST_CHUNKS), most)
    parts: list[tuple[Request, slice]] = []
    for request in requests:
        start = 0
        while start < len(request.rows):
            part = slice(start, min(start + room, len(request.rows)))
            parts.append((request, part))
            room -= part.stop - start
            start = part.stop
            if room == 0:
                yield parts
                parts, room = [], size
    if parts:
        yield parts
