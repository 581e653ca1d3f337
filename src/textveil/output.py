"""Writing: the text of a document from its plan and the replacements of its chunks, in one of several forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textveil.budget import Budget
from textveil.bundles.vectors import UNKNOWN
from textveil.certificate import Certificate, Tally, Terms, name_band
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.planning import Plan
from textveil.profiles import Form
from textveil.redaction import Screened
from textveil.results import ObfuscatedChunk, Obfuscation
from textveil.text.documents import clean_gap, is_clean, spoken
from textveil.text.punctuation import load_punctuation


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes texts in one form.

    ``keep`` writes the text between chunks, and kept chunks, as the original has them. ``plain`` and ``bare`` compute
    the text from the released words alone, so they reveal no more than the words do.

    Attributes:
        form: The form.
        cleans_gaps: For ``keep``: drop symbols and invisible characters between words.
        keep_emoji: For ``keep``: do not drop emoji.
    """

    form: Form
    cleans_gaps: bool
    keep_emoji: bool

    @property
    def emoji(self) -> str:
        """What becomes of emoji between words: ``keep`` or ``drop``."""
        return "keep" if self.form == "keep" and (self.keep_emoji or not self.cleans_gaps) else "drop"

    def write_all(
        self, plans: Sequence[Plan], replacements: Sequence[Sequence[str | None]]
    ) -> Sequence[tuple[str, int]]:
        """The text of each document, and the number of characters between words that were dropped one by one."""
        pairs = zip(plans, replacements, strict=True)
        if self.form == "keep":
            return [self._keep(plan, replaced) for plan, replaced in pairs]
        released = (_release(plan, replaced) for plan, replaced in pairs)
        texts = map(" ".join, released) if self.form == "bare" else load_punctuation().write_all(released)
        return [(text, 0) for text in texts]

    def count_symbols(self, plan: Plan, dropped: int) -> int:
        """The number of symbols between words that were written."""
        return plan.count_symbols() - dropped if self.form == "keep" else 0

    def _keep(self, plan: Plan, replacements: Sequence[str | None]) -> tuple[str, int]:
        document = plan.document
        spans = plan.list_spans()
        if not self.cleans_gaps or is_clean(document.text):
            return document.assemble(spans, replacements), 0
        dropped = 0

        def write_gap(gap: str, between: bool) -> str:
            nonlocal dropped
            cleaned = clean_gap(gap, keep_emoji=self.keep_emoji)
            dropped += len(gap) - len(cleaned)
            return " " if between and gap and not cleaned else cleaned  # two words stay two

        return document.assemble(spans, replacements, write_gap), dropped


def _release(plan: Plan, replacements: Sequence[str | None]) -> list[str]:
    """What is released for every chunk."""
    return [
        spoken(plan.document.key(planned.chunk)) if replacement is None else replacement
        for planned, replacement in zip(plan.chunks, replacements, strict=True)
    ]


UNKNOWN_SHARE = 0.4
"""Documents with a larger share of unknown words are hardly English: 3 of 17,006 reviews and blogs, all
in Spanish and German."""
_UNKNOWN_OUTCOMES = (Outcome.DRAWN, Outcome.KEPT_UNKNOWN)


def finish_all(
    plans: Sequence[Plan],
    chosen: Sequence[Sequence[str]],
    *,
    writer: Writer,
    terms: Terms,
    budget: Budget,
    missing: Sequence[bool],
) -> Iterator[Obfuscation]:
    """The results of documents, in order.

    Args:
        plans: What was to become of the chunks of each document. Several documents may have the same plan.
        chosen: The entries that the mechanism chose for each document, in order.
        writer: Writes the texts.
        terms: The terms of the certificates.
        budget: The budget of the documents.
        missing: Whether there was no text.
    """
    outlines = {id(plan): _Outline(plan) for plan in {id(plan): plan for plan in plans}.values()}
    outlined = [outlines[id(plan)] for plan in plans]
    replacements = [outline.replace(entries) for outline, entries in zip(outlined, chosen, strict=True)]
    written = writer.write_all(plans, replacements)
    for outline, entries, replaced, (text, dropped), lacks in zip(
        outlined, chosen, replacements, written, missing, strict=True
    ):
        tally, outcome = outline.count(entries, missing=lacks)
        tally.dropped_symbols, tally.symbols = dropped, writer.count_symbols(outline.plan, dropped)
        chunks = tuple(outline.describe(replaced))
        yield Obfuscation(text, outcome, chunks, Certificate(terms, budget, tally))


class _Outline:
    """What all results of a plan have in common, whatever the mechanism chooses."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        asked = plan.list_asked()
        self._keys = [plan.document.key(planned.chunk) for planned in asked]
        self._sizes = [planned.chunk.size for planned in asked]
        self._only_asked = len(asked) == len(plan.chunks)
        self._tally = _count(plan)
        outcomes = {planned.outcome for planned in plan.chunks}
        self._changed, self._unchanged = (DocumentOutcome.of(outcomes, unchanged=same) for same in (False, True))
        self._chunks = list(_describe_chunks(plan))

    def replace(self, entries: Sequence[str]) -> list[str | None]:
        """What is written for every chunk; ``None`` if it is kept."""
        if self._only_asked:
            return list(map(spoken, entries))
        plan, chosen = self.plan, iter(entries)
        return [
            spoken(next(chosen)) if planned.outcome.is_chosen else plan.write_kept(planned) for planned in plan.chunks
        ]

    def count(self, entries: Sequence[str], *, missing: bool) -> tuple[Tally, DocumentOutcome]:
        """The tally and the outcome of a document."""
        same = [size for size, key, entry in zip(self._sizes, self._keys, entries, strict=True) if entry.lower() == key]
        tally = Tally.over([self._tally])
        tally.returned = sum(same)
        if entries:
            tally.return_bands[name_band(tally.returned, sum(self._sizes))] += 1
        unchanged = len(same) == len(entries) and not tally.words[Outcome.REDACTED]
        outcome = DocumentOutcome.MISSING if missing else self._unchanged if unchanged else self._changed
        tally.documents[outcome] += 1
        return tally, outcome

    def describe(self, replacements: Sequence[str | None]) -> Iterator[ObfuscatedChunk]:
        """What became of every chunk."""
        for kept, replacement in zip(self._chunks, replacements, strict=True):
            yield kept if replacement is None else ObfuscatedChunk(*kept[:5], replacement, *kept[6:])


def _count(plan: Plan) -> Tally:
    """Count what is to become of a document's words."""
    tally = Tally(largest_budget=plan.epsilon)
    words: dict[Outcome, int] = {}
    unknown = 0
    for (start, stop), row, share, given, became, _ in plan.chunks:
        words[became] = words.get(became, 0) + stop - start
        if row == UNKNOWN and stop - start == 1 and became in _UNKNOWN_OUTCOMES:
            unknown += 1
        if share < given:
            tally.capped += stop - start
    tally.words = Counter(words)
    tally.hardly_english = int(_is_hardly_english(unknown, len(plan.document.words)))
    tally.largest_spent = math.fsum(planned.share for planned in plan.chunks)
    if plan.read is not plan.document:
        tally.largest_refinement = tally.largest_spent
        tally.largest_draft = math.fsum(planned.spent for planned in plan.chunks)
        tally.largest_spent = tally.largest_draft + tally.largest_refinement
    tally.largest_chunk = max((each.share + each.spent / each.chunk.size for each in plan.chunks), default=0.0)
    if None in plan.scores:
        pairs = zip(plan.kept, plan.scores, strict=True)
        tally.unscored = sum(score is None and not keeps for keeps, score in pairs)
    if plan.screened is not None and plan.screened.identifiers:
        _count_identifiers(plan, plan.screened, tally)
    return tally


def _is_hardly_english(unknown: int, words: int) -> bool:
    """Whether a document has so many unknown words. Few words may well be names, unless all of them are unknown."""
    return unknown > max(UNKNOWN_SHARE * words, min(2, words - 1))


def _count_identifiers(plan: Plan, screened: Screened, tally: Tally) -> None:
    """Count identifiers. A redacted one has the words of the original, and needs no score."""
    redacted = screened.redactions
    if redacted:
        tally.words[Outcome.REDACTED] = sum(plan.locate(chunk)[0].size for chunk in redacted)
    tally.unscored -= sum(plan.scores[chunk.start] is None for chunk in redacted)
    tally.identifiers = screened.count()


def _describe_chunks(plan: Plan) -> Iterator[ObfuscatedChunk]:
    """The chunks, as if all of them were kept."""
    if plan.screened is not None and plan.screened.redactions:
        text = plan.screened.original.text
        places = [plan.locate(planned.chunk) for planned in plan.chunks]
    else:
        text = plan.document.text
        places = list(zip((planned.chunk for planned in plan.chunks), plan.list_spans(), strict=True))
    scores, read = tuple(plan.scores), None if plan.read is plan.document else plan.read
    for (located, (start, stop)), planned in zip(places, plan.chunks, strict=True):
        chunk = planned.chunk
        yield ObfuscatedChunk(
            located,
            text[start:stop],
            scores[chunk.start : chunk.stop],
            planned.share,
            planned.outcome,
            None,
            None if read is None else read.written(chunk),
            planned.spent,
        )
