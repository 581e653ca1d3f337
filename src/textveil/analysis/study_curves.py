"""Curves of the results of a study: a point per setting and level, with its mean and interval."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from textveil.analysis.columns import FACTORS, HIGH, LOW, OWN_EPSILON
from textveil.analysis.frontier import USUAL, Frontier, choose_against
from textveil.analysis.references import find_references
from textveil.analysis.results import Results
from textveil.analysis.summaries import LEAST_DRAWS
from textveil.analysis.tukey import name_combination
from textveil.errors import ParameterError
from textveil.evaluation.areas import scale
from textveil.evaluation.base import Interval
from textveil.evaluation.columns import MetricColumn, Reference, find_reference
from textveil.evaluation.comparison import Pair
from textveil.evaluation.front import Point, place_points
from textveil.evaluation.quantities import STUDY_ATTACKS, UTILITIES, Quantity, Reading, is_chance
from textveil.extras import require

Row = Mapping[str, Any]
"""A cell, in one draw of noise."""


def find_frontiers(results: Results, against: str | None = None) -> tuple[Frontier, ...]:
    """The curves of every attack and utility that the results have.

    Args:
        results: The results.
        against: The setting that others are compared with; by default the first with ``madlib``, or the first one.

    Raises:
        UnknownNameError: There is no such setting.
    """
    chosen = _choose_usual(results, against)
    pairs = [(attack, utility) for attack in STUDY_ATTACKS for utility in UTILITIES]
    return tuple(
        build_frontier(results, pair, chosen)
        for pair in pairs
        if all(_find_column(quantity) in results.responses for quantity in pair)
        and results.frame[[_find_column(quantity).name for quantity in pair]].notna().all(axis=1).any()
    )


def _find_column(quantity: Quantity) -> MetricColumn:
    return quantity.columns[0]


def list_settings(results: Results) -> dict[str, dict[str, str]]:
    """The factors of every setting by its name, which has only the factors that vary."""
    found: dict[str, dict[str, str]] = {}
    for row in results.frame.to_dict("records"):
        factors = {name: str(row[name]) for name in FACTORS if name in row}
        found[name_setting(factors, results.varying)] = factors
    return found


def name_setting(factors: Mapping[str, str], varying: Collection[str]) -> str:
    """The name of a setting.

    >>> factors = {"decomposition": "pmi", "distribution": "uniform", "mechanism": "fluent", "profile": "proven"}
    >>> name_setting(factors, factors)
    'fluent with pmi + uniform under proven'
    >>> name_setting(factors, ["mechanism", "profile"]), name_setting(factors, ["distribution"])
    ('fluent under proven', 'pmi + uniform')
    """
    combination = name_combination(factors["decomposition"], factors["distribution"])
    own = {"decomposition", "distribution"} & set(varying) or not set(varying)
    parts = [factors["mechanism"]] if "mechanism" in varying else []
    if own:
        parts += ["with", combination] if parts else [combination]
    if "profile" in varying:
        parts += ["under", factors["profile"]]
    return " ".join(parts)


def _choose_usual(results: Results, wanted: str | None) -> str:
    settings = list_settings(results)
    usual = [name for name, factors in settings.items() if factors.get("mechanism") == USUAL]
    return choose_against(list(settings), wanted or next(iter(usual), None))


def build_frontier(results: Results, pair: Pair, against: str) -> Frontier:
    """The curves of an attack and a utility."""
    rows, notes, caveats = _choose_rows(results, pair)
    points: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        factors = {name: str(row[name]) for name in FACTORS if name in row}
        points[name_setting(factors, results.varying), row["level"]].append(row)
    order = {level: place for place, level in enumerate(results.values("level"))}
    names = list(dict.fromkeys(setting for setting, _ in points))
    keys = sorted(points, key=lambda key: (names.index(key[0]), order[key[1]]))
    found = [_summarize(setting, level, points[setting, level], pair) for setting, level in keys]
    frame = results.frame[results.frame["dataset"].isin({row["dataset"] for row in rows})]
    references: dict[Quantity, dict[Reference, Reading]] = {
        quantity: {
            reference: Reading(each.value, _find_interval(each.low, each.high))
            for reference, each in find_references(frame, _find_column(quantity)).items()
            if reference is not Reference.MAJORITY
        }
        for quantity in pair
    }
    return Frontier(place_points(pair, found, caveats), references, against, notes)


def _find_interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else Interval(low, high)


def _choose_rows(results: Results, pair: Pair) -> tuple[list[Row], tuple[str, ...], tuple[str, ...]]:
    """The rows with both values, of data sets that have them at the same levels; what was left out, and caveats.

    A mean over other data sets at every level would bend the curve. Groups with a caveat are left out, unless none
    is left then.
    """
    columns = [_find_column(quantity) for quantity in pair]
    frame = results.rows[results.rows[[column.name for column in columns]].notna().all(axis=1)]
    rows: list[Row] = frame.to_dict("records")
    doubted: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in columns:
        for group, found in results.list_caveats(column).items():
            doubted[group.dataset, group.level] += found
    sure = [row for row in rows if (row["dataset"], row["level"]) not in doubted]
    caveats = () if sure else tuple(dict.fromkeys(caveat for each in doubted.values() for caveat in each))
    levels: dict[str, set[str]] = defaultdict(set)
    for row in sure or rows:
        levels[row["dataset"]].add(row["level"])
    alike = [[name for name, own in levels.items() if own == each] for each in levels.values()]
    kept = max(alike, key=lambda names: len(names) * len(levels[names[0]]))
    used = [row for row in sure or rows if row["dataset"] in kept]
    there, here = ({(row["dataset"], row["level"]): None for row in each} for each in (frame.to_dict("records"), used))
    lost = [f"{dataset} at level {level}" for dataset, level in there if (dataset, level) not in here]
    notes = (f"Left out, because of a caveat or a missing level: {'; '.join(lost)}.",) if lost else ()
    return used, notes, caveats


def _summarize(setting: str, level: str, rows: Sequence[Row], pair: Pair) -> Point:
    """The point of a setting at a level: means over data sets and draws."""
    readings = [average_draws(rows, _find_column(quantity)) for quantity in pair]
    chance = [
        _find_chance(rows, quantity, reading) for quantity, reading in zip(pair, readings, strict=True)
    ]  # compared instead, where a value cannot be told from it
    budgets = [row.get(OWN_EPSILON, row.get("epsilon")) for row in rows]
    known = [budget for budget in budgets if budget is not None and budget > 0]
    epsilon = math.exp(np.mean(np.log(known))) if len(known) == len(rows) else None
    return Point(f"{setting}, {level}", setting, level, readings[0], readings[1], (chance[0], chance[1]), epsilon)


def _find_chance(rows: Sequence[Row], quantity: Quantity, own: Reading) -> Reading | None:
    """The reading of chance, if the value cannot be told from it."""
    column = find_reference(_find_column(quantity), Reference.CHANCE)
    if column is None:
        return None
    value, low, high = (_average_groups([rows], f"{column.name}{end}") for end in ("", LOW, HIGH))
    interval = _find_interval(low, high)
    if value is None or interval is None:
        return None
    chance = Reading(value, interval)
    return chance if is_chance(own, chance) else None


def average_draws(rows: Iterable[Row], column: MetricColumn) -> Reading:
    """The mean of a metric over data sets and draws of noise, with its 95 % interval.

    The interval has two parts, whose squares add up. Other texts: the mean bounds of the cells' own intervals, because
    draws share their texts. Other noise: a t-interval over draws within data sets, because data sets are chosen and
    not drawn. A part that is unknown is left out; without both, there is no interval. Noise is unknown with too few
    draws. No bound is outside the possible range.
    """
    by_dataset: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_dataset[row["dataset"]].append(row)
    groups = list(by_dataset.values())
    value = _average_groups(groups, column.name)
    if value is None:
        raise ParameterError(f"There is no value of {column.name!r} to average.")
    low, high = (_average_groups(groups, f"{column.name}{end}") for end in (LOW, HIGH))
    noise = _find_noise([[scale(row[column.name], column.logarithmic) for row in group] for group in groups])
    if noise is None and (low is None or high is None):
        return Reading(value)
    middle = scale(value, column.logarithmic)
    below, above = (
        0.0 if bound is None or low is None or high is None else scale(bound, column.logarithmic) - middle
        for bound in (low, high)
    )
    bounds = middle - math.hypot(below, noise or 0.0), middle + math.hypot(above, noise or 0.0)
    low, high = (math.exp(bound) if column.logarithmic else bound for bound in bounds)
    return Reading(value, Interval(max(low, column.lowest), min(high, column.highest)))


def _average_groups(groups: Sequence[Sequence[Row]], name: str) -> float | None:
    """The mean over data sets of the mean over draws; ``None`` if a row lacks it."""
    values = [[row.get(name) for row in group] for group in groups]
    if any(value is None or math.isnan(value) for group in values for value in group):
        return None
    return float(np.mean([np.mean(np.array(group, float)) for group in values]))


def _find_noise(groups: Sequence[Sequence[float]]) -> float | None:
    """Half the t-interval of the mean over data sets, from draws within them; ``None`` if one has too few draws."""
    freedom = sum(len(group) - 1 for group in groups)
    if any(len(group) < LEAST_DRAWS for group in groups):
        return None
    error = math.sqrt(sum(np.var(group, ddof=1) / len(group) for group in groups)) / len(groups)
    return float(require("scipy.stats", extra="analyze").t.ppf(0.975, freedom)) * error
