"""Planning: what is to become of every chunk of a document, decided before the last noise is drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

import numpy as np

from textveil.budget import Budget
from textveil.bundles.spelling import Spelling
from textveil.bundles.vectors import UNKNOWN, Floats
from textveil.draft import DraftedText, Drafter, average_words
from textveil.methods.decomposition import Decomposer
from textveil.methods.distribution import Distributor, Score
from textveil.methods.distribution.allocation import allocate
from textveil.methods.mechanisms import Mechanism, Request
from textveil.methods.mechanisms.base import ASKED
from textveil.outcomes import Outcome
from textveil.profiles import Profile, Stopwords
from textveil.redaction import Screen, Screened
from textveil.text.codes import Code, find_codes, merge_codes
from textveil.text.documents import Chunk, Document, Span, count_symbols
from textveil.text.plain_stopwords import mark_plain_stopwords
from textveil.text.stopwords import ENGLISH


def list_codes(document: Document, profile: Profile, screened: Screened | None = None) -> list[Code]:
    """The codes of a document, and what is written in the stead of identifiers."""
    codes = find_codes(document) if profile.guards_form else []
    if screened is None or not screened.redactions:
        return codes
    redacted = {chunk.start for chunk in screened.redactions}
    apart = [code for code in codes if redacted.isdisjoint(range(code.chunk.start, code.chunk.stop))]
    return sorted([*apart, *screened.codes])


def mark_kept(
    documents: Sequence[Document], codes: Sequence[Sequence[Code]], *, profile: Profile, stopwords: Stopwords
) -> list[list[bool]]:
    """For every word of every document, whether it is a stopword that is kept. Words of codes never are."""
    if stopwords == "perturb":
        return [[False] * len(document.words) for document in documents]
    if profile.guards_form:
        kept = mark_plain_stopwords(documents)
    else:
        kept = [[word in ENGLISH for word in document.words] for document in documents]
    for marks, found in zip(kept, codes, strict=True):
        for code in found:
            marks[code.chunk.start : code.chunk.stop] = [False] * code.chunk.size
    return kept


def mark_kept_words(document: Document, *, profile: Profile, stopwords: str | None) -> list[bool]:
    """For every word of a document in which no identifiers are looked for, whether it is a stopword that is kept.

    >>> from textveil.profiles import STRICT
    >>> document = Document.parse("The mail of @the to IT.")
    >>> kept = mark_kept_words(document, profile=STRICT, stopwords=None)
    >>> [word for word, keeps in zip(document.words, kept) if keeps]
    ['the', 'of', 'to']
    """
    codes = list_codes(document, profile)
    (kept,) = mark_kept([document], [codes], profile=profile, stopwords=profile.choose_stopwords(stopwords))
    return kept


def back_off(
    document: Document, chunk: Chunk, *, known: Container[str], longest: int, stopwords: Container[str]
) -> list[Chunk]:
    """Split ``chunk``, left to right and longest first; a single word is never split.

    A sub-chunk of several words has no stopword at its edges. The research code releases unknown chunks in clear.

    Args:
        document: The document.
        chunk: One of its chunks.
        known: The vocabulary of the embedding.
        longest: The number of words of its longest entry.
        stopwords: Words that may not stand at an edge.

    >>> document = Document.parse("a cup of green tea")
    >>> back_off(document, Chunk(0, 5), known={"green_tea", "cup"}, longest=2, stopwords={"a", "of"})
    [Chunk(start=0, stop=1), Chunk(start=1, stop=2), Chunk(start=2, stop=3), Chunk(start=3, stop=5)]
    """
    found, start = [], chunk.start
    while start < chunk.stop:
        stop = start + 1
        if document.words[start] not in stopwords:
            for longer in range(min(chunk.stop, start + longest), start + 1, -1):
                if document.words[longer - 1] not in stopwords and document.key(Chunk(start, longer)) in known:
                    stop = longer
                    break
        found.append(Chunk(start, stop))
        start = stop
    return found


_ASCII_SYMBOLS = re.compile(r"[$+<=>^`|~\x00-\x08\x0e-\x1b\x7f]")
"""Characters of an ASCII text that may be symbols."""


class PlannedChunk(NamedTuple):
    """A chunk on its way to the mechanism, or past it."""

    chunk: Chunk
    row: int
    share: float
    given: float
    """The share before it was cut down to the largest one."""
    outcome: Outcome
    spent: float = 0.0
    """What a draft spent on the chunk before."""


@dataclass(slots=True)
class Plan:
    """What is to become of a document."""

    document: Document
    scores: Sequence[float | None]
    kept: Sequence[bool]
    """Which words are stopwords that are kept."""
    shares: Sequence[float]
    """The share of every word."""
    epsilon: float
    codes: Mapping[Chunk, Span]
    """The chunks that are codes, with their offsets."""
    draft: DraftedText | None = None
    """The draft, if chunks and scores were computed from it."""
    chunks: list[PlannedChunk] = field(default_factory=list)
    screened: Screened | None = None
    """The identifiers of the document, if they were looked for."""

    @property
    def read(self) -> Document:
        """The text that chunks and scores were computed from."""
        return self.document if self.draft is None else self.draft.document

    def list_asked(self) -> list[PlannedChunk]:
        """The chunks that the mechanism chooses."""
        return [planned for planned in self.chunks if planned.outcome.is_chosen]

    def list_spans(self) -> list[Span]:
        """The offsets of all chunks, as :meth:`span` gives them."""
        words = self.document.spans
        if self.codes:
            return [self.span(planned.chunk) for planned in self.chunks]
        return [
            words[start] if stop - start == 1 else (words[start][0], words[stop - 1][1])
            for (start, stop), *_ in self.chunks
        ]

    def span(self, chunk: Chunk) -> Span:
        """The offsets of a chunk in the text."""
        return self.codes.get(chunk) or self.document.span(chunk)

    def locate(self, chunk: Chunk) -> tuple[Chunk, Span]:
        """The words and the offsets of a chunk in the original text, before identifiers were redacted."""
        span = self.span(chunk)
        return (chunk, span) if self.screened is None else self.screened.locate(chunk, span)

    def is_redacted(self, chunk: Chunk) -> bool:
        """Whether a chunk is written in the stead of an identifier."""
        return self.screened is not None and chunk in self.screened.redactions

    def write_kept(self, planned: PlannedChunk) -> str | None:
        """What is written for a chunk that the mechanism did not choose: its kind; ``None`` if it is kept."""
        if planned.outcome is Outcome.REDACTED and self.screened is not None:
            return self.screened.write(planned.chunk)
        return None

    def count_symbols(self) -> int:
        """The number of characters between chunks that are neither space nor punctuation."""
        if self.document.text.isascii() and not _ASCII_SYMBOLS.search(self.document.text):
            return 0
        done, symbols = 0, 0
        for start, stop in (*self.list_spans(), (len(self.document.text),) * 2):
            symbols += count_symbols(self.document.text[done:start])
            done = stop
        return symbols


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


@dataclass
class Planner:
    """Splits documents into chunks, divides budgets over them, and decides which of them the mechanism is asked for."""

    decomposer: Decomposer
    distributor: Distributor
    mechanism: Mechanism
    """Perturbs chunks, and drafts."""
    _: KW_ONLY
    profile: Profile
    stopwords: Stopwords
    largest_share: float
    draft_share: float | None = None
    """The part of the budget for drafts; ``None`` without them."""
    spelling: Spelling | None = None
    """Places words that the vocabulary of the mechanism lacks."""
    screen: Screen | None = None

    def __post_init__(self) -> None:
        self._vectors = self.mechanism.vectors
        self._drafter = None
        if self.draft_share is not None:
            self._drafter = Drafter(self.mechanism, self.spelling, self.draft_share, self.largest_share)

    def ask(
        self, texts: Sequence[str], budget: Budget, streams: Sequence[np.random.Generator]
    ) -> tuple[list[Plan], list[Request]]:
        """The plans of texts, and what the mechanism is asked for them, each with its own stream of noise.

        A text that comes again has the plan that it had before, if equal texts have equal plans to the last bit: not if
        scores are those of a model or of a draft.
        """
        if self._drafter is not None or self.screen is not None or not self.distributor.data_independent:
            return self._ask_each(texts, budget, streams)
        firsts: dict[str, int] = {}
        for number, text in enumerate(texts):
            firsts.setdefault(text, number)
        found = self._ask_each(list(firsts), budget, [streams[number] for number in firsts.values()])
        if len(firsts) == len(texts):
            return found
        known = dict(zip(firsts, zip(*found, strict=True), strict=True))
        plans, requests = [], []
        for number, (text, stream) in enumerate(zip(texts, streams, strict=True)):
            plan, request = known[text]
            plans.append(plan)
            requests.append(request if firsts[text] == number else request.repeat(stream))
        return plans, requests

    def _ask_each(
        self, texts: Sequence[str], budget: Budget, streams: Sequence[np.random.Generator]
    ) -> tuple[list[Plan], list[Request]]:
        screened = None if self.screen is None else self.screen.screen(texts)
        documents = list(map(Document.parse, texts)) if screened is None else [each.document for each in screened]
        drafts = None if self._drafter is None else self._drafter.write(documents, budget, streams)
        plans = self.plan(documents, budget, screened, drafts)
        return plans, [self.request(*pair) for pair in zip(plans, streams, strict=True)]

    def plan(
        self,
        documents: Sequence[Document],
        budget: Budget,
        screened: Sequence[Screened] | None = None,
        drafts: Sequence[DraftedText] | None = None,
    ) -> list[Plan]:
        """Decide, before the last noise is drawn, what is to become of every chunk of every document.

        Args:
            documents: The documents.
            budget: The budget of each.
            screened: Their identifiers, if they were looked for.
            drafts: Their drafts, if there are any: chunks and scores are computed from them.
        """
        found: Sequence[Screened | None] = screened or [None] * len(documents)
        drafted: Sequence[DraftedText | None] = drafts or [None] * len(documents)
        read = documents if drafts is None else [draft.document for draft in drafts]
        scores = self.distributor.score(read)
        chunks = self.decomposer.decompose(read)
        codes = [list_codes(document, self.profile, each) for document, each in zip(documents, found, strict=True)]
        kept = mark_kept(documents, codes, profile=self.profile, stopwords=self.stopwords)
        for marks, each in zip(kept, found, strict=True):
            for position in () if each is None else each.marked:
                marks[position] = False
        parts = zip(documents, chunks, scores, kept, codes, strict=True)
        origins = zip(found, drafted, strict=True)
        return [
            self._plan(*part, screened=screen, draft=draft, budget=budget)
            for part, (screen, draft) in zip(parts, origins, strict=True)
        ]

    def request(self, plan: Plan, stream: np.random.Generator) -> Request:
        """What the mechanism is asked for one document."""
        asked = plan.list_asked()
        context = [ASKED if planned.outcome.is_chosen else planned.row for planned in plan.chunks]
        return Request(
            np.array([planned.row for planned in asked], dtype=np.int64),
            np.array([planned.share for planned in asked], dtype=np.float64),
            stream,
            self._spell(plan, [planned.chunk for planned in asked if planned.row == UNKNOWN]),
            np.array(context, dtype=np.int64),
            None if plan.draft is None else plan.draft.regroup(self.mechanism, [planned.chunk for planned in asked]),
        )

    def _spell(self, plan: Plan, unknown: Sequence[Chunk]) -> Floats | None:
        """The positions of unknown chunks by their spelling, if the bundle has a table for it.

        A code, such as a phone number, has no position of its own: it stays at the center. A chunk of several words
        that were found in a draft is at the mean of its words.
        """
        if plan.draft is not None and self.spelling is None:
            return average_words(self.mechanism, plan.document, unknown)
        return self.place_unknown([None if chunk in plan.codes else plan.document.key(chunk) for chunk in unknown])

    def place_unknown(self, keys: Sequence[str | None]) -> Floats | None:
        """The positions of words that the vocabulary lacks, by their spelling; ``None`` if all are at the center."""
        return None if self.spelling is None else self.spelling.place(keys)

    def _plan(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        scores: Sequence[Score],
        kept: Sequence[bool],
        codes: Sequence[Code],
        *,
        screened: Screened | None,
        draft: DraftedText | None,
        budget: Budget,
    ) -> Plan:
        """Decide what is to become of every chunk of a document."""
        if [chunk.start for chunk in chunks] + [len(document.words)] != [0, *(chunk.stop for chunk in chunks)]:
            raise RuntimeError  # a decomposer's mistake would spend more than the budget, or leave words out
        takes_part = [not keeps for keeps in kept]
        for chunk in () if screened is None else screened.redactions:
            takes_part[chunk.start] = False
        epsilon = budget.of(sum(takes_part))
        shares = divide(self.distributor, scores, takes_part, budget=epsilon, profile=self.profile)
        if self._drafter is not None:
            shares = self._drafter.leave(shares)
        spans = {code.chunk: (code.start, code.stop) for code in codes}
        plan = Plan(document, scores, kept, shares, epsilon, spans, draft, screened=screened)
        simple = draft is None and (screened is None or not screened.identifiers)
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
        share = given if given < self.largest_share else self.largest_share
        if row != UNKNOWN and share != 0:
            return PlannedChunk(chunk, row, share, given, _PERTURBED)
        released = Outcome.KEPT_UNKNOWN if row == UNKNOWN else Outcome.KEPT_NO_SHARE
        return PlannedChunk(chunk, row, share, given, released if self.profile.releases_unperturbed else Outcome.DRAWN)

    def _plan_chunk(self, plan: Plan, chunk: Chunk) -> Iterator[PlannedChunk]:
        document, is_code = plan.document, chunk in plan.codes
        row = self._vectors.find(document.key(chunk)) if not is_code or chunk.size == 1 else UNKNOWN
        if plan.is_redacted(chunk):
            yield PlannedChunk(chunk, UNKNOWN, 0.0, 0.0, Outcome.REDACTED)
            return
        if all(plan.kept[chunk.start : chunk.stop]):
            yield PlannedChunk(chunk, row, 0.0, 0.0, Outcome.KEPT_STOPWORD)
            return
        if chunk.size > 1 and not is_code and self.profile.backs_off and plan.read.key(chunk) not in self._vectors:
            for part in back_off(
                plan.read, chunk, known=self._vectors, longest=self._vectors.longest, stopwords=ENGLISH
            ):
                yield from self._plan_chunk(plan, part)
            return
        given = math.fsum(plan.shares[chunk.start : chunk.stop])
        spent = 0.0 if plan.draft is None else plan.draft.spend(chunk)
        share = min(given, self.largest_share - spent / chunk.size)
        released = self.profile.releases_unperturbed and not (plan.screened and plan.screened.is_marked(chunk))
        if row == UNKNOWN and not (chunk.size > 1 and plan.draft is not None and self._knows_word(document, chunk)):
            outcome = Outcome.KEPT_UNKNOWN if released else Outcome.DRAWN
        elif share == 0:
            outcome = Outcome.KEPT_NO_SHARE if released else Outcome.DRAWN
        else:
            outcome = Outcome.PERTURBED
        yield PlannedChunk(chunk, row, share, given, outcome, spent)

    def _knows_word(self, document: Document, chunk: Chunk) -> bool:
        """Whether the vocabulary has a word of a chunk."""
        return any(word in self._vectors for word in document.words[chunk.start : chunk.stop])
