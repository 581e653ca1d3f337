"""Curves of attack against utility with their Pareto front, and the area between each of them and a chosen one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from textveil.lab.compare.comparison import Comparison, Pair
from textveil.lab.compare.front import (
    Front,
    MeanGap,
    Point,
    Standing,
    Stop,
    find_front,
    measure_gap,
    read_stop,
)
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading, compare_readings
from textveil.registry import unknown_name

USUAL = "madlib"
"""The mechanism that others are compared with, if there is one."""
MOST = 8
"""The largest number of settings that figures draw in full color."""


@dataclass(frozen=True, slots=True)
class Area:
    """The mean difference in utility between two settings, at equal attack.

    Args:
        setting: The setting.
        against: The setting that it is compared with.
        attack: The attack that is equal.
        utility: The utility.
        gap: The mean difference, or the logarithm of the mean ratio if the utility is logarithmic. ``None`` if the
            two curves have no attack in common.
        covered: The share of the other setting's range of attack that both cover.
    """

    setting: str
    against: str
    attack: Quantity
    utility: Quantity
    gap: MeanGap | None
    covered: float = 1.0

    @property
    def value(self) -> float | None:
        """The mean difference; of a logarithmic utility the mean ratio."""
        return None if self.gap is None else self._scale(self.gap.mean)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the value."""
        if self.gap is None or self.gap.interval is None:
            return None
        return Interval(*map(self._scale, self.gap.interval))

    @property
    def verdict(self) -> int:
        """1 if the setting is clearly better, -1 if it is clearly worse, otherwise 0."""
        if self.gap is None or self.gap.interval is None:
            return 0
        sign = int(self.gap.interval.low > 0) - int(self.gap.interval.high < 0)
        return sign if self.utility.better == "higher" else -sign

    @property
    def rank(self) -> float:
        """A number that is higher for better areas."""
        mean = -math.inf if self.gap is None else self.gap.mean
        return mean if self.utility.better == "higher" or self.gap is None else -mean

    @property
    def shown(self) -> str:
        """The value, rounded for display; empty if the curves have no attack in common."""
        return "" if self.value is None else self._show(self.value)

    @property
    def bounds(self) -> str:
        """The interval, rounded for display; empty if it is unknown."""
        return "" if self.interval is None else " to ".join(map(self._show, self.interval))

    def _show(self, value: float) -> str:
        if self.utility.logarithmic:
            return f"{value:.2f}"
        shown = self.utility.columns[0].show_bare(value)
        return shown if value < 0 else f"+{shown}"

    def _scale(self, value: float) -> float:
        return math.exp(value) if self.utility.logarithmic else value

    def as_dict(self) -> dict[str, Any]:
        """The area as a JSON object."""
        return {
            "setting": self.setting,
            "against": self.against,
            "kind": "ratio" if self.utility.logarithmic else "difference",
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "attack": None if self.gap is None else [self.gap.low, self.gap.high],
            "covered": self.covered,
        }


@dataclass(frozen=True)
class Frontier:
    """The curves of an attack and a utility, with their front and areas.

    Args:
        front: The places of all points.
        references: The values of originals and of chance, by quantity.
        against: The setting that others are compared with.
        notes: What was left out.
    """

    front: Front
    references: Mapping[Quantity, Mapping[Reference, Reading]]
    against: str
    notes: tuple[str, ...] = ()

    @cached_property
    def curves(self) -> dict[str, list[Point]]:
        """The places of every setting, in the order of levels."""
        return self.front.curves

    @cached_property
    def areas(self) -> tuple[Area, ...]:
        """The area between every other setting and the chosen one, the best first."""
        attack, utility = self.front.attack, self.front.utility
        stops = {
            name: [read_stop(place.attack, place.utility, attack, utility) for place in places]
            for name, places in self.curves.items()
        }
        found = [
            Area(name, self.against, attack, utility, gap, _find_covered(gap, stops[self.against]))
            for name, each in stops.items()
            if name != self.against
            for gap in [measure_gap(each, stops[self.against])]
        ]
        return tuple(sorted(found, key=lambda area: -area.rank))

    @property
    def leaders(self) -> list[str]:
        """The settings with a point on the front by value, by the number of such points."""
        counts = {
            name: sum(place.name in self.front.by_value for place in places) for name, places in self.curves.items()
        }
        return sorted((name for name, count in counts.items() if count), key=lambda name: -counts[name])

    @property
    def behind(self) -> list[str]:
        """The settings that are behind the front at every level."""
        return [
            name for name, places in self.curves.items() if all(place.standing is Standing.BEHIND for place in places)
        ]

    @property
    def strong(self) -> list[str]:
        """The settings to draw in full color: all, or those on the front and the one that others are compared with."""
        if len(self.curves) <= MOST:
            return list(self.curves)
        chosen = {*self.leaders[: MOST - 1], self.against}
        return [name for name in self.curves if name in chosen]

    @property
    def groups(self) -> dict[str, list[str]]:
        """The settings on the front, each with those that are the same within noise.

        A setting with more points on the front is the head of a group. Others on the front join the first group whose
        head they cannot be told from.
        """
        groups: dict[str, list[str]] = {}
        leaders, behind = self.leaders, self.behind
        for name in (*leaders, *(name for name in self.curves if name not in leaders and name not in behind)):
            head = next((head for head in groups if self.is_same(head, name)), None)
            if head is not None:
                groups[head].append(name)
            elif name in leaders:
                groups[name] = []
        return groups

    def is_same(self, one: str, other: str) -> bool:
        """Whether two settings have the same levels and cannot be told from each other at any of them."""
        places, others = ({place.level: place for place in self.curves[name]} for name in (one, other))
        return places.keys() == others.keys() and all(
            compare_readings(place.attack, others[level].attack) == 0
            and compare_readings(place.utility, others[level].utility) == 0
            for level, place in places.items()
        )

    def as_dict(self) -> dict[str, Any]:
        """The curves as a JSON object."""
        points = [
            {
                "setting": place.setting,
                "level": place.level,
                "epsilon": place.epsilon,
                "attack": place.attack.as_dict(),
                "utility": place.utility.as_dict(),
                "standing": place.standing.value,
            }
            for place in self.front.places
        ]
        return {
            **self.front.as_dict(),
            "points": points,
            "against": self.against,
            "areas": [area.as_dict() for area in self.areas],
            "notes": list(self.notes),
        }


def _find_covered(gap: MeanGap | None, stops: Sequence[Stop]) -> float:
    places = [stop.place for stop in stops]
    width = max(places) - min(places)
    return 0.0 if gap is None else (gap.high - gap.low) / width if width else 1.0


def compare_frontiers(comparison: Comparison, against: str | None = None) -> tuple[Frontier, ...]:
    """The curves of every pair of attack and utility of a comparison.

    Args:
        comparison: The comparison.
        against: The setting that others are compared with; by default one of ``madlib``, or the first one.

    Raises:
        UnknownNameError: There is no such setting.
    """
    chosen = choose_against(list(comparison.settings), against)
    return tuple(_find_frontiers(comparison, chosen))


def _find_frontiers(comparison: Comparison, against: str) -> Iterator[Frontier]:
    for pair in comparison.pairs:
        front = find_front(comparison, pair)
        known = against if against in front.curves else next(iter(front.curves))
        yield Frontier(front, _read_references(comparison, pair), known)


def _read_references(comparison: Comparison, pair: Pair) -> dict[Quantity, dict[Reference, Reading]]:
    return {
        quantity: {
            reference: found
            for reference in (Reference.ORIGINALS, Reference.CHANCE)
            if (found := comparison.read_reference(quantity, reference)) is not None
        }
        for quantity in pair
    }


def choose_against(settings: Sequence[str], wanted: str | None) -> str:
    """The setting that others are compared with: the wanted one, or the first of ``madlib``, or the first.

    Raises:
        UnknownNameError: There is no such setting.
    """
    if wanted is not None and wanted not in settings:
        raise unknown_name("setting", wanted, settings)
    return wanted or next((name for name in settings if USUAL in name.lower()), settings[0])


def show_value(quantity: Quantity, reading: Reading | None) -> tuple[str, str]:
    """A value and its interval, rounded for display; empty where there is none."""
    if reading is None:
        return "", ""
    interval = reading.interval
    single = interval is None or interval.low == interval.high
    return quantity.show(reading.value), "" if interval is None or single else quantity.show_interval(interval)


def show_reading(quantity: Quantity, reading: Reading | None) -> str:
    """A value with its interval, if it has one; empty without a value."""
    shown, interval = show_value(quantity, reading)
    return f"{shown} ({interval})" if interval else shown
