"""Accounting: results are recorded in a ledger before anybody sees them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally, Terms
from textveil.ledger import Ledger, Refusal, Release
from textveil.outcomes import DocumentOutcome
from textveil.randomness import KeyedRandomness, Randomness, SystemRandomness
from textveil.results import Obfuscation
from textveil.storage.score_cache import hash_text

_NOT_SETTINGS = ("profile", "randomness", "ledger", "distance", "deniability")
"""Terms that are written in another way, or that do not change an answer."""


@dataclass(frozen=True, slots=True)
class Account:
    """A ledger, as an obfuscator uses it for documents with one budget.

    Args:
        ledger: The ledger.
        terms: The terms of the obfuscator.
        budget: The budget of every document.
        randomness: The noise of the obfuscator.
    """

    ledger: Ledger
    terms: Terms
    budget: Budget
    randomness: Randomness

    def describe(self) -> dict[str, Any]:
        """Everything besides text and noise that an answer depends on."""
        kept = {
            each.name: getattr(self.terms, each.name) for each in fields(self.terms) if each.name not in _NOT_SETTINGS
        }
        versions = dict(self.terms.versions)
        return {**kept, "versions": versions, "profile": self.terms.profile.name, "budget": self.budget.as_dict()}

    def number(self, texts: Sequence[str | None], numbers: Iterator[int]) -> list[int]:
        """The number of every text, which selects its noise.

        Keyed noise is selected by a hash of settings and text, so that no two answers share it. In a run with fresh
        noise, the position of the text is in the hash, too.
        """
        taken = [next(numbers) for _ in texts]
        if not isinstance(self.randomness, KeyedRandomness):
            return taken
        settings = json.dumps(self.describe(), sort_keys=True)
        positions = [None if self.ledger.repeat == "same" else number for number in taken]
        return [
            int.from_bytes(hash_text(settings, str(position), text or ""))
            for position, text in zip(positions, texts, strict=True)
        ]

    def charge(
        self, texts: Sequence[str | None], numbers: Sequence[int], results: Sequence[Obfuscation]
    ) -> list[Obfuscation]:
        """Record results; those that the ledger refuses are replaced by refusals. Missing texts cost nothing."""
        asked = [
            Release(text, result.text, self._find_cost(result), self._name_noise(number))
            for text, number, result in zip(texts, numbers, results, strict=True)
            if text is not None
        ]
        verdicts = iter(self.ledger.charge(asked, self.describe()))
        return [
            result if text is None or (refusal := next(verdicts)) is None else self._refuse(refusal)
            for text, result in zip(texts, results, strict=True)
        ]

    def _find_cost(self, result: Obfuscation) -> float:
        """What a result spent. After a draft, its whole budget: what was spent of it depends on the draft."""
        tally = result.certificate.tally
        return tally.largest_spent if self.terms.draft_share is None else tally.largest_budget

    def _name_noise(self, number: int) -> str | None:
        if isinstance(self.randomness, SystemRandomness):
            return None
        return f"{self.randomness.fingerprint} {number}"

    def _refuse(self, refusal: Refusal) -> Obfuscation:
        tally = Tally(documents=Counter([DocumentOutcome.REFUSED]), largest_refused=refusal.needed)
        return Obfuscation("", DocumentOutcome.REFUSED, (), Certificate(self.terms, self.budget, tally), refusal)
