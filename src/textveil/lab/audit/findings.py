"""Findings: what an audit shows for every pair, and its verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from textveil.lab.audit.claims import TOLERANCE, Claim, Pair


class Verdict(StrEnum):
    """What an audit says about a pair."""

    VIOLATED = "violated"
    """The log-ratio is larger than claimed, with the stated confidence, or by the exact probabilities."""
    NOT_REFUTED = "not refuted"
    """No event was found that refutes the claim. This is no proof."""
    NO_CLAIM = "no claim"
    """Nothing is claimed for the pair: the mechanism has no guarantee."""
    NOT_NEIGHBORS = "not neighbors"
    """The claim does not cover the pair."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit shows for a pair."""

    pair: Pair
    claim: Claim
    shown: float | None = None
    """The lower bound of the log-ratio that the answers show; ``None`` if the pair was not drawn."""
    event: str | None = None
    """The event that shows it, in words."""
    counts: tuple[int, int] | None = None
    """How often the event happened for the text for which it is likely, and for the other one."""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        if self.claim.not_covered is not None:
            return Verdict.NOT_NEIGHBORS
        if math.isinf(self.claim.bound):
            return Verdict.NO_CLAIM
        tolerance = TOLERANCE * max(1, self.pair.words_that_differ)
        exceeds = self.claim.exact is not None and self.claim.exact > self.claim.bound + tolerance
        return Verdict.VIOLATED if exceeds or (self.shown or 0.0) > self.claim.bound else Verdict.NOT_REFUTED

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON can hold it."""
        return {
            "kind": self.pair.kind,
            "first": self.pair.first,
            "second": self.pair.second,
            "claimed": self.claim.bound if math.isfinite(self.claim.bound) else None,
            "exact": self.claim.exact,
            "shown": self.shown,
            "event": self.event,
            "counts": None if self.counts is None else list(self.counts),
            "verdict": self.verdict.value,
            "not_covered": self.claim.not_covered,
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit."""

    findings: tuple[Finding, ...]
    draws: int
    """Answers drawn for each text. Half of them chose the events, the other half show the bounds."""
    confidence: float
    """The probability that all shown bounds hold at the same time."""
    reach: float
    """The largest log-ratio that this number of draws can show. A larger claim cannot be refuted by answers."""

    @property
    def violations(self) -> list[Finding]:
        """The findings that refute the claim."""
        return [finding for finding in self.findings if finding.verdict is Verdict.VIOLATED]

    def as_dict(self) -> dict[str, Any]:
        """The audit as JSON can hold it."""
        return {
            "draws": self.draws,
            "confidence": self.confidence,
            "reach": self.reach,
            "violations": len(self.violations),
            "pairs": [finding.as_dict() for finding in self.findings],
        }
