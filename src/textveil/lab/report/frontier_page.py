"""Curves on a page: figures with points that show their values, a table of areas, and a table of all points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from textveil.lab.compare.curves import Frontier, show_area, show_attacks, show_bounds, tell_areas, tell_settings
from textveil.lab.report.pages import Markup, details, element, paragraph, table, text
from textveil.lab.report.plots import Look, assign_common_looks, draw_curves, draw_legend, show_reading

NOTE = (
    "Down and right is better. Point at a mark, tap it, or move to it with the Tab key to read its values. Thin lines "
    "are 95 % intervals. The wide line is the front by the values alone. Hollow marks are clearly behind it. Dashed "
    "lines are the originals; dotted lines with bands are chance."
)
"""How to read the figures."""


def draw_figure(frontier: Frontier, looks: dict[str, Look], **attributes: str) -> Markup:
    """The curves of an attack and a utility, with their legend, and their front and areas in words."""
    front = frontier.front
    caption = f"{front.attack.title[:1].upper()}{front.attack.title[1:]} against {front.utility.title}."
    lines = [*tell_settings(frontier), *tell_areas(frontier), *frontier.notes]
    said = element("figcaption", element("b", text(caption)) + "".join(map(paragraph, lines)))
    return element("figure", draw_curves(frontier, looks) + draw_legend(frontier, looks) + said, **attributes)


def show_grid(frontiers: Sequence[Frontier]) -> Markup:
    """The figures of all curves, in a row for every attack."""
    looks = assign_common_looks(frontiers)
    parts = [paragraph(NOTE, class_="note")]
    for title, found in groupby(frontiers, key=lambda each: each.front.attack.title):
        drawn = (draw_figure(frontier, looks) for frontier in found)
        parts.append(element("h3", text(title[:1].upper() + title[1:])) + element("div", drawn, class_="curves"))
    return "".join(parts)


def show_tables(frontiers: Sequence[Frontier]) -> Markup:
    """The areas and the points, as tables that unfold."""
    areas = "".join(_show_areas(frontier) for frontier in frontiers if frontier.areas)
    points = "".join(_show_points(frontier) for frontier in frontiers)
    note = (
        "The mean difference in utility from the setting in the title, over the range of attack that both curves "
        "cover; of perplexity the mean ratio. Between levels, curves are straight lines. Bold: the interval excludes "
        "no difference."
    )
    parts = [details("Areas between curves", paragraph(note, class_="note") + areas)] if areas else []
    return "".join([*parts, details("All points", points)])


def _name(frontier: Frontier) -> str:
    return f"{frontier.front.attack.title} against {frontier.front.utility.title}"


def _show_areas(frontier: Frontier) -> Markup:
    rows = []
    for area in frontier.areas:
        mark = {"class_": "significant"} if area.verdict else {}
        shown = show_area(area) or "no attack in common"
        cells = [element("td", text(area.setting), class_="left"), element("td", text(shown), **mark)]
        rows.append([*cells, *(element("td", text(each)) for each in (show_bounds(area), show_attacks(area)))])
    kind = "times the" if frontier.front.utility.logarithmic else "more"
    unit = ", points" if frontier.front.utility.percent else ""
    head = ["setting", f"{kind} {frontier.front.utility.title}{unit}", "95 % interval", "over attack"]
    title = element("h3", text(f"{_name(frontier)}, compared with {frontier.against}"))
    return title + table(head, rows)


def _show_points(frontier: Frontier) -> Markup:
    front = frontier.front
    rows = []
    for place in front.places:
        point = place.point
        budget = "" if point.epsilon is None else f"{point.epsilon:.4g}"
        shown = [show_reading(front.attack, place.attack), show_reading(front.utility, place.utility)]
        cells = (element("td", text(each)) for each in (point.level, budget, *shown, place.standing.value))
        rows.append([element("td", text(point.setting), class_="left"), *cells])
    head = ["setting", "level", "epsilon", front.attack.title, front.utility.title, "front"]
    return element("h3", text(_name(frontier))) + table(head, rows)
