"""Curves in plain language: which settings are on the front, and how they compare at equal attack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textveil.analysis.frontier import Area, Frontier
from textveil.evaluation.base import Interval
from textveil.evaluation.front import join_names
from textveil.evaluation.quantities import Quantity

_HEADS, _NAMES = 3, 3
"""The largest numbers of groups and of names in a sentence."""
ENOUGH = 0.25
"""The share of the range of attack that two curves must have in common, so that a sentence compares them."""


def tell_frontiers(frontiers: Iterable[Frontier]) -> list[str]:
    """Everything about all curves, in sentences."""
    return [line for frontier in frontiers for line in (*tell_settings(frontier), *tell_areas(frontier))]


def tell_settings(frontier: Frontier) -> list[str]:
    """The settings on the front of an attack and a utility. Those that are the same within noise are one group."""
    front = frontier.front
    names = f"{front.attack.title} against {front.utility.title}"
    if len(frontier.curves) < 2:
        return []
    if front.caveats:
        return [f"No conclusion is drawn about the front for {names}. {' '.join(front.caveats)}"]
    groups = group_settings(frontier)
    said = "; ".join(_tell_group(frontier, *group) for group in list(groups.items())[:_HEADS])
    more = f"; and {len(groups) - _HEADS} more" if len(groups) > _HEADS else ""
    if not front.has_intervals:
        return [f"On the front for {names}, by the values alone because intervals are missing: {said}{more}."]
    named = {name for head, others in groups.items() for name in (head, *others)}
    behind = frontier.behind
    if partly := [name for name in frontier.curves if name not in named and name not in behind]:
        more += f"; at some levels also {_shorten(partly)}"
    lost = f" Clearly behind it at every level: {_shorten(behind)}." if behind else ""
    return [f"On the front for {names}: {said}{more}.{lost}"]


def group_settings(frontier: Frontier) -> dict[str, list[str]]:
    """The settings on the front, each with those that are the same within noise.

    A setting with more points on the front is the head of a group. Others on the front join the first group whose head
    they cannot be told from.
    """
    groups: dict[str, list[str]] = {}
    behind = set(frontier.behind)
    others = [name for name in frontier.curves if name not in frontier.leaders and name not in behind]
    for name in (*frontier.leaders, *others):
        head = next((head for head in groups if frontier.is_same(head, name)), None)
        if head is not None:
            groups[head].append(name)
        elif name in frontier.leaders:
            groups[name] = []
    return groups


def _tell_group(frontier: Frontier, head: str, others: Sequence[str]) -> str:
    places, front = frontier.curves[head], frontier.front
    attack = show_range(front.attack, [place.attack.value for place in places])
    utility = show_range(front.utility, [place.utility.value for place in places])
    same = f"; the same within noise: {_shorten(others)}" if others else ""
    return f"{head} (attack {attack}, utility {utility}{same})"


def show_range(quantity: Quantity, values: Sequence[float]) -> str:
    """The lowest and the highest of some values; a single one if they are shown alike."""
    low, high = min(values), max(values)
    if quantity.show(low) == quantity.show(high):
        return quantity.show(low)
    return quantity.show_interval(Interval(low, high))


def tell_areas(frontier: Frontier) -> list[str]:
    """The best setting at equal attack, and how many are clearly better or worse than the one compared with.

    There is nothing to tell without levels, which make points a curve.
    """
    single = all(len(places) == 1 for places in frontier.curves.values())
    if frontier.front.caveats or not frontier.areas or single:
        return []
    known = [area for area in frontier.areas if area.covered >= ENOUGH]
    attack, utility, against = frontier.front.attack, frontier.front.utility, frontier.against
    if not known:
        return [
            f"{_begin(attack.title)}: no other setting covers enough of the range of {against}, so none is compared."
        ]
    best = known[0]
    found = f"{best.setting} has {_tell_difference(best)} {against}, on average across {show_attacks(best)}"
    judged = [area for area in known if area.interval is not None]
    if len(judged) < len(known):
        return [f"At equal {attack.title}, {found}; intervals are missing."]
    better, worse = ([area for area in judged if area.verdict == sign] for sign in (1, -1))
    if not better:
        said = f"At equal {attack.title}, no setting has clearly better {utility.title} than {against}: {found}."
    else:
        said = f"At equal {attack.title}, {found}."
    if len(judged) > 1:
        said += f" Of {len(judged)} settings, {len(better)} are clearly better than it and {len(worse)} clearly worse."
    return [said]


def _tell_difference(area: Area) -> str:
    """The difference from another setting, for a sentence."""
    bounds = f" ({show_bounds(area)})" if area.interval is not None else ""
    if area.utility.logarithmic:
        return f"{show_area(area)} times the {area.utility.title}{bounds} of"
    unit = " percentage points" if area.utility.percent else ""
    more = "more" if (area.value or 0) >= 0 else "less"
    shown = area.utility.columns[0].show_bare(abs(area.value or 0))
    return f"{shown}{unit} {more} {area.utility.title}{bounds} than"


def show_area(area: Area) -> str:
    """The value of an area, rounded for display; empty if the curves have no attack in common."""
    return "" if area.value is None else _show(area.utility, area.value)


def show_bounds(area: Area) -> str:
    """The interval of an area, rounded for display; empty if it is unknown."""
    return "" if area.interval is None else " to ".join(_show(area.utility, bound) for bound in area.interval)


def show_attacks(area: Area) -> str:
    """The range of attack over which an area is a mean; empty if there is none."""
    return "" if area.gap is None else show_range(area.attack, [area.gap.low, area.gap.high])


def _show(utility: Quantity, value: float) -> str:
    if utility.logarithmic:
        return f"{value:.2f}"
    shown = utility.columns[0].show_bare(value)
    return shown if value < 0 else f"+{shown}"


def _shorten(names: Sequence[str]) -> str:
    """Some names and the number of the others."""
    if len(names) <= _NAMES:
        return join_names(names)
    return f"{', '.join(names[: _NAMES - 1])} and {len(names) - _NAMES + 1} more"


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
