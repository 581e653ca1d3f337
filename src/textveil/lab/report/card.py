"""The release card: one page for the person who decides whether obfuscated texts are released.

It has numbers, settings and row numbers, but never a text of a document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from textveil.budget import LEVEL, MEASURED, describe_level
from textveil.certificate import Certificate, MethodRecord
from textveil.lab.compare.curves import show_reading
from textveil.lab.metrics.clear_text import RETURNED
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.evaluator import Evaluation
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
from textveil.lab.metrics.verdicts import list_leaks
from textveil.lab.metrics.verification import Check, summarize_checks
from textveil.lab.report.pages import load_texts, render
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.version import __version__


class Paragraph(NamedTuple):
    """A paragraph of text."""

    text: str


class Bullets(NamedTuple):
    """A list of sentences."""

    lines: Sequence[str]


class Facts(NamedTuple):
    """Names with their values."""

    lines: Sequence[tuple[str, str]]


class Rows(NamedTuple):
    """A table. The first cell of a row is its name."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Blanks(NamedTuple):
    """Names of blanks to fill in by hand."""

    names: Sequence[str]


Block = Paragraph | Bullets | Facts | Rows | Blanks


class Section(NamedTuple):
    """A section with its title."""

    title: str
    blocks: Sequence[Block]


class Page(NamedTuple):
    """A short document."""

    title: str
    lead: str
    sections: Sequence[Section]

    def to_markdown(self) -> str:
        """The document as Markdown."""
        return render("card.md", card=self)


def write_card_page(card: Page) -> str:
    """The card as HTML. A table that fits on a phone stays one there."""
    return render("card.html", card=card)


TITLE = "Release card"
LEAD = (
    "For the person who decides about a release. This card lists what was done, what attackers still learn, and what "
    "is not protected. It does not decide."
)
ATTACKERS = (ADAPTIVE, STATIC, STYLE, LINKAGE, MEMBERSHIP, INVERSION)


def build_card(
    evaluation: Evaluation,
    certificate: Certificate | None = None,
    checks: Sequence[Check] = (),
    *,
    certificate_sha256: str | None = None,
) -> Page:
    """Build the release card of an obfuscation.

    Args:
        evaluation: Everything that was measured.
        certificate: The certificate of the obfuscation.
        checks: The result of ``verify_certificate``.
        certificate_sha256: The hash of the certificate's file; by default that of its content as textveil writes it.
    """
    if certificate is not None and certificate_sha256 is None:
        certificate_sha256 = hashlib.sha256(certificate.to_json().encode()).hexdigest()
    return Page(
        TITLE,
        LEAD,
        [
            Section("The worst that still stands", _tell_worst(evaluation, certificate, checks)),
            Section("What was done", _tell_done(evaluation, certificate)),
            Section("Attackers", _tell_attackers(evaluation)),
            Section("What remains", _tell_remains(evaluation, certificate)),
            Section("What the texts are still useful for", _tell_utility(evaluation)),
            Section("What is not protected", _tell_unprotected(certificate)),
            Section("Certificate", _tell_certificate(certificate, checks, certificate_sha256)),
            Section("Measurements in words", _tell_measurements(evaluation)),
            Section("Versions", [Facts(_list_versions(evaluation, certificate))]),
            Section("Decision", [Blanks(["released: yes or no", "conditions", "name", "date"])]),
        ],
    )


def _tell_worst(evaluation: Evaluation, certificate: Certificate | None, checks: Sequence[Check]) -> list[Block]:
    others = dict(evaluation.measurements)
    linkage = {name: others.pop(name) for name in ("linkage",) if name in others}  # the first thing to be tried
    leaks = [*list_leaks(linkage), *list_leaks(others)]
    lines = [f"{each.precise[0].upper()}{each.precise[1:]}." for each in leaks]
    if not linkage:
        lines.insert(0, f"Linkage was not measured here. The level {LEVEL}: {describe_level(LEVEL)} ({MEASURED}).")
    if not leaks:
        lines.append("Nothing was measured that shows what still stands.")
    if certificate is None:
        lines.append("No certificate was given. Nothing is known about the settings or the guarantee.")
    elif any(check.passed is False for check in checks):
        lines.append(summarize_checks(checks))
    caveats = dict.fromkeys(caveat for found in evaluation.measurements.values() for caveat in found.caveats)
    return [Bullets([*lines, *(f"No conclusion: {caveat}" for caveat in caveats)])]


def _tell_done(evaluation: Evaluation, certificate: Certificate | None) -> list[Block]:
    drawn = "" if evaluation.sampled_from is None else f", a random sample of {evaluation.sampled_from:,}"
    facts = [("texts", f"{evaluation.texts:,}{drawn}")]
    if evaluation.left_out:
        facts.append(("skipped rows", f"{evaluation.left_out:,}, because the original has no word"))
    if evaluation.empty:
        facts.append(("empty obfuscated texts", f"{evaluation.empty:,}"))
    if certificate is None:
        return [Facts(facts), Paragraph("The methods and the budget are unknown, because no certificate was given.")]
    terms, budget = certificate.terms, certificate.budget
    unit = "document" if budget.epsilon is not None else "word"
    amount = budget.epsilon if budget.epsilon is not None else budget.epsilon_per_word
    facts += [
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
    return [Paragraph(load_texts()["claims"][terms.profile.name]), Facts(facts)]


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


def _tell_attackers(evaluation: Evaluation) -> list[Block]:
    rows = [
        [
            quantity.title,
            load_texts()["attackers"][quantity.key],
            *_show(quantity, evaluation, Reference.CHANCE, Reference.ORIGINALS),
            judge_attack(quantity, evaluation),
        ]
        for quantity in ATTACKERS
        if quantity.read(evaluation) is not None
    ]
    head = ["attacker", "what it does", "obfuscated", "chance", "originals", "meaning"]
    blocks: list[Block] = [Rows(head, rows)] if rows else [Paragraph("No attacker was tried.")]
    blocks.append(Paragraph("Attackers give a lower bound: one that was not tried may learn more."))
    missing = [f"{name}: {reason.replace('`', '')}" for name, reason in evaluation.not_measured.items()]
    return [*blocks, Paragraph("Not measured:"), Bullets(missing)] if missing else blocks


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


def _tell_remains(evaluation: Evaluation, certificate: Certificate | None) -> list[Block]:
    blocks: list[Block] = []
    if certificate is not None and (words := certificate.tally.words.total()):
        texts = load_texts()["outcomes"]
        shares = [(texts[each.value], f"{certificate.tally.words[each] / words:.1%}") for each in Outcome]
        blocks.append(Rows(["words by outcome", "share of all words"], shares))
    blocks += _tell_unchanged(evaluation)
    if certificate is not None:
        blocks += _tell_documents(certificate)
    blocks += _tell_worst_rows(evaluation)
    blocks += _tell_identifiers(evaluation)
    return blocks or [Paragraph("Unknown: neither unchanged words nor identifiers were measured.")]


def _tell_identifiers(evaluation: Evaluation) -> list[Block]:
    """The surviving identifiers by kind, with their harm where it is known."""
    kinds = _details(evaluation, "identifiers").get("kinds", {})
    if not kinds:
        return []
    rows = []
    for kind, each in kinds.items():
        name = "nationality, religion, politics" if kind == "NRP" else kind.lower().replace("_", " ")
        harm = [str(each["harm"])] if "harm" in each else []
        rows.append([name, *harm, f"{each['found']:,}", f"{each['remaining']:.1%}"])
    head = ["identifiers", *["harm"] * (len(rows[0]) - 3), "in the originals", "surviving"]
    return [Rows(head, rows)]


def _details(evaluation: Evaluation, metric: str) -> Mapping[str, Any]:
    found = evaluation.measurements.get(metric)
    return {} if found is None else found.details


def _tell_unchanged(evaluation: Evaluation) -> list[Block]:
    found = evaluation.measurements.get("clear_text")
    if found is None:
        return []
    reading = UNCHANGED.read(evaluation)
    rows = [] if reading is None else [["all unchanged words", show_reading(UNCHANGED, reading)]]
    texts = load_texts()["outcomes"]
    kinds = {
        **{outcome.value: texts[outcome.value] for outcome in Outcome if outcome.in_clear},
        RETURNED: "chosen again",
    }
    rows += [[why, f"{found.values[name]:.1%}"] for name, why in kinds.items() if found.values.get(name)]
    return [Rows(["unchanged words", "share of all words"], rows)] if rows else []


def _tell_documents(certificate: Certificate) -> list[Block]:
    documents = certificate.tally.documents
    unusual = [
        (outcome.value.replace("_", " "), f"{documents[outcome]:,} of {documents.total():,} documents")
        for outcome in DocumentOutcome
        if outcome is not DocumentOutcome.OBFUSCATED and documents[outcome]
    ]
    return [Facts(unusual)] if unusual else []


def _tell_worst_rows(evaluation: Evaluation) -> list[Block]:
    details = _details(evaluation, "clear_text")
    rows = details.get("worst_rows")
    if not rows:
        return []
    numbers = ", ".join(map(str, rows))
    origin = " They come from new noise, so those of the file can differ." if "of_file" in details else ""
    return [Paragraph(f"Rows with the largest share of returned words, counted from 1: {numbers}.{origin}")]


def _tell_utility(evaluation: Evaluation) -> list[Block]:
    listed = [(quantity.title, quantity, evaluation) for quantity in QUANTITIES if quantity.side is not Side.PRIVACY]
    for name, found in evaluation.measurements.items():
        if name != found.metric:  # a further task, such as "downstream topic"
            further = replace(evaluation, measurements={found.metric: found})
            listed.insert(1, (f"{TASK.title} ({name.partition(' ')[2]})", TASK, further))
    rows = [
        [title, *_show(quantity, measured, Reference.ORIGINALS, Reference.CHANCE)]
        for title, quantity, measured in listed
        if quantity.read(measured) is not None
    ]
    if not rows:
        return [Paragraph("Unknown: no utility was measured.")]
    return [Rows(["utility", "obfuscated", "originals", "chance"], rows)]


def _tell_unprotected(certificate: Certificate | None) -> list[Block]:
    if certificate is None:
        return [Paragraph("Without a certificate, nothing is guaranteed. Assume that nothing is protected.")]
    stated = [f"Not protected: {point}." for point in certificate.not_protected]
    general = Paragraph("In addition, for every obfuscation by textveil:")
    return [Bullets(stated), general, Bullets(list(load_texts()["open_points"].values()))]


def _tell_certificate(
    certificate: Certificate | None, checks: Sequence[Check], certificate_sha256: str | None
) -> list[Block]:
    if certificate is None:
        return [Paragraph("No certificate was given.")]
    verdict = summarize_checks(checks) if checks else "NOT VERIFIED: the certificate was not compared with the texts."
    results = {True: "passed", False: "FAILED", None: "not made"}
    facts = [
        ("SHA-256", str(certificate_sha256)),
        ("format", str(certificate.as_dict()["certificate"])),
        ("claim", certificate.terms.profile.claim),
        ("neighbors", certificate.terms.profile.neighbors),
        ("bundle SHA-256", certificate.terms.bundle["sha256"]),
    ]
    rows = [[check.name, results[check.passed], check.finding] for check in checks]
    note = (
        "A certificate is not signed. The checks find one that belongs to other texts. They cannot find every forgery, "
        "or another budget that changes as many words."
    )
    table: Iterable[Block] = [Rows(["check", "result", "finding"], rows)] if rows else []
    return [Paragraph(verdict), Facts(facts), *table, Paragraph(note)]


def _tell_measurements(evaluation: Evaluation) -> list[Block]:
    if not evaluation.measurements:
        return [Paragraph("Nothing was measured.")]
    return [Facts([(name, found.line) for name, found in evaluation.measurements.items()])]


def _list_versions(evaluation: Evaluation, certificate: Certificate | None) -> list[tuple[str, str]]:
    used: dict[str, str] = {}
    for found in evaluation.measurements.values():
        used |= found.versions
    facts = [("evaluated with", _join_versions({"textveil": __version__, **used}))]
    if certificate is not None:
        facts.append(("obfuscated with", _join_versions(certificate.terms.versions)))
    facts += [(name, found.description) for name, found in evaluation.measurements.items()]
    return facts


def _join_versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
