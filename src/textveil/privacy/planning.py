"""Planning: what is to become of every chunk of a document, decided before the last noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.decomposition import Decomposer
from textveil.decomposition.backoff import back_off
from textveil.distribution import Distributor, Score
from textveil.distribution.allocation import allocate
from textveil.language.codes import Code, merge_codes
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Chunk, Document
from textveil.privacy.budget import Budget
from textveil.privacy.kept import list_codes, mark_kept
from textveil.privacy.outcomes import Outcome
from textveil.privacy.plan import Plan, PlannedChunk
from textveil.privacy.profiles import Profile, Stopwords
from textveil.privacy.refinement import DraftedText
from textveil.privacy.screening import Screened

_KEPT_STOPWORD, _PERTURBED = Outcome.KEPT_STOPWORD, Outcome.PERTURBED


def divide(
    distributor: Distributor, scores: Sequence[Score], takes_part: Sequence[bool], *, budget: float, profile: Profile
) -> list[float]:
    """The share of every word, by the scores of a distributor. Words that take no part get none."""
    if not any(takes_part):
        return [0.0] * len(scores)
    return allocate(
        scores,
        takes_part,
        budget=budget,
        invert=distributor.invert,
        missing=profile.missing,
        filler=distributor.unscored,
    )


class Planner:
    """Splits documents into chunks, divides budgets over them, and decides which of them are perturbed.

    Args:
        decomposer: Splits documents.
        distributor: Scores words.
        vectors: The vocabulary of the mechanism.
        profile: The rules.
        stopwords: Whether stopwords are kept.
        largest_share: The largest share of a chunk.
        draft_share: The part of the budget that was spent on drafts.
    """

    def __init__(
        self,
        decomposer: Decomposer,
        distributor: Distributor,
        vectors: Vectors,
        *,
        profile: Profile,
        stopwords: Stopwords,
        largest_share: float,
        draft_share: float | None,
    ) -> None:
        self._decomposer = decomposer
        self._distributor = distributor
        self._vectors = vectors
        self._profile = profile
        self._stopwords: Stopwords = stopwords
        self._largest_share = largest_share
        self._draft_share = draft_share

    def plan(self, screened: Sequence[Screened], drafts: Sequence[DraftedText | None], budget: Budget) -> list[Plan]:
        """Decide, before the last noise is drawn, what is to become of every chunk of every document."""
        documents = [each.document for each in screened]
        read = [
            document if draft is None else draft.document for document, draft in zip(documents, drafts, strict=True)
        ]
        scores = self._distributor.score(read)
        chunks = self._decomposer.decompose(read)
        codes = [list_codes(each, self._profile) for each in screened]
        kept = mark_kept(screened, codes, profile=self._profile, stopwords=self._stopwords)
        return [
            self._plan(*parts, draft=draft, budget=budget)
            for parts, draft in zip(zip(screened, chunks, scores, kept, codes, strict=True), drafts, strict=True)
        ]

    def _plan(
        self,
        screened: Screened,
        chunks: Sequence[Chunk],
        scores: Sequence[Score],
        kept: Sequence[bool],
        codes: Sequence[Code],
        *,
        draft: DraftedText | None,
        budget: Budget,
    ) -> Plan:
        """Decide what is to become of every chunk of a document."""
        document = screened.document
        if [chunk.start for chunk in chunks] + [len(document.words)] != [0, *(chunk.stop for chunk in chunks)]:
            raise RuntimeError  # a decomposer's mistake would spend more than the budget, or leave words out
        takes_part = [not keeps for keeps in kept]
        for chunk in screened.redactions:
            takes_part[chunk.start] = False
        epsilon = budget.of(sum(takes_part))
        shares = divide(self._distributor, scores, takes_part, budget=epsilon, profile=self._profile)
        if self._draft_share is not None:
            shares = [(1 - self._draft_share) * share for share in shares]
        spans = {code.chunk: (code.start, code.stop) for code in codes}
        plan = Plan(document, scores, kept, shares, epsilon, spans, draft, screened=screened)
        simple = draft is None and not screened.identifiers
        for chunk in merge_codes(chunks, codes) if codes else chunks:
            if simple and chunk.stop - chunk.start == 1:
                plan.chunks.append(self._plan_word(plan, chunk))
            else:
                plan.chunks += self._plan_chunk(plan, chunk)
        return plan

    def _plan_word(self, plan: Plan, chunk: Chunk) -> PlannedChunk:
        """What :meth:`_plan_chunk` decides, for a word without draft and identifiers: most are, so it must be fast."""
        place = chunk.start
        row = self._vectors.find(plan.document.words[place])
        if plan.kept[place]:
            return PlannedChunk(chunk, row, 0.0, 0.0, _KEPT_STOPWORD)
        given = plan.shares[place]
        share = given if given < self._largest_share else self._largest_share
        if row != UNKNOWN and share != 0:
            return PlannedChunk(chunk, row, share, given, _PERTURBED)
        released = Outcome.KEPT_UNKNOWN if row == UNKNOWN else Outcome.KEPT_NO_SHARE
        return PlannedChunk(chunk, row, share, given, released if self._profile.releases_unperturbed else Outcome.DRAWN)

    def _plan_chunk(self, plan: Plan, chunk: Chunk) -> Iterator[PlannedChunk]:
        document, is_code = plan.document, chunk in plan.codes
        row = self._vectors.find(document.key(chunk)) if not is_code or chunk.size == 1 else UNKNOWN
        if plan.is_redacted(chunk):
            yield PlannedChunk(chunk, UNKNOWN, 0.0, 0.0, Outcome.REDACTED)
            return
        if all(plan.kept[chunk.start : chunk.stop]):
            yield PlannedChunk(chunk, row, 0.0, 0.0, Outcome.KEPT_STOPWORD)
            return
        if chunk.size > 1 and not is_code and self._profile.backs_off and plan.read.key(chunk) not in self._vectors:
            for part in back_off(
                plan.read, chunk, known=self._vectors, longest=self._vectors.longest, stopwords=ENGLISH
            ):
                yield from self._plan_chunk(plan, part)
            return
        given = math.fsum(plan.shares[chunk.start : chunk.stop])
        share = min(given, self._largest_share - plan.draft_share_per_word(chunk))
        released = self._profile.releases_unperturbed and not (plan.screened and plan.screened.is_marked(chunk))
        if row == UNKNOWN and not (chunk.size > 1 and plan.draft is not None and self._knows_word(document, chunk)):
            outcome = Outcome.KEPT_UNKNOWN if released else Outcome.DRAWN
        elif share == 0:
            outcome = Outcome.KEPT_NO_SHARE if released else Outcome.DRAWN
        else:
            outcome = Outcome.PERTURBED
        yield PlannedChunk(chunk, row, share, given, outcome)

    def _knows_word(self, document: Document, chunk: Chunk) -> bool:
        """Whether the vocabulary has a word of a chunk."""
        return any(word in self._vectors for word in document.words[chunk.start : chunk.stop])
