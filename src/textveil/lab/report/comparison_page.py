"""The page of a comparison: tables, curves and the Pareto front, as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from textveil.lab.compare.comparison import LEVEL_SIGN, Comparison, Contender, is_clearly_better
from textveil.lab.compare.curves import Frontier, compare_frontiers, tell_areas
from textveil.lab.compare.front import tell_attack, tell_front
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading, Side
from textveil.lab.report.frontier_page import NOTE, draw_figure, show_tables
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
from textveil.lab.report.plots import assign_common_looks

TITLE = "Obfuscations side by side"


def write_comparison(comparison: Comparison, title: str = TITLE, *, frontiers: Sequence[Frontier] | None = None) -> str:
    """The page of a comparison.

    Args:
        comparison: The comparison.
        title: The title of the page.
        frontiers: The curves from ``compare_frontiers``; by default those with its defaults.
    """
    found = compare_frontiers(comparison) if frontiers is None else frontiers
    sections = {
        "findings": ("What the numbers support", bullets(tell_findings(comparison, found))),
        "curves": ("Attack against utility", _show_curves(found)),
        "values": ("All values", "".join(_show_tables(comparison))),
        "read": ("How to read this", _explain(comparison)),
        "run": ("What was measured", _tell_run(comparison)),
    }
    links = (element("li", element("a", text(head), href=f"#{name}")) for name, (head, _) in sections.items())
    header = element(
        "header",
        element("h1", text(title))
        + paragraph(_summarize(comparison), class_="lead")
        + element("nav", element("ul", links)),
    )
    body = element("main", (section(head, content, name=name) for name, (head, content) in sections.items()))
    return write_document(title, header, body)


def tell_findings(comparison: Comparison, frontiers: Iterable[Frontier]) -> list[str]:
    """The sentences about the main front, the attack and the areas between curves, and the caveats."""
    main = next(iter(frontiers), None)
    if main is None:
        lines = ["There is no front: it needs an attack and a utility. Give a label and an attribute."]
    else:
        lines = [*tell_attack(comparison, main.front.attack), *tell_front(main.front), *tell_areas(main)]
    for metric, caveats in comparison.caveats.items():
        for caveat in caveats:
            if not any(caveat in line for line in lines):
                lines.append(f"No conclusion is drawn from {metric}. {caveat}")
    return lines


def _summarize(comparison: Comparison) -> str:
    number, settings = len(comparison.contenders), len(comparison.settings)
    counted = f"{number} obfuscation{'' if number == 1 else 's'} of {comparison.texts:,} texts"
    if settings < number:
        counted += f", in {settings} setting{'' if settings == 1 else 's'}"
    if comparison.left_out:
        counted += f"; {comparison.left_out:,} rows skipped because the original has no word"
    return f"{counted}."


def _show_curves(frontiers: Sequence[Frontier]) -> Markup:
    if not frontiers:
        return paragraph("Nothing to draw: no attack and utility were both measured.")
    looks = assign_common_looks(frontiers)
    main = draw_figure(frontiers[0], looks, class_="main")
    drawn = [draw_figure(frontier, looks) for frontier in frontiers[1:]]
    others = element("div", drawn, class_="curves") if drawn else ""
    return main + paragraph(NOTE, class_="note") + others + show_tables(frontiers)


def _show_tables(comparison: Comparison) -> Iterator[Markup]:
    for side, found in groupby(comparison.quantities, key=lambda quantity: quantity.side):
        yield element("h3", text(side.value.capitalize()))
        yield _show_table(comparison, side, list(found))


def _show_table(comparison: Comparison, side: Side, quantities: list[Quantity]) -> Markup:
    head = [side.value, *map(write_head, quantities)]
    rows, marks = [], []
    for reference in Reference:
        readings = [comparison.read_reference(quantity, reference) for quantity in quantities]
        if any(readings):
            pairs = zip(quantities, readings, strict=True)
            rows.append([text(reference.value), *(_show_reading(*pair) for pair in pairs)])
            marks.append("reference")
    for contender in comparison.contenders:
        cells = [_show_cell(comparison, contender, quantity) for quantity in quantities]
        rows.append([text(contender.name), *cells])
        marks.append("")
    return stacking_table(head, rows, marks)


def write_head(quantity: Quantity) -> str:
    """The title of a quantity with an arrow that points to the better direction."""
    arrow = "\N{UPWARDS ARROW}" if quantity.better == "higher" else "\N{DOWNWARDS ARROW}"
    return f"{quantity.title} {arrow}"


def _show_reading(quantity: Quantity, reading: Reading | None) -> Markup:
    if reading is None:
        return ""
    shown = element("span", text(quantity.show(reading.value)), class_="value")
    if reading.interval is None or reading.interval.low == reading.interval.high:
        return element("span", shown)
    return element("span", shown + element("small", text(quantity.show_interval(reading.interval))))


def _show_cell(comparison: Comparison, contender: Contender, quantity: Quantity) -> Markup:
    reading = contender.read(quantity)
    if reading is None:
        return ""
    marks = [
        element("span", text(mark), class_=f"mark {mark.partition(' ')[0]}")
        for mark in list_marks(comparison, contender, quantity)
    ]
    return element("span", _show_reading(quantity, reading) + " ".join(marks))


def list_marks(comparison: Comparison, contender: Contender, quantity: Quantity) -> list[str]:
    """What the intervals say about a value: ``best``, ``worse``, ``chance``, ``as originals``."""
    if quantity.caveats(contender.evaluation):
        return ["no conclusion"]
    best = comparison.find_best(quantity)
    marks = []
    if contender is best:
        marks.append("best")
    elif best is not None and is_clearly_better(best, contender, quantity):
        marks.append("worse")
    if comparison.is_chance(contender, quantity):
        marks.append("chance")
    elif comparison.is_original(contender, quantity):
        marks.append("as originals")
    return marks


MARKS = {
    "best": "the best value, clearly better than at least one other",
    "worse": "clearly worse than the best value",
    "chance": "cannot be told from chance",
    "as originals": "cannot be told from the originals",
    "no conclusion": "a caveat forbids a conclusion",
}
"""The meaning of every mark."""


def _explain(comparison: Comparison) -> Markup:
    lines = [
        "Intervals are 95 % intervals. Two values differ clearly if their intervals do not overlap. This is a strict "
        "criterion: values whose intervals overlap may still differ.",
        "Chance is the value of an attacker or classifier that has learned nothing.",
        "An obfuscation is behind the Pareto front if another one is clearly better in attack or utility, and not "
        "worse in the other.",
        "Attackers give a lower bound. A better attacker can find more.",
    ]
    if any(contender.level for contender in comparison.contenders):
        lines.insert(2, f"Names with {LEVEL_SIGN} are levels of one setting, which a curve connects.")
    marked = element("dl", (element("dt", _mark(name)) + element("dd", text(MARKS[name])) for name in MARKS))
    return bullets(lines) + element("h3", "Marks") + marked


def _mark(name: str) -> Markup:
    return element("span", text(name), class_=f"mark {name.partition(' ')[0]}")


def _tell_run(comparison: Comparison) -> Markup:
    """The metrics with their models, the metrics that were not measured, and versions."""
    lines: dict[str, str] = {}
    versions: dict[str, str] = {}
    for contender in comparison.contenders:
        for name, measurement in contender.evaluation.measurements.items():
            lines[name] = measurement.description
            versions |= measurement.versions
        if contender.evaluation.empty:
            lines[f"{contender.name}"] = f"{contender.evaluation.empty:,} of its texts are empty"
    for name, reason in comparison.not_measured.items():
        lines[f"{name} (not measured)"] = reason.replace("`", "")
    lines["versions"] = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return facts(lines.items())
