"""Draft, then refine: the first of two rounds, whose text is public when the second divides its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textveil.budget import Budget
from textveil.bundles.spelling import Spelling
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.errors import ParameterError, ProfileError
from textveil.methods.mechanisms.base import Draft, Mechanism, Request
from textveil.profiles import Profile
from textveil.registry import Option
from textveil.text.documents import Chunk, Document, spoken

DEFAULT_DRAFT_SHARE = 0.1
"""The part of a budget that a draft spends where one is needed; docs/draft.md has the measurements."""

DRAFT_SHARE = Option(
    "draft_share",
    float,
    None,
    "Part of the budget for a draft (profile proven). Chunks and scores are computed from the draft, and the rest of "
    f"the budget is spent on the original words. By default {DEFAULT_DRAFT_SHARE:g} if the decomposition or the "
    "distribution reads the text; otherwise there is no draft.",
    least=0.01,
    most=0.99,
)


def choose_draft_share(profile: Profile, wanted: float | None, *, data_independent: bool) -> float | None:
    """The part of the budget that a draft spends; ``None`` without a draft.

    Args:
        profile: The profile. If its allocation must be public, methods that look at the text need a draft.
        wanted: The part that the user wants.
        data_independent: Whether chunks and scores depend on nothing but the number of words.
    """
    if wanted is None:
        return DEFAULT_DRAFT_SHARE if profile.public_allocation and not data_independent else None
    if not profile.public_allocation:
        raise ProfileError(
            f"`draft_share` goes with `profile='proven'`. The profile {profile.name!r} computes chunks and scores from "
            "the texts themselves."
        )
    return float(DRAFT_SHARE.check(wanted, of=f"the profile {profile.name!r}"))


class DraftedText(NamedTuple):
    """The draft of a document. It has as many words as the document."""

    document: Document
    """The draft as a text, which decomposers and distributors read."""
    words: Draft
    """The answer of the mechanism for every word."""

    def spend(self, chunk: Chunk) -> float:
        """What the draft spent on the words of a chunk."""
        return float(self.words.shares[chunk.start : chunk.stop].sum())

    def regroup(self, mechanism: Mechanism, chunks: Sequence[Chunk]) -> Draft:
        """The draft of chunks, for the request of the second round."""
        find = mechanism.vectors.find
        rows = [self.words.rows[chunk.start] if chunk.size == 1 else find(self.document.key(chunk)) for chunk in chunks]
        starts: RowNumbers = np.array([chunk.start for chunk in chunks], dtype=np.int64)
        return mechanism.regroup(self.words, starts, np.array(rows, dtype=np.int64))


@dataclass
class Drafter:
    """Writes drafts: every word is a chunk, all shares of a document are equal, and only single words are written.

    Args:
        mechanism: The mechanism of both rounds.
        spelling: The positions of unknown words.
        draft_share: The part of a budget to spend.
        largest_share: The largest share of a word in both rounds together.
    """

    mechanism: Mechanism
    spelling: Spelling | None
    draft_share: float
    largest_share: float

    def __post_init__(self) -> None:
        single = self.mechanism.vectors.limit_to_words()
        if not len(single.writable):
            raise ProfileError("The vocabulary has no single word to write, so it allows no draft. Use another bundle.")
        if single is not self.mechanism.vectors:
            self.mechanism = self.mechanism.rebuild(single)

    def leave(self, shares: Sequence[float]) -> list[float]:
        """What drafts leave of the shares of words."""
        return [(1 - self.draft_share) * share for share in shares]

    def write(
        self, documents: Sequence[Document], budget: Budget, generators: Sequence[np.random.Generator]
    ) -> list[DraftedText]:
        """The drafts of some documents, each with its own generator."""
        requests = [self._request(*parts, budget) for parts in zip(documents, generators, strict=True)]
        return [self._read(draft) for draft in self.mechanism.draft(requests)]

    def _request(self, document: Document, generator: np.random.Generator, budget: Budget) -> Request:
        """What the mechanism is asked; besides the words, it depends on nothing but their number."""
        number = len(document.words)
        share = self.draft_share * min(budget.of(number) / max(number, 1), self.largest_share)
        rows = np.array([self.mechanism.vectors.find(word) for word in document.words], dtype=np.int64)
        unknown = [word for word, row in zip(document.words, rows, strict=True) if row == UNKNOWN]
        spelled = None if self.spelling is None else self.spelling.place(unknown)
        return Request(rows, np.full(number, share), generator, spelled)

    def _read(self, draft: Draft) -> DraftedText:
        entries = self.mechanism.vectors.entries
        document = Document.parse(" ".join(spoken(entries[row]) for row in draft.rows))
        if len(document.words) != len(draft.rows):
            raise RuntimeError  # words of the draft and of the original would not stand side by side
        return DraftedText(document, draft)


def refuse_draft(draft_share: float | None, figure: str) -> None:
    """Refuse to state a figure about one round of noise where there are two."""
    if draft_share is not None:
        raise ParameterError(f"{figure} is not known for texts that are drafted first (`draft_share`).")


def average_words(mechanism: Mechanism, document: Document, chunks: Sequence[Chunk]) -> Floats:
    """The positions of unknown chunks, in the space of the bundle: the means of their words, unknown ones central."""
    vectors = mechanism.vectors
    positions = np.empty((len(chunks), vectors.dimensions))
    for number, chunk in enumerate(chunks):
        rows = np.array([vectors.find(word) for word in document.words[chunk.start : chunk.stop]], dtype=np.int64)
        positions[number] = vectors.place(rows).mean(axis=0)
    return positions
