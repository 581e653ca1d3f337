"""Ratios of two settings of a study: of utility at equal attack, and of attack and epsilon at equal utility."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textveil.errors import ParameterError
from textveil.lab.compare.front import Point, Stop, measure_gap, read_stop
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import Quantity, Side
from textveil.lab.report.findings import build_frontier, list_settings
from textveil.lab.report.results import Results
from textveil.registry import unknown_name


@dataclass(frozen=True, slots=True)
class Ratio:
    """The mean ratio of two curves over a range that both cover, with its 95 % interval."""

    value: float
    interval: Interval | None
    low: float
    """The start of the range."""
    high: float


@dataclass(frozen=True, slots=True)
class Ratios:
    """How two settings compare at equal attack and at equal utility. All ratios are ``one`` divided by ``other``.

    Args:
        one: The first setting.
        other: The second setting.
        utility: The ratio of utilities at equal attack; ``None`` if the curves have no attack in common.
        attack: The ratio of attacks at equal utility; ``None`` if the curves have no utility in common.
        bound: The ratio of epsilons at equal utility; ``None`` without epsilons, or as for ``attack``.
    """

    one: str
    other: str
    utility: Ratio | None
    attack: Ratio | None
    bound: Ratio | None


def ratio_at_equal(
    results: Results, one: str | Mapping[str, str], other: str | Mapping[str, str], attack: str, utility: str
) -> Ratios:
    """Compare two settings at equal attack and at equal utility.

    Args:
        results: The results.
        one: A setting: its name from :func:`list_settings`, or factors that only this setting has.
        other: The setting to divide by.
        attack: The column of the attack, such as ``adaptive_f1``.
        utility: The column of the utility, such as ``cosine_similarity``.

    Raises:
        UnknownNameError: The results have no such setting or column.
        ParameterError: Factors fit no setting, or several.
    """
    names = [_find_setting(results, each) for each in (one, other)]
    for name in (attack, utility):
        results.choose_metric(name)
    pair = Quantity.of(Side.PRIVACY, attack), Quantity.of(Side.UTILITY, utility)
    curves = build_frontier(results, pair, names[1]).curves
    both = [curves[name] for name in names]
    at_utility = [[read_stop(place.utility, place.attack, pair[1], pair[0]) for place in places] for places in both]
    return Ratios(
        names[0],
        names[1],
        _divide(
            [[read_stop(place.attack, place.utility, *pair) for place in places] for places in both], pair[0], pair[1]
        ),
        _divide(at_utility, pair[1], pair[0]),
        _divide([_list_bounds(*each) for each in zip(both, at_utility, strict=True)], pair[1]),
    )


def _find_setting(results: Results, wanted: str | Mapping[str, str]) -> str:
    settings = list_settings(results)
    if isinstance(wanted, str):
        if wanted not in settings:
            raise unknown_name("setting", wanted, settings)
        return wanted
    found = [name for name, factors in settings.items() if wanted.items() <= factors.items()]
    if len(found) != 1:
        raise ParameterError(
            f"{dict(wanted)} fits {len(found)} settings. Give factors that fit one of: {', '.join(settings)}."
        )
    return found[0]


def _list_bounds(places: Iterable[Point], stops: Iterable[Stop]) -> list[Stop]:
    """The logarithm of epsilon at every utility; empty without epsilons."""
    return [
        Stop(stop.place, math.log(place.epsilon), stop.place_error)
        for place, stop in zip(places, stops, strict=True)
        if place.epsilon is not None
    ]


def _divide(curves: Sequence[Sequence[Stop]], on: Quantity, of: Quantity | None = None) -> Ratio | None:
    """The mean ratio of heights of a quantity; without one, they are logarithms."""
    gap = measure_gap(*curves, ratio=of is not None and not of.logarithmic)
    if gap is None:
        return None
    interval = None if gap.interval is None else Interval(*map(math.exp, gap.interval))
    low, high = (math.exp(end) if on.logarithmic else end for end in (gap.low, gap.high))
    return Ratio(math.exp(gap.mean), interval, low, high)
