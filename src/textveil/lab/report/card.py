"""The release card: one page for the person who decides whether obfuscated texts are released.

It has numbers, settings and row numbers, but never a text of a document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textveil.budget import LEVEL, MEASURED, describe_level
from textveil.certificate import Certificate, MethodRecord
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
    Reading,
    Side,
    compare_readings,
    is_chance,
)
from textveil.lab.metrics.verification import Check, summarize_checks
from textveil.lab.report.pages import (
    Markup,
    bullets,
    element,
    facts,
    paragraph,
    section,
    stacking_table,
    text,
    write_document,
)
from textveil.outcomes import DocumentOutcome, Outcome
from textveil.profiles import PAPER, PROVEN, STRICT
from textveil.version import __version__

_SPECIAL = re.compile(r"([\\`*\[\]|])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table. The first cell of a row is its name."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Blanks:
    """Names of blanks to fill in by hand."""

    names: Sequence[str]


Block = Paragraph | Bullets | Facts | Rows | Blanks


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its title."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Page:
    """A short document."""

    title: str
    lead: str
    sections: Sequence[Section]

    def to_markdown(self) -> str:
        """The document as Markdown."""
        parts = [f"# {escape_markdown(self.title)}", escape_markdown(self.lead)]
        for part in self.sections:
            parts.append(f"## {escape_markdown(part.title)}")
            parts += ["\n".join(_write_block(block)) for block in part.blocks]
        return "\n\n".join(parts) + "\n"


def escape_markdown(text: str) -> str:
    """Plain text as Markdown on one line.

    >>> escape_markdown("a <b> & c")
    'a &lt;b> &amp; c'
    """
    plain = _SPECIAL.sub(r"\\\1", _SPACE.sub(" ", text).strip())
    return plain.replace("&", "&amp;").replace("<", "&lt;")


def _write_block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield escape_markdown(text)
        case Bullets(lines):
            yield from (f"- {escape_markdown(line)}" for line in lines)
        case Facts(lines):
            yield from _write_table(("", ""), lines)
        case Rows(head, rows):
            yield from _write_table(head, rows)
        case Blanks(names):
            yield from (f"- {escape_markdown(name)}: ____________________" for name in names)


def _write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(escape_markdown, head))} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(escape_markdown, row))} |"


TITLE = "Release card"
LEAD = (
    "For the person who decides about a release. This card lists what was done, what attackers still learn, and what "
    "is not protected. It does not decide."
)
ABILITIES = {
    ADAPTIVE: "infers the attribute; was trained on obfuscated texts",
    STATIC: "infers the attribute; was trained on originals",
    STYLE: "infers the attribute from function words, punctuation and lengths",
    LINKAGE: "finds the original of a text; has all originals",
    MEMBERSHIP: "tells whether a model was trained on a text",
    INVERSION: "recovers the original of a chunk; knows the mechanism",
}
"""What every attacker does and knows."""
CLAIMS = {
    STRICT.name: (
        "Every word except kept stopwords was replaced by a random choice that favors words of similar meaning. The "
        "certificate bounds how much the choice reveals about the original word."
    ),
    PAPER.name: (
        "Words were replaced by a random choice that favors words of similar meaning. Words that are not in the "
        "vocabulary or got no share of the budget were released in clear."
    ),
    PROVEN.name: (
        "Every word was replaced by a random choice that favors words of similar meaning. The certificate bounds how "
        "much the choice reveals. Only the number of words is public."
    ),
}
"""The claim of every profile in plain words."""
OPEN_POINTS = {
    "Distances": "A word is protected among words of similar meaning. The subject of a text may stay recognizable.",
    "Floating point": "The proof is for real numbers. It does not cover the rounding of computers.",
    "Counts": "The numbers in the certificate and on this card come from the texts, and nothing protects them.",
    "Time": "The running time of the obfuscation depends on the number of words.",
    "Repetition": "Every further release of the same texts weakens the protection. Nothing counts these releases.",
}
"""The open points of docs/guarantees.md in plain words, except those that a certificate states itself."""
_WORDS = {
    Outcome.PERTURBED: "replaced by the mechanism",
    Outcome.DRAWN: "replaced without regard to the word",
    Outcome.REDACTED: "identifiers, replaced by their kinds",
    Outcome.KEPT_STOPWORD: "stopwords, kept",
    Outcome.KEPT_UNKNOWN: "released in clear, because unknown",
    Outcome.KEPT_NO_SHARE: "released in clear, because without a share",
}
_UNCHANGED = {**{outcome.value: _WORDS[outcome] for outcome in Outcome if outcome.in_clear}, RETURNED: "chosen again"}
_KINDS = {"NRP": "nationality, religion, politics"}
"""Kinds of identifiers whose names do not explain themselves."""


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


def _show(quantity: Quantity, reading: Reading | None) -> str:
    """A value with its interval; nothing if there is no value."""
    if reading is None:
        return ""
    shown, interval = quantity.show(reading.value), reading.interval
    return (
        shown if interval is None or interval.low == interval.high else f"{shown} ({quantity.show_interval(interval)})"
    )


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
    return [Paragraph(CLAIMS[terms.profile.name]), Facts(facts)]


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


def _tell_attackers(evaluation: Evaluation) -> list[Block]:
    rows = [
        [
            quantity.title,
            does,
            _show(quantity, quantity.read(evaluation)),
            _show(quantity, quantity.read_reference(evaluation, Reference.CHANCE)),
            _show(quantity, quantity.read_reference(evaluation, Reference.ORIGINALS)),
            judge_attack(quantity, evaluation),
        ]
        for quantity, does in ABILITIES.items()
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
        shares = [(_WORDS[each], f"{certificate.tally.words[each] / words:.1%}") for each in Outcome]
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
        name = _KINDS.get(kind, kind.lower().replace("_", " "))
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
    rows = [] if reading is None else [["all unchanged words", _show(UNCHANGED, reading)]]
    rows += [[why, f"{found.values[name]:.1%}"] for name, why in _UNCHANGED.items() if found.values.get(name)]
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
        [
            title,
            _show(quantity, quantity.read(measured)),
            _show(quantity, quantity.read_reference(measured, Reference.ORIGINALS)),
            _show(quantity, quantity.read_reference(measured, Reference.CHANCE)),
        ]
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
    return [Bullets(stated), general, Bullets(list(OPEN_POINTS.values()))]


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


_MOST_COLUMNS, _WIDEST = 4, 20
"""The columns, and the characters of a cell, that fit on a phone."""
_MARKS = {"passed": "pass", "FAILED": "fail"}
"""The words that are shown as marks."""


def write_card_page(card: Page) -> str:
    """The card as HTML."""
    header = element("header", element("h1", text(card.title)) + paragraph(card.lead, class_="lead"))
    sections = (
        section(part.title, *map(_render_block, part.blocks), name=f"section-{number}")
        for number, part in enumerate(card.sections, start=1)
    )
    return write_document(card.title, header, element("main", sections))


def _render_block(block: Block) -> Markup:
    match block:
        case Paragraph(content):
            return paragraph(content)
        case Bullets(lines):
            return bullets(lines)
        case Facts(lines):
            return facts(lines)
        case Rows():
            return _write_rows(block)
        case Blanks(names):
            blanks = (element("dt", text(name)) + element("dd", "") for name in names)
            return element("div", element("dl", blanks), class_="sign")


def _write_rows(block: Rows) -> Markup:
    """A table of words. A table that fits on a phone stays one there."""
    cells = [[_write_cell(cell) for cell in row] for row in block.rows]
    widest = max((len(cell) for row in block.rows for cell in row[1:]), default=0)
    kind = "stacking words" if len(block.head) > _MOST_COLUMNS or widest > _WIDEST else "fitting words"
    return stacking_table(block.head, cells).replace('class="stacking"', f'class="{kind}"', 1)


def _write_cell(cell: str) -> Markup:
    mark = _MARKS.get(cell)
    return text(cell) if mark is None else element("span", text(cell), class_=f"mark {mark}")
