"""Claims: the bound that is claimed for a pair of texts, and whether the claim covers the pair at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from textveil.audit.exact import find_exact_ratio
from textveil.audit.pairs import Pair
from textveil.bundles.bundle import SINGLE_WORDS
from textveil.bundles.vectors import UNKNOWN, Floats, Vectors
from textveil.language.words import find_words
from textveil.mechanisms import Mechanism, Request
from textveil.mechanisms.base import NO_GUARANTEE
from textveil.obfuscation import Obfuscator
from textveil.privacy.budget import Budget
from textveil.privacy.outcomes import Outcome
from textveil.privacy.plan import Plan


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed for a pair."""

    bound: float
    """The claimed upper bound of the log-ratio of the probabilities of any answer; infinite if nothing is claimed."""
    not_covered: str | None = None
    """The reason why the claim does not cover the pair; ``None`` if it does."""
    exact: float | None = None
    """The log-ratio of an answer, computed from the probabilities of a mechanism with a closed form."""


Claims: TypeAlias = Callable[[Pair], Claim]
"""States the claim for a pair."""


def claim_per_word(bound: float) -> Claims:
    """The same bound for any two words: local differential privacy. The words of a text add up.

    >>> claim_per_word(2.0)(Pair("", "one word", "other words")).bound
    4.0
    """

    def claim(pair: Pair) -> Claim:
        if len(find_words(pair.first)) != len(find_words(pair.second)):
            return Claim(math.inf, not_covered="the numbers of words differ")
        if pair.words_that_differ == 0:
            return Claim(math.inf, not_covered="the texts between words differ")
        return Claim(bound * pair.words_that_differ)

    return claim


def claim_by_distance(space: Vectors, epsilon: float) -> Claims:
    """Epsilon times the distance of two words: metric privacy. The words of a text add up.

    Args:
        space: The vectors. A word that they lack is at their center.
        epsilon: The budget of a word.
    """

    def claim(pair: Pair) -> Claim:
        first, second = (find_words(text) for text in (pair.first, pair.second))
        if len(first) != len(second):
            return Claim(math.inf, not_covered="the numbers of words differ")
        places = [space.place(np.array([space.find(word) for word in words])) for words in (first, second)]
        return Claim(epsilon * float(np.linalg.norm(places[0] - places[1], axis=1).sum()))

    return claim


class ObfuscatorClaims:
    """The claims of an obfuscator: those of its profile and its mechanism, for the shares that it plans.

    Args:
        obfuscator: The obfuscator.
        budget: The budget of each text.
    """

    def __init__(self, obfuscator: Obfuscator, budget: Budget) -> None:
        self._obfuscator = obfuscator
        self._budget = budget

    def __call__(self, pair: Pair) -> Claim:
        """The claim for a pair."""
        if self._obfuscator.draft_share is not None:
            return self._claim_after_draft(pair, self._obfuscator.draft_share)
        plans, requests = zip(
            *(self._obfuscator.plan(text, self._budget) for text in (pair.first, pair.second)), strict=True
        )
        reason = self._find_difference(*plans)
        if reason is not None:
            return Claim(math.inf, not_covered=reason)
        mechanism = self._obfuscator.mechanism
        if mechanism.guarantee == NO_GUARANTEE:
            return Claim(math.inf)
        return Claim(_bound(mechanism, *requests), exact=find_exact_ratio(mechanism, *requests))

    def _claim_after_draft(self, pair: Pair, draft_share: float) -> Claim:
        """The claim whatever the draft: the refinement may spend its part on the words that differ most."""
        texts = [find_words(text) for text in (pair.first, pair.second)]
        if len(texts[0]) != len(texts[1]):
            return Claim(math.inf, not_covered="the numbers of words differ")
        mechanism, largest = self._obfuscator.mechanism, self._obfuscator.largest_share
        if mechanism.guarantee == NO_GUARANTEE:
            return Claim(math.inf)
        if self._obfuscator.terms.decomposition["name"] not in SINGLE_WORDS and mechanism.cap is None:
            return Claim(math.inf, not_covered="a draft may join words to chunks of any distance")
        number = len(texts[0])
        epsilon = self._obfuscator.choose_budget(self._budget).of(number)
        draft = draft_share * min(epsilon / max(number, 1), largest)
        distances = _measure(mechanism, *(self._ask(words) for words in texts))
        if self._obfuscator.terms.decomposition["name"] not in SINGLE_WORDS:
            distances = np.full(number, mechanism.cap)  # of chunks with these words
        bound, rest = draft * float(distances.sum()), (1 - draft_share) * epsilon
        for distance in sorted(distances.tolist(), reverse=True):
            share = min(rest, largest - draft)
            bound, rest = bound + share * distance, rest - share
        return Claim(bound)

    def _ask(self, words: Sequence[str]) -> Request:
        """The request for single words, without shares."""
        rows = np.array([self._obfuscator.mechanism.vectors.find(word) for word in words], dtype=np.int64)
        unknown = [word for word, row in zip(words, rows, strict=True) if row == UNKNOWN]
        spelled = self._obfuscator.place_unknown(unknown)
        nothing_drawn = self._obfuscator.randomness.stream(0)
        return Request(rows, np.zeros(len(rows)), nothing_drawn, spelled)

    def _find_difference(self, first: Plan, second: Plan) -> str | None:
        """The reason why two texts are not neighbors in the sense of the profile; ``None`` if they are."""
        if len(first.document.words) != len(second.document.words):
            return "the numbers of words differ"
        if self._obfuscator.profile.public_allocation:
            return None  # chunks and shares depend on nothing but the number of words
        keeps_form = self._obfuscator.terms.form == "keep"
        compared: dict[str, Callable[[Plan], object]] = {
            "the chunks differ": lambda plan: [planned.chunk for planned in plan.chunks],
            "the kept words differ": _read_kept if keeps_form else _read_kept_words,
            "the shares differ": lambda plan: [planned.share for planned in plan.chunks],
        }
        if keeps_form:
            compared["the texts between words differ"] = _read_gaps
        return next((reason for reason, read in compared.items() if read(first) != read(second)), None)


def _read_kept(plan: Plan) -> list[tuple[Outcome, str] | None]:
    """The chunks that are released in clear, as the text writes them; ``None`` for all others."""
    return [
        (planned.outcome, plan.document.text[slice(*plan.span(planned.chunk))])
        if not planned.outcome.is_chosen
        else None
        for planned in plan.chunks
    ]


def _read_kept_words(plan: Plan) -> list[tuple[Outcome, str] | None]:
    """The chunks that are released in clear, in lowercase; ``None`` for all others."""
    return [
        None if planned.outcome.is_chosen else (planned.outcome, plan.document.key(planned.chunk))
        for planned in plan.chunks
    ]


def _read_gaps(plan: Plan) -> list[str]:
    """The texts before, between and after chunks."""
    spans = [plan.span(planned.chunk) for planned in plan.chunks]
    starts, stops = [0, *(stop for _, stop in spans)], [*(start for start, _ in spans), len(plan.document.text)]
    return [plan.document.text[start:stop] for start, stop in zip(starts, stops, strict=True)]


def _bound(mechanism: Mechanism, first: Request, second: Request) -> float:
    """The sum of share * min(distance, cap) over the chunks of two neighbors."""
    return float((first.shares * _measure(mechanism, first, second)).sum())


def _measure(mechanism: Mechanism, first: Request, second: Request) -> Floats:
    """The distances of the chunks of two neighbors, limited by the cap."""
    places = [mechanism.place(request, slice(None)) for request in (first, second)]
    distances: Floats = np.linalg.norm(places[0] - places[1], axis=1)
    return distances if mechanism.cap is None else np.minimum(distances, mechanism.cap)
