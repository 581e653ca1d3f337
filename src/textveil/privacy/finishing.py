"""Finishing: the result of a document, once the mechanism has chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from textveil.language.text import spoken
from textveil.privacy.budget import Budget
from textveil.privacy.certificate import Certificate, Tally, Terms, name_band
from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.privacy.plan import Plan
from textveil.privacy.results import ObfuscatedChunk, Obfuscation
from textveil.privacy.screening import Screened
from textveil.privacy.writing import Writer


def finish(
    plan: Plan, chosen: Sequence[str], *, writer: Writer, terms: Terms, budget: Budget, missing: bool
) -> Obfuscation:
    """The result of a document.

    Args:
        plan: What was to become of its chunks.
        chosen: The entries that the mechanism chose, in order.
        writer: Writes the text.
        terms: The terms of the certificate.
        budget: The budget of the document.
        missing: Whether there was no text.
    """
    asked = plan.list_asked()
    spoken_entries = iter(map(spoken, chosen))
    replacements = [
        next(spoken_entries) if planned.outcome.is_chosen else plan.write_kept(planned) for planned in plan.chunks
    ]
    returned = [
        planned.chunk.size
        for planned, entry in zip(asked, chosen, strict=True)
        if entry.lower() == plan.document.key(planned.chunk)
    ]
    text, dropped = writer.write(plan, replacements)
    tally = _count(plan, sum(returned), dropped)
    tally.symbols = writer.count_symbols(plan, dropped)
    unchanged = len(returned) == len(chosen) and not tally.words[Outcome.REDACTED]
    outcome = DocumentOutcome.of({planned.outcome for planned in plan.chunks}, unchanged=unchanged)
    outcome = DocumentOutcome.MISSING if missing else outcome
    tally.documents[outcome] += 1
    certificate = Certificate(terms, budget, tally)
    return Obfuscation(text, outcome, tuple(_describe_chunks(plan, replacements)), certificate)


def _count(plan: Plan, returned: int, dropped: int) -> Tally:
    """Count what became of a document's words."""
    tally = Tally(dropped_symbols=dropped, returned=returned, largest_budget=plan.epsilon)
    for (start, stop), _, share, given, became in plan.chunks:
        tally.words[became] += stop - start
        if share < given:
            tally.capped += stop - start
    shares = [planned.share for planned in plan.chunks]
    refinement = math.fsum(shares)
    if plan.draft is not None:
        tally.largest_draft = math.fsum(plan.draft_share(planned.chunk) for planned in plan.chunks)
    tally.largest_refinement = refinement if plan.draft else 0.0
    tally.largest_spent = tally.largest_draft + refinement
    if plan.draft is not None:
        shares = [planned.share + plan.draft_share_per_word(planned.chunk) for planned in plan.chunks]
    tally.largest_chunk = max(shares, default=0.0)
    if None in plan.scores:
        pairs = zip(plan.kept, plan.scores, strict=True)
        tally.unscored = sum(score is None and not keeps for keeps, score in pairs)
    if plan.screened is not None and plan.screened.identifiers:
        _count_identifiers(plan, plan.screened, tally)
    chosen = sum(number for became, number in tally.words.items() if became.is_chosen)
    if chosen:
        tally.return_bands[name_band(returned, chosen)] += 1
    return tally


def _count_identifiers(plan: Plan, screened: Screened, tally: Tally) -> None:
    """Count identifiers. A redacted one has the words of the original, and needs no score."""
    redacted = screened.redactions
    if redacted:
        tally.words[Outcome.REDACTED] = sum(plan.locate(chunk)[0].size for chunk in redacted)
    tally.unscored -= sum(plan.scores[chunk.start] is None for chunk in redacted)
    tally.identifiers = screened.count()


def _describe_chunks(plan: Plan, replacements: Sequence[str | None]) -> Iterator[ObfuscatedChunk]:
    if plan.screened is not None and plan.screened.redactions:
        text = plan.screened.original.text
        places = [plan.locate(planned.chunk) for planned in plan.chunks]
    else:
        text = plan.document.text
        places = list(zip((planned.chunk for planned in plan.chunks), plan.list_spans(), strict=True))
    scores, draft = tuple(plan.scores), plan.draft
    for (located, (start, stop)), planned, replacement in zip(places, plan.chunks, replacements, strict=True):
        chunk = planned.chunk
        yield ObfuscatedChunk(
            located,
            text[start:stop],
            scores[chunk.start : chunk.stop],
            planned.share,
            planned.outcome,
            replacement,
            None if draft is None else draft.document.written(chunk),
            0.0 if draft is None else plan.draft_share(chunk),
        )
