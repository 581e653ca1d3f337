"""The area between two curves: their mean gap where both are known, with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.evaluation.base import Interval
from textveil.evaluation.quantities import Quantity, Reading
from textveil.evaluation.ranking import Z

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
