"""The result of obfuscating a document: its new text, and what became of every chunk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from textveil.certificate import Certificate
from textveil.errors import SpentBudgetError
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.text.documents import Chunk


class ObfuscatedChunk(NamedTuple):
    """A chunk of the original, its share of the budget, and what became of it."""

    chunk: Chunk
    original: str
    scores: tuple[float | None, ...]
    """The distributor's score for each word, before anything is inverted; ``None`` if it gave none."""
    share: float
    outcome: Outcome
    replacement: str | None
    """What the output has instead; ``None`` if the chunk was kept."""
    draft: str | None = None
    """What the draft has instead; ``None`` without a draft."""
    draft_share: float = 0.0
    """What the draft spent on the chunk, besides its share."""

    def __repr__(self) -> str:  # an object that is logged must not reveal the text
        shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items() if name != "original")
        return f"ObfuscatedChunk({shown})"

    def as_dict(self) -> dict[str, Any]:
        """The chunk as JSON can hold it."""
        return {
            "chunk": self.original,
            "scores": list(self.scores),
            "share": self.share,
            "outcome": self.outcome.value,
            "replacement": self.replacement,
            **({} if self.draft is None else {"draft": self.draft, "draft_share": self.draft_share}),
        }


_LISTED = 5
"""The releases that a message lists."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the ledger does not allow a release."""

    asked: float
    limit: float | None
    """The budget per document; ``None`` if the reason is that the first answer cannot be given again."""
    spent: tuple[tuple[str, float], ...]
    """When the document was released, and what that spent."""

    @property
    def needed(self) -> float:
        """The budget per document that would have allowed the release; 0 if none would."""
        return 0.0 if self.limit is None else math.fsum((self.asked, *(epsilon for _, epsilon in self.spent)))

    def as_error(self) -> SpentBudgetError:
        """The refusal as an error, with what was spent when."""
        if self.limit is None:
            return SpentBudgetError(
                f"The first answer, of {self.spent[0][0]}, cannot be given again: this computer computes another one. "
                "Nothing was released. Use the computer of the first answer, or other settings."
            )
        earlier = len(self.spent) - _LISTED
        listed = [f"{epsilon:.4g} on {when}" for when, epsilon in self.spent[-_LISTED:]]
        listed = [f"{earlier:,} earlier releases", *listed] if earlier > 0 else listed
        spent = math.fsum(epsilon for _, epsilon in self.spent)
        return SpentBudgetError(
            f"This document has spent {spent:.4g} of {self.limit:.4g} ({', '.join(listed) or 'nothing so far'}). "
            f"A release with {self.asked:.4g} would pass that. Nothing was released. Use a smaller budget. "
            "An answer that was given with `repeat='same'` can be given again at no cost."
        )


@dataclass(frozen=True, slots=True, repr=False)
class Obfuscation:
    """An obfuscated document."""

    text: str
    outcome: DocumentOutcome
    chunks: tuple[ObfuscatedChunk, ...]
    certificate: Certificate
    refusal: Refusal | None = None
    """Why a ledger refused the release; the text is empty then."""

    def __repr__(self) -> str:
        words = self.certificate.tally.words
        counted = ", ".join(f"{words[outcome]} {outcome.value}" for outcome in Outcome if words[outcome])
        budget = f"budget {self.certificate.tally.largest_budget:g}"
        return f"Obfuscation({self.outcome.value}, {budget}; words: {counted or 'none'})"

    def released(self) -> Obfuscation:
        """This result, if it was released.

        Raises:
            SpentBudgetError: A ledger refused it.
        """
        if self.refusal is not None:
            raise self.refusal.as_error()
        return self

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON can hold it. It has the words of the original."""
        return {
            "text": self.text,
            "outcome": self.outcome.value,
            "chunks": [chunk.as_dict() for chunk in self.chunks],
            "certificate": self.certificate.as_dict(),
        }
