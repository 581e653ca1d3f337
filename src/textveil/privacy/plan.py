"""The plan for a document: what is to become of every chunk, before any noise is drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from textveil.language.gaps import count_symbols
from textveil.language.text import Chunk, Document, Span
from textveil.privacy.outcomes import Outcome
from textveil.privacy.refinement import DraftedText
from textveil.privacy.screening import Screened

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

    def draft_share(self, chunk: Chunk) -> float:
        """What the draft spent on the words of a chunk."""
        return 0.0 if self.draft is None else float(self.draft.words.shares[chunk.start : chunk.stop].sum())

    def draft_share_per_word(self, chunk: Chunk) -> float:
        """What the draft spent on each word of a chunk."""
        return self.draft_share(chunk) / chunk.size

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
