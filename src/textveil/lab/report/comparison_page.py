"""The page of a comparison: tables, curves and the Pareto front, as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from textveil.lab.compare.comparison import Comparison, Contender, is_clearly_better
from textveil.lab.compare.curves import Frontier, compare_frontiers, show_reading, show_value
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity
from textveil.lab.report.frontier_figure import inline_frontiers
from textveil.lab.report.pages import render, tell

TITLE = "Obfuscations side by side"
MARKS = {
    "best": "the best value, clearly better than at least one other",
    "worse": "clearly worse than the best value",
    "chance": "cannot be told from chance",
    "as originals": "cannot be told from the originals",
    "no conclusion": "a caveat forbids a conclusion",
}
"""The meaning of every mark."""


def write_comparison(comparison: Comparison, title: str = TITLE, *, frontiers: Sequence[Frontier] | None = None) -> str:
    """The page of a comparison.

    Args:
        comparison: The comparison.
        title: The title of the page.
        frontiers: The curves from ``compare_frontiers``; by default those with its defaults.
    """
    found = compare_frontiers(comparison) if frontiers is None else frontiers
    return render(
        "comparison.html",
        show_reading=show_reading,
        title=title,
        comparison=comparison,
        findings=tell_findings(comparison, found),
        frontiers=found,
        curves=inline_frontiers(found),
        tables=list(_list_tables(comparison)),
        references=list(Reference),
        marks=MARKS,
    )


def tell_findings(comparison: Comparison, frontiers: Iterable[Frontier]) -> list[str]:
    """The sentences about the main front, the attack and the areas between curves, and the caveats."""
    main = next(iter(frontiers), None)
    if main is None:
        lines = ["There is no front: it needs an attack and a utility. Give a label and an attribute."]
    else:
        lines = [*tell_attack(comparison, main.front.attack), *tell("front", main.front), *tell("areas", main)]
    for metric, caveats in comparison.caveats.items():
        for caveat in caveats:
            if not any(caveat in line for line in lines):
                lines.append(f"No conclusion is drawn from {metric}. {caveat}")
    return lines


def tell_attack(comparison: Comparison, attack: Quantity) -> list[str]:
    """How an attack compares with chance and with the originals, in plain language."""
    marks: dict[str, list[str]] = {"chance": [], "as originals": [], "no conclusion": []}
    for contender in comparison.contenders:
        for mark in marks.keys() & list_marks(comparison, contender, attack):
            marks[mark].append(contender.name)
    return tell("attack", attack.title, {mark: names for mark, names in marks.items() if names})


def _list_tables(comparison: Comparison) -> Iterator[tuple[str, list[str], list[list[Any]]]]:
    """The title, the head and the rows of the table of every side. A cell is a value, an interval and marks."""
    for side, found in groupby(comparison.quantities, key=lambda quantity: quantity.side):
        quantities = list(found)
        rows: list[list[Any]] = []
        for reference in Reference:
            readings = [comparison.read_reference(quantity, reference) for quantity in quantities]
            if any(readings):
                shown = map(show_value, quantities, readings)
                rows.append([reference.value, *((*each, []) for each in shown)])
        for contender in comparison.contenders:
            cells = [
                (*show_value(quantity, contender.read(quantity)), list_marks(comparison, contender, quantity))
                for quantity in quantities
            ]
            rows.append([contender.name, *cells])
        yield side.value, [side.value, *map(write_head, quantities)], rows


def write_head(quantity: Quantity) -> str:
    """The title of a quantity with an arrow that points to the better direction."""
    arrow = "\N{UPWARDS ARROW}" if quantity.better == "higher" else "\N{DOWNWARDS ARROW}"
    return f"{quantity.title} {arrow}"


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
