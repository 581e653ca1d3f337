"""The audit: it draws answers to pairs of texts and tries to refute the bound that is claimed for them."""

from __future__ import annotations

import math
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral, Real
from statistics import NormalDist
from typing import Any, TypeAlias, Unpack

import numpy as np

from textveil.budget import Budget, BudgetArguments
from textveil.errors import ParameterError, describe_bug
from textveil.lab.audit.claims import TOLERANCE, Claim, Claims, ObfuscatorClaims, Pair, choose_pairs
from textveil.lab.audit.events import Coder, Numbers, find_event
from textveil.obfuscator import Obfuscator
from textveil.progress import Progress, ignore_progress
from textveil.proportions import bound_log_ratio
from textveil.text.words import find_words

Auditee: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Obfuscates texts: one answer for each of them, in order, with fresh noise."""

DRAWS = 10_000
CONFIDENCE = 0.95
FEWEST_DRAWS = 100
AT_A_TIME = 20_000
"""The number of texts in a call."""
PROBES = 5
"""Copies of each text by which a deterministic auditee is recognized."""


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


class Command:
    """A command that reads texts from standard input and writes answers to standard output, one per line.

    Args:
        line: The command with its arguments, as a shell would split it. No shell runs it.
    """

    def __init__(self, line: str) -> None:
        try:
            self._arguments = shlex.split(line)
        except ValueError as error:
            raise ParameterError("The `command` has a quote that is not closed.") from error
        if not self._arguments:
            raise ParameterError("The `command` is empty. Give a program that reads lines and writes lines.")

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The answers of a single run of the command; what it writes to standard error is passed on."""
        given = "".join(f"{text}\n" for text in texts).encode()
        try:
            finished = subprocess.run(self._arguments, input=given, stdout=subprocess.PIPE, check=False)
        except OSError as error:
            raise ParameterError(f"The `command` cannot be started: {error.strerror}. Check its path.") from error
        if finished.returncode != 0:
            ended = f"signal {-finished.returncode}" if finished.returncode < 0 else f"code {finished.returncode}"
            raise ParameterError(f"The `command` ended with {ended}. Try it with a few lines of text first.")
        answers = finished.stdout.decode(errors="replace").split("\n")
        return answers[:-1] if answers[-1] == "" else answers


def draw_samples(
    auditee: Auditee, texts: Sequence[str], draws: int, coder: Coder, progress: Progress = ignore_progress
) -> list[Numbers]:
    """The numbers of the answers to each text, a number of draws each.

    The texts take turns, so that an auditee that changes over time treats all of them alike.

    Raises:
        ParameterError: The auditee fails, does not answer each text, or is deterministic.
    """
    check_noise(auditee, texts)
    rounds = max(1, AT_A_TIME // len(texts))
    parts: list[list[Numbers]] = [[] for _ in texts]
    done = 0
    while done < draws:
        copies = min(rounds, draws - done)
        answers = ask(auditee, list(texts) * copies)
        for number in range(len(texts)):
            parts[number].append(coder.encode(answers[number :: len(texts)]))
        done += copies
        progress("drawing answers", done * len(texts), done / draws)
    return [np.concatenate(numbers) for numbers in parts]


def check_noise(auditee: Auditee, texts: Sequence[str]) -> None:
    """Ask for the same answers twice.

    Raises:
        ParameterError: Both times, all answers are the same.
    """
    probe = list(texts) * PROBES
    if ask(auditee, probe) == ask(auditee, probe):
        raise ParameterError(
            "The auditee answered the same texts twice in the same way: it is deterministic, has a fixed seed, or has "
            "so much budget that noise changes nothing. Remove the seed, or lower the budget."
        )


def ask(auditee: Auditee, texts: Sequence[str]) -> list[str]:
    """The answers of an auditee.

    Raises:
        ParameterError: The auditee fails, or the number of answers is wrong.
    """
    try:
        answers = list(auditee(texts))
    except (ParameterError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise ParameterError(
            f"The auditee failed with {describe_bug(error)}. Try it with a few texts first."
        ) from error
    if len(answers) != len(texts):
        few = "few" if len(answers) < len(texts) else "many"
        raise ParameterError(
            f"The auditee gave too {few} answers: {len(answers):,} to {len(texts):,} texts. It must answer each text."
        )
    if not all(isinstance(answer, str) for answer in answers):
        raise ParameterError("The auditee gave an answer that is not a string. It must return strings.")
    return answers


def audit(
    auditee: Auditee,
    pairs: Sequence[Pair],
    claims: Claims,
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    progress: Progress = ignore_progress,
) -> Audit:
    """Try to refute the bound that is claimed for the answers to pairs of texts.

    For each pair and direction, an event is chosen on half of the answers. On the other half, the log-ratio of its
    probabilities is bounded below by the method of Clopper and Pearson. All bounds hold at the same time with the
    stated confidence, so a correct auditee is accused at most as often as 1 - ``confidence``.

    Args:
        auditee: A function that takes a list of texts and returns one obfuscated text for each, with fresh noise.
        pairs: The pairs of texts; :func:`choose_pairs` makes some up.
        claims: States the claimed bound of a pair, such as :func:`claim_per_word`.
        draws: The number of answers to draw for each text.
        confidence: The probability that all bounds hold.
        progress: Receives progress reports.

    Raises:
        ParameterError: A number is wrong, or the auditee fails, answers too few texts or is deterministic.
    """
    _check(draws, confidence)
    claimed = [claims(pair) for pair in pairs]
    covered = [number for number, claim in enumerate(claimed) if claim.not_covered is None]
    if not covered:
        raise ParameterError("The claim covers none of the pairs, so there is nothing to audit. Give other `pairs`.")
    texts = list(dict.fromkeys(text for number in covered for text in (pairs[number].first, pairs[number].second)))
    coder = Coder()
    samples = dict(zip(texts, draw_samples(auditee, texts, draws, coder, progress), strict=True))
    risk = (1 - confidence) / (2 * len(covered))  # for each pair and direction
    findings = [
        _compare(Finding(pair, claim, shown=0.0), (samples[pair.first], samples[pair.second]), coder, risk)
        if claim.not_covered is None
        else Finding(pair, claim)
        for pair, claim in zip(pairs, claimed, strict=True)
    ]
    shown_by = draws - draws // 2
    return Audit(tuple(findings), draws, confidence, bound_log_ratio(shown_by, 0, shown_by, risk))


def audit_obfuscator(
    obfuscator: Obfuscator,
    *,
    budget: Budget | None = None,
    pairs: Sequence[Pair] | None = None,
    claims: Claims | None = None,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    progress: Progress = ignore_progress,
    **given: Unpack[BudgetArguments],
) -> Audit:
    """Try to refute what the certificates of an obfuscator claim; see :func:`audit`.

    Where its mechanism has a closed form, exact log-ratios are computed, too.

    Args:
        obfuscator: The obfuscator.
        budget: The budget of a certificate, instead of the arguments below.
        pairs: The pairs of texts; by default those of :func:`choose_pairs` for the vocabulary.
        claims: Another claim to refute; by default that of the certificates.
        draws: The number of answers to draw for each text.
        confidence: The probability that all bounds hold.
        progress: Receives progress reports.
        given: The budget of a text; per word, it is multiplied by the words of the text that are perturbed.
    """
    if obfuscator.ledger is not None:
        raise ParameterError("An audit draws many answers and releases none. Use an obfuscator without a `ledger`.")
    if given.get("epsilon") is None:
        given.setdefault("length", "own")
    budget = obfuscator.build_budget(**given) if budget is None else budget

    def answer(texts: Sequence[str]) -> list[str]:
        written = (result.text for result in obfuscator.obfuscate_all(texts, budget=budget))
        if obfuscator.terms.form == "plain":  # sentences depend on the words alone, and would only split events
            return [" ".join(find_words(text)) for text in written]
        return list(written)

    chosen = choose_pairs(obfuscator.mechanism.space) if pairs is None else pairs
    stated = ObfuscatorClaims(obfuscator, budget) if claims is None else claims
    return audit(answer, chosen, stated, draws=draws, confidence=confidence, progress=progress)


def _check(draws: int, confidence: float) -> None:
    if isinstance(draws, bool) or not isinstance(draws, Integral) or draws < FEWEST_DRAWS:
        raise ParameterError(f"`draws` must be a whole number of at least {FEWEST_DRAWS}. Got {draws!r} instead.")
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ParameterError(f"`confidence` must be a number between 0 and 1. Got {confidence!r} instead.")


def _compare(best: Finding, samples: tuple[Numbers, Numbers], coder: Coder, risk: float) -> Finding:
    """What the answers to both texts show, in the direction that shows more; nothing is shown by a bound below 0."""
    half = len(samples[0]) // 2
    deviations = NormalDist().inv_cdf(1 - risk / 2)
    first, second = map(coder.look_up, samples)
    for likely, unlikely in ((first, second), (second, first)):
        event = find_event(likely[:half], unlikely[:half], coder, deviations)
        counts = event.count(likely[half:]), event.count(unlikely[half:])
        shown = bound_log_ratio(*counts, len(likely) - half, risk)
        if best.shown is None or shown > best.shown:
            best = replace(best, shown=shown, event=event.describe(coder), counts=counts)
    return best
