"""The certificate: what is guaranteed for a document or a file, and what is not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.privacy.outcomes import DocumentOutcome, Outcome
from textveil.privacy.profiles import Profile, Stopwords
from textveil.storage.atomic import writing

FORMAT_VERSION = 1


@dataclass(slots=True)
class Tally:
    """What became of the documents of a file, in numbers that can be added up."""

    words: Counter[Outcome] = field(default_factory=Counter)
    documents: Counter[DocumentOutcome] = field(default_factory=Counter)
    symbols: int = 0
    largest_total: float = 0.0
    unscored: int = 0
    """Words that take part in the distribution, and that the distributor gave no score."""

    def add(self, other: Tally) -> None:
        """Count the documents of ``other`` in."""
        self.words.update(other.words)
        self.documents.update(other.documents)
        self.symbols += other.symbols
        self.largest_total = max(self.largest_total, other.largest_total)
        self.unscored += other.unscored

    @classmethod
    def over(cls, tallies: Iterable[Tally]) -> Tally:
        """The sum of several tallies."""
        total = cls()
        for tally in tallies:
            total.add(tally)
        return total

    def as_dict(self) -> dict[str, Any]:
        """The tally as JSON can hold it: every outcome, also those that did not occur."""
        return {
            "words": {outcome.value: self.words[outcome] for outcome in Outcome},
            "documents": {outcome.value: self.documents[outcome] for outcome in DocumentOutcome},
            "symbols": self.symbols,
            "largest_total": self.largest_total,
            "unscored": self.unscored,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Tally:
        """The tally that :meth:`as_dict` gave."""
        return cls(
            Counter({Outcome(name): count for name, count in values["words"].items()}),
            Counter({DocumentOutcome(name): count for name, count in values["documents"].items()}),
            values["symbols"],
            values["largest_total"],
            values["unscored"],
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything about a guarantee that does not depend on the documents."""

    profile: Profile
    decomposition: str
    distribution: str
    allocation: str
    """``public``, ``public given the kept stopwords``, or ``data-dependent``."""
    stopwords: Stopwords
    mechanism: Mapping[str, str]
    randomness: Mapping[str, Any]
    distance: Mapping[str, Any]
    bundle: Mapping[str, str]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A statement of what is and is not protected. It holds no text of any document."""

    terms: Terms
    budget: float
    tally: Tally
    average_length: float | None = None
    """The average number of words of the file's documents, where the budget was worked out from it."""
    other_columns: bool = False
    """Whether the documents stand in a file with other columns, which are carried along."""

    def as_dict(self) -> dict[str, Any]:
        """The certificate as JSON can hold it."""
        terms, tally = self.terms, self.tally.as_dict()
        return {
            "certificate": FORMAT_VERSION,
            "profile": terms.profile.name,
            "claim": terms.profile.claim,
            "neighbours": terms.profile.neighbours,
            "not_protected": self.not_protected,
            "budget": self.budget,
            "budget_from_average_length": self.average_length,
            "largest_total_of_shares": tally["largest_total"],
            "allocation": {
                "decomposition": terms.decomposition,
                "distribution": terms.distribution,
                "type": terms.allocation,
                "stopwords": terms.stopwords,
            },
            "mechanism": dict(terms.mechanism),
            "distance": dict(terms.distance),
            "randomness": dict(terms.randomness),
            "words": tally["words"],
            "documents": tally["documents"],
            "words_without_score": tally["unscored"],
            "symbols_between_words": tally["symbols"],
            "bundle": dict(terms.bundle),
            "versions": dict(terms.versions),
        }

    @property
    def not_protected(self) -> list[str]:
        """What the profile leaves open, and what this run adds to it."""
        open_points = list(self.terms.profile.not_protected)
        if self.terms.stopwords == "keep":
            open_points.append("stopwords, which are kept with their case")
        if self.other_columns:
            open_points.append("the other columns of the file, which are carried along as they are")
        if self.average_length is not None:
            open_points.append("the average length of the documents, from which the budget was worked out")
        if self.terms.randomness["predictable"]:
            open_points.append(
                "anything, from whoever knows or guesses the seed, or sees another text with the same seed"
            )
        open_points.append("the counts in this certificate, if it is published with the texts")
        return open_points

    def write(self, path: Path) -> None:
        """Write the certificate as JSON."""
        with writing(path) as stream:
            stream.write(self.to_json().encode())

    def to_json(self) -> str:
        """The certificate as indented JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
