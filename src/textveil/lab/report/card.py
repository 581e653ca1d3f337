"""The release card: one page for the person who decides whether obfuscated texts are released.

It has numbers, settings and row numbers, but never a text of a document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from textveil.budget import LEVEL, MEASURED, describe_level
from textveil.certificate import Certificate, MethodRecord
from textveil.lab.compare.curves import show_reading
from textveil.lab.metrics.clear_text import RETURNED
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.evaluator import Evaluation
from textveil.lab.metrics.leaks import list_leaks
from textveil.lab.metrics.quantities import (
    ADAPTIVE,
    INVERSION,
    LINKAGE,
    MEMBERSHIP,
    QUANTITIES,
    STATIC,
    STYLE,
    TASK,
    UNCHANGED,
    Quantity,
    Side,
    compare_readings,
    is_chance,
)
from textveil.lab.metrics.verification import Check, summarize_checks
from textveil.lab.report.pages import load_texts, render
from textveil.outcomes import DocumentOutcome, Outcome

TITLE = "Release card"
LEAD = (
    "For the person who decides about a release. This card lists what was done, what attackers still learn, and what "
    "is not protected. It does not decide."
)
ATTACKERS = (ADAPTIVE, STATIC, STYLE, LINKAGE, MEMBERSHIP, INVERSION)


class Card(NamedTuple):
    """The release card of an obfuscation."""

    evaluation: Evaluation
    certificate: Certificate | None
    checks: Sequence[Check]
    sha256: str

    def to_markdown(self) -> str:
        """The card as Markdown."""
        parts = [part for part in re.split(r"\n{2,}", self._render("card.md")) if part.strip()]
        return "\n\n".join(parts).rstrip() + "\n"

    def to_html(self) -> str:
        """The card as a page that needs no other file. A table that fits on a phone stays one there."""
        return self._render("card.html")

    def _render(self, template: str) -> str:
        functions = (
            list_worst, list_done, list_attackers, list_unchanged, list_utility, summarize_checks, Outcome,
            DocumentOutcome,
        )  # fmt: skip
        named = {each.__name__: each for each in functions}
        return render(template, title=TITLE, lead=LEAD, texts=load_texts(), **named, **self._asdict())


def build_card(
    evaluation: Evaluation,
    certificate: Certificate | None = None,
    checks: Sequence[Check] = (),
    *,
    certificate_sha256: str | None = None,
) -> Card:
    """Build the release card of an obfuscation.

    Args:
        evaluation: Everything that was measured.
        certificate: The certificate of the obfuscation.
        checks: The result of ``verify_certificate``.
        certificate_sha256: The hash of the certificate's file; by default that of its content as textveil writes it.
    """
    if certificate is not None and certificate_sha256 is None:
        certificate_sha256 = hashlib.sha256(certificate.to_json().encode()).hexdigest()
    return Card(evaluation, certificate, checks, certificate_sha256 or "")


Lines = list[tuple[str, str]]
"""Names with their values."""


def list_worst(evaluation: Evaluation, certificate: Certificate | None, checks: Sequence[Check]) -> list[str]:
    """What still stands, the worst first, and the reasons to draw no conclusion."""
    others = dict(evaluation.measurements)
    linkage = {name: others.pop(name) for name in ("linkage",) if name in others}  # the first thing to be tried
    leaks = [*list_leaks(linkage), *list_leaks(others)]
    lines = [f"{each.sentence[0].upper()}{each.sentence[1:]}." for each in leaks]
    if not linkage:
        lines.insert(0, f"Linkage was not measured here. The level {LEVEL}: {describe_level(LEVEL)} ({MEASURED}).")
    if not leaks:
        lines.append("Nothing was measured that shows what still stands.")
    if certificate is None:
        lines.append("No certificate was given. Nothing is known about the settings or the guarantee.")
    elif any(check.passed is False for check in checks):
        lines.append(summarize_checks(checks))
    caveats = dict.fromkeys(caveat for found in evaluation.measurements.values() for caveat in found.caveats)
    return [*lines, *(f"No conclusion: {caveat}" for caveat in caveats)]


def list_done(evaluation: Evaluation, certificate: Certificate | None) -> Lines:
    """The texts, the methods and the budget."""
    drawn = "" if evaluation.sampled_from is None else f", a random sample of {evaluation.sampled_from:,}"
    facts = [("texts", f"{evaluation.texts:,}{drawn}")]
    if evaluation.left_out:
        facts.append(("skipped rows", f"{evaluation.left_out:,}, because the original has no word"))
    if evaluation.empty:
        facts.append(("empty obfuscated texts", f"{evaluation.empty:,}"))
    if certificate is None:
        return facts
    terms, budget = certificate.terms, certificate.budget
    unit = "document" if budget.epsilon is not None else "word"
    amount = budget.epsilon if budget.epsilon is not None else budget.epsilon_per_word
    return [
        *facts,
        ("profile", terms.profile.name),
        *((axis, _name_method(getattr(terms, axis))) for axis in ("decomposition", "distribution", "mechanism")),
        ("budget", f"{amount:g} per {unit}{_tell_length(certificate)}"),
        ("largest budget of a document", f"{certificate.tally.largest_budget:,.4g}"),
        ("largest share of a chunk", "no limit" if terms.largest_share is None else f"{terms.largest_share:.3g}"),
        ("stopwords", terms.stopwords),
        ("division of the budget", terms.allocation),
        ("noise", "predictable: from a seed" if terms.randomness["predictable"] else "not predictable"),
        ("bundle", f"{terms.bundle.get('name', '')} {terms.bundle.get('version', '')}".strip()),
    ]


def _name_method(method: MethodRecord) -> str:
    model = method["model"]
    details = [f"{name} {value}" for name, value in method["options"].items() if value is not None]
    details += [] if model is None else [f"model {model['name']} {model['sha256'][:12]}"]
    return f"{method['name']} ({', '.join(details)})" if details else str(method["name"])


def _tell_length(certificate: Certificate) -> str:
    budget = certificate.budget
    if budget.average_length is not None:
        return f", times the average length of {budget.average_length:.1f} words"
    return ", times the number of replaced words" if budget.length == "own" else ""


def _show(quantity: Quantity, evaluation: Evaluation, *references: Reference) -> list[str]:
    """The value of a quantity and its references, with their intervals."""
    readings = [quantity.read(evaluation), *(quantity.read_reference(evaluation, each) for each in references)]
    return [show_reading(quantity, reading) for reading in readings]


def list_attackers(evaluation: Evaluation) -> list[list[str]]:
    """What every attacker does and knows, how it fares, and what that means."""
    does = load_texts()["attackers"]
    return [
        [
            quantity.title,
            does[quantity.key],
            *_show(quantity, evaluation, Reference.CHANCE, Reference.ORIGINALS),
            judge_attack(quantity, evaluation),
        ]
        for quantity in ATTACKERS
        if quantity.read(evaluation) is not None
    ]


def judge_attack(quantity: Quantity, evaluation: Evaluation) -> str:
    """What the F1 of an attacker means, as far as its interval supports it."""
    own = quantity.read(evaluation)
    chance = quantity.read_reference(evaluation, Reference.CHANCE)
    original = quantity.read_reference(evaluation, Reference.ORIGINALS)
    if caveats := quantity.caveats(evaluation):
        return f"no conclusion: {' '.join(caveats)}"
    if own is not None and chance is not None and is_chance(own, chance):
        return "cannot be told from chance"
    if own is None or own.interval is None:
        return "no conclusion: it has no interval"
    if original is not None and compare_readings(own, original) in (0, 1):
        return "no protection shown: cannot be told from the originals"
    said = ["above chance"] * (chance is not None)
    said += ["below the originals"] * (original is not None and compare_readings(own, original) == -1)
    return ", ".join(said) or "no conclusion: chance and originals have no interval"


def list_unchanged(evaluation: Evaluation) -> Lines:
    """The share of unchanged words, and the reasons why they are unchanged."""
    found, reading = evaluation.measurements.get("clear_text"), UNCHANGED.read(evaluation)
    if found is None:
        return []
    texts = load_texts()["outcomes"]
    kinds = {outcome.value: texts[outcome.value] for outcome in Outcome if outcome.in_clear}
    rows = [] if reading is None else [("all unchanged words", show_reading(UNCHANGED, reading))]
    values = {why: found.values.get(name) for name, why in (*kinds.items(), (RETURNED, "chosen again"))}
    return [*rows, *((why, f"{share:.1%}") for why, share in values.items() if share)]


def list_utility(evaluation: Evaluation) -> list[list[str]]:
    """The values of every utility, with their references."""
    listed = [(quantity.title, quantity, evaluation) for quantity in QUANTITIES if quantity.side is not Side.PRIVACY]
    for name, found in evaluation.measurements.items():
        if name != found.metric:  # a further task, such as "downstream topic"
            further = replace(evaluation, measurements={found.metric: found})
            listed.insert(1, (f"{TASK.title} ({name.partition(' ')[2]})", TASK, further))
    return [
        [title, *_show(quantity, measured, Reference.ORIGINALS, Reference.CHANCE)]
        for title, quantity, measured in listed
        if quantity.read(measured) is not None
    ]
