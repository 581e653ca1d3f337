"""The Pareto front of a comparison: which obfuscations no other one surpasses, as far as intervals support it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.lab.compare.comparison import Comparison, Pair
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import Quantity, Reading
from textveil.lab.metrics.uncertainty import Z


class Standing(StrEnum):
    """The place of an obfuscation, relative to the front."""

    ON = "on the front"
    """Clearly better than every other obfuscation in at least one of the two quantities."""
    BEHIND = "behind the front"
    """Another obfuscation is clearly better in one of the two quantities, and not worse in the other."""
    OPEN = "undecided"


@dataclass(frozen=True, slots=True)
class Point:
    """An obfuscation with both quantities.

    Args:
        name: Its name.
        setting: The name without its level. Points of one setting form a curve.
        level: The level; empty if it has none.
        attack: The success of the attack.
        utility: The utility.
        chance: The readings of chance, where the attack or the utility cannot be told from it. They are compared
            instead: a classifier that has learned nothing can be below another one, but it has not learned less.
        epsilon: The budget, if it is known.
        standing: Its place relative to the front.
        rivals: The obfuscations that surpass it, or that it cannot be told from.
    """

    name: str
    setting: str
    level: str
    attack: Reading
    utility: Reading
    chance: tuple[Reading | None, Reading | None] = (None, None)
    epsilon: float | None = None
    standing: Standing = Standing.OPEN
    rivals: tuple[str, ...] = ()

    @property
    def compared(self) -> tuple[Reading, Reading]:
        """The readings to compare with those of other points."""
        return self.chance[0] or self.attack, self.chance[1] or self.utility


@dataclass(frozen=True, slots=True)
class Front:
    """The places of all obfuscations for which an attack and a utility were measured."""

    attack: Quantity
    utility: Quantity
    places: tuple[Point, ...]
    by_value: tuple[str, ...]
    """The obfuscations on the front if intervals are ignored, by utility."""
    caveats: tuple[str, ...] = ()
    """Reasons to draw no conclusion."""

    @property
    def curves(self) -> dict[str, list[Point]]:
        """The places of every setting, in the order of levels."""
        found: dict[str, list[Point]] = {}
        for place in self.places:
            found.setdefault(place.setting, []).append(place)
        return found

    @property
    def has_intervals(self) -> bool:
        """Whether every value has an interval."""
        return all(reading.interval is not None for place in self.places for reading in (place.attack, place.utility))

    def as_dict(self) -> dict[str, Any]:
        """The front as a JSON object."""
        return {
            "attack": self.attack.key,
            "utility": self.utility.key,
            "by_value": list(self.by_value),
            "standing": {place.name: place.standing.value for place in self.places},
            "rivals": {place.name: list(place.rivals) for place in self.places if place.rivals},
            "caveats": list(self.caveats),
        }


def find_front(comparison: Comparison, pair: Pair) -> Front:
    """The front of an attack and a utility of a comparison."""
    points = []
    for contender in (each for contenders in comparison.settings.values() for each in contenders):
        attack, utility = map(contender.read, pair)
        if attack is None or utility is None:
            continue
        learned = map(contender.read_learned, pair)
        chance = [other if other != own else None for own, other in zip((attack, utility), learned, strict=True)]
        points.append(
            Point(contender.name, contender.setting, contender.level, attack, utility, (chance[0], chance[1]))
        )
    caveats = dict.fromkeys(caveat for each in pair for caveat in comparison.find_caveats(each))
    return place_points(pair, points, tuple(caveats))


def place_points(pair: Pair, points: Sequence[Point], caveats: tuple[str, ...] = ()) -> Front:
    """The front of points from any source. With a caveat, all of them are undecided."""
    unsurpassed = [point for point in points if not any(_surpasses(pair, other, point) for other in points)]
    return Front(
        *pair,
        tuple(_place(pair, point, points, known=not caveats) for point in points),
        tuple(point.name for point in sorted(unsurpassed, key=lambda point: _rank_utility(pair[1], point))),
        caveats,
    )


def _rank_utility(utility: Quantity, point: Point) -> float:
    return point.utility.value if utility.better == "higher" else -point.utility.value


def _surpasses(pair: Pair, one: Point, other: Point) -> bool:
    """Whether one is better in a quantity and not worse in the other, whatever the intervals are."""
    both = list(zip(pair, (one.attack, one.utility), (other.attack, other.utility), strict=True))
    better = any(quantity.is_better(first, second) for quantity, first, second in both)
    return better and not any(quantity.is_better(second, first) for quantity, first, second in both)


def _place(pair: Pair, point: Point, points: Sequence[Point], *, known: bool) -> Point:
    if not known or point.attack.interval is None or point.utility.interval is None:
        return point
    behind, unclear = [], []
    for other in (each for each in points if each is not point):
        if _is_clearly_better(pair, other, point) and not _is_worse(pair, other, point):
            behind.append(other.name)
        elif not _is_clearly_better(pair, point, other):
            unclear.append(other.name)
    standing = Standing.BEHIND if behind else Standing.OPEN if unclear else Standing.ON
    return replace(point, standing=standing, rivals=tuple(behind or unclear))


def _is_clearly_better(pair: Pair, one: Point, other: Point) -> bool:
    """Whether one is better in any of the two quantities, by more than noise."""
    return any(map(Quantity.is_clearly_better, pair, one.compared, other.compared))


def _is_worse(pair: Pair, one: Point, other: Point) -> bool:
    """Whether the value of one is worse in any of the two quantities. Chance is as good as chance."""
    return any(
        quantity.is_better(second, first)
        for quantity, first, second, chance in zip(
            pair, one.compared, other.compared, zip(one.chance, other.chance, strict=True), strict=True
        )
        if None in chance
    )


_STEPS = 16
"""The number of pieces of a line between two stops over which ratios are summed."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A point of a curve as numbers: the place where curves are compared, and the height, with standard errors."""

    place: float
    height: float
    place_error: float | None = 0.0
    """The standard error; ``None`` if it is unknown."""
    height_error: float | None = 0.0


class MeanGap(NamedTuple):
    """The mean difference of the heights of two curves."""

    mean: float
    interval: Interval | None
    """The 95 % interval; ``None`` if it is unknown."""
    low: float
    """The start of the range of places that both curves cover."""
    high: float


def read_stop(place: Reading, height: Reading, on: Quantity, of: Quantity) -> Stop:
    """A stop from readings of two quantities. Values of logarithmic ones become logarithms."""
    return Stop(
        scale(place.value, on.logarithmic),
        scale(height.value, of.logarithmic),
        _find_error(place, log=on.logarithmic),
        _find_error(height, log=of.logarithmic),
    )


def scale(value: float, log: bool) -> float:
    """A value on its axis: its logarithm, or itself."""
    return (math.log(value) if value > 0 else -math.inf) if log else value


def _find_error(reading: Reading, *, log: bool) -> float | None:
    """The standard error, from the width of the 95 % interval."""
    if reading.interval is None:
        return None
    low, high = (scale(bound, log) for bound in reading.interval)
    error = (high - low) / (2 * Z)
    return error if math.isfinite(error) else None


def measure_gap(one: Sequence[Stop], other: Sequence[Stop], *, ratio: bool = False) -> MeanGap | None:
    """The mean of one curve minus another, over the places that both cover; ``None`` if they have none in common.

    Curves are straight lines between stops, sorted by place. Stops at the same place are averaged. Every number is
    moved by its standard error up and down in turn; the squares of the larger effects on the mean add up.

    Args:
        one: A curve.
        other: The curve to subtract.
        ratio: Subtract the logarithms of heights, so that the result is the logarithm of the mean ratio.

    >>> steep, flat = [Stop(0, 0), Stop(2, 2)], [Stop(1, 1), Stop(3, 1)]
    >>> measure_gap(steep, flat)
    MeanGap(mean=0.5, interval=Interval(low=0.5, high=0.5), low=1.0, high=2.0)
    """
    found = _integrate(one, other, ratio=ratio)
    if found is None:
        return None
    effects = [*_list_effects(one, lambda moved: _integrate(moved, other, ratio=ratio), found[0])]
    effects += _list_effects(other, lambda moved: _integrate(one, moved, ratio=ratio), found[0])
    known = [effect for effect in effects if effect is not None]
    half = Z * math.hypot(*known)
    interval = Interval(found[0] - half, found[0] + half) if len(known) == len(effects) else None
    return MeanGap(found[0], interval, *found[1:])


def _integrate(one: Sequence[Stop], other: Sequence[Stop], *, ratio: bool) -> tuple[float, float, float] | None:
    """The mean gap, and the range that both cover."""
    if not one or not other:
        return None
    (places, heights), (others, their) = _sort(one), _sort(other)
    low, high = float(max(places[0], others[0])), float(min(places[-1], others[-1]))
    if not low <= high:
        return None
    knots = np.unique(np.concatenate([[low, high], places, others]))
    knots = knots[(knots >= low) & (knots <= high)]
    if ratio:  # it is not a straight line between stops
        knots = np.interp(np.arange((len(knots) - 1) * _STEPS + 1) / _STEPS, np.arange(len(knots)), knots)
    mine, yours = np.interp(knots, places, heights), np.interp(knots, others, their)
    if ratio and min(mine.min(), yours.min()) <= 0:
        return None
    gaps = np.log(mine / yours) if ratio else mine - yours
    if not np.isfinite(gaps).all():
        return None
    if low == high:
        return float(gaps[0]), low, high
    return float(np.sum(np.diff(knots) * (gaps[1:] + gaps[:-1]) / 2) / (high - low)), low, high


def _sort(stops: Sequence[Stop]) -> tuple[Floats, Floats]:
    """The places in order, and the height at each of them."""
    places, index = np.unique([stop.place for stop in stops], return_inverse=True)
    heights = np.bincount(index, [stop.height for stop in stops]) / np.bincount(index)
    return places.astype(np.float64), heights


def _list_effects(
    stops: Sequence[Stop], integrate: Callable[[Sequence[Stop]], tuple[float, float, float] | None], mean: float
) -> Iterator[float | None]:
    """The change of the mean gap when a number moves by its standard error; ``None`` if it is unknown."""
    for number, stop in enumerate(stops):
        for name, error in (("place", stop.place_error), ("height", stop.height_error)):
            if not error:
                yield error
                continue
            moved = [
                integrate([*stops[:number], replace(stop, **{name: getattr(stop, name) + step}), *stops[number + 1 :]])
                for step in (error, -error)
            ]
            found = [abs(each[0] - mean) for each in moved if each is not None]
            yield max(found) if found else None
