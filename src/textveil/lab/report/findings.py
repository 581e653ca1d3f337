"""The findings of an analysis: tests, means and recommendations, for every setting and overall."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from textveil.errors import ParameterError
from textveil.extras import require
from textveil.lab.compare.comparison import Pair
from textveil.lab.compare.curves import USUAL, Frontier, choose_against
from textveil.lab.compare.front import Point, place_points, scale
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.columns import METRIC_COLUMNS, MetricColumn, Reference, find_reference
from textveil.lab.metrics.quantities import STUDY_ATTACKS, UTILITIES, Quantity, Reading, is_chance
from textveil.lab.report.anova import (
    SIGNIFICANCE,
    Anova,
    Comparisons,
    Effect,
    compare_alone,
    compare_datasets,
    compare_factors,
    compare_pairs,
    name_combination,
)
from textveil.lab.report.pages import tell
from textveil.lab.report.results import (
    CLEAR,
    CLEAR_SHARE,
    CONTROLS,
    DRAW,
    EXPOSURE,
    FACTORS,
    HIGH,
    LEAST_DRAWS,
    LOW,
    NOISE_HIGH,
    NOISE_LOW,
    NOISE_STD,
    OWN_EPSILON,
    RELATIVE_GAIN,
    UTILITY,
    Results,
    find_obstacle,
)

if TYPE_CHECKING:
    from pandas import DataFrame

CONFIDENCE = 0.95
_AVERAGED = METRIC_COLUMNS | {column.name: column for column in (CLEAR, UTILITY, EXPOSURE)}


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference between the best and the worst method of a factor, on average."""

    factor: str
    best: str
    worst: str
    gap: float


def average(results: Results, by: Sequence[str]) -> DataFrame:
    """The means for each value of ``by``: of metrics, references, utility, exposure, and the share of words in clear.

    The bounds of intervals are averaged, too. The interval of a mean is narrower, unless all cells err alike, as they
    may on the same texts. With several draws of noise, the columns of :func:`measure_noise` are added.
    """
    columns = [f"{name}{suffix}" for name in _AVERAGED for suffix in ("", LOW, HIGH)]
    means = results.frame.groupby(list(by), observed=True)[[name for name in columns if name in results.frame]].mean()
    return means if results.draws == 1 else means.join(measure_noise(results, by))


def measure_noise(results: Results, by: Sequence[str]) -> DataFrame:
    """The standard deviation over draws of noise, and a 95 % interval (t), of the mean for each value of ``by``.

    Every draw gives a mean over the same cells, and these means are independent. The interval covers other noise on the
    same texts. It does not cover other texts. With fewer than ``LEAST_DRAWS`` draws there is none.
    """
    rows, names = results.rows, list(by)
    columns = [name for name in _AVERAGED if name in rows]
    groups = rows.groupby([*names, DRAW], observed=True)
    sizes = groups.size()
    whole = sizes == sizes.groupby(level=names, observed=True).transform("max")  # some groups may have more draws
    draws = groups[columns].mean()[whole].groupby(level=names, observed=True)
    means, std, count = draws.mean(), draws.std(), draws.count()
    quantile = require("scipy.stats", extra="analyze").t.ppf((1 + CONFIDENCE) / 2, count - 1)
    margins = (quantile * std / count**0.5).where(count >= LEAST_DRAWS)
    lowest, highest = ([getattr(_AVERAGED[name], end) for name in columns] for end in ("lowest", "highest"))
    low, high = (means - margins).clip(lower=lowest, axis=1), (means + margins).clip(upper=highest, axis=1)
    parts = {NOISE_STD: std, NOISE_LOW: low, NOISE_HIGH: high}
    joined = [part.add_suffix(suffix) for suffix, part in parts.items()]
    return joined[0].join(joined[1:])


def average_combinations(results: Results) -> DataFrame:
    """The means of every combination, over data sets and levels."""
    return average(results, results.combination)


def measure_gap(results: Results, factor: str, response: MetricColumn) -> Gap:
    """The gap between the best and the worst method of a factor.

    The best is the highest or the lowest, depending on the response.
    """
    means = average(results, [factor])[response.name] * response.sign
    return Gap(factor, str(means.idxmax()), str(means.idxmin()), float(means.max() - means.min()))


def find_references(frame: DataFrame, metric: MetricColumn) -> dict[Reference, Reading]:
    """The references of a metric that results have: means over the cells of a frame."""
    found: dict[Reference, Reading] = {}
    for reference in Reference:
        column = find_reference(metric, reference)
        value, low, high = (
            None if column is None else _average(frame, f"{column.name}{end}") for end in ("", LOW, HIGH)
        )
        if value is not None:
            found[reference] = Reading(value, _find_interval(low, high))
        elif reference is Reference.ORIGINALS and metric.of_originals is not None:
            found[reference] = Reading(metric.of_originals)
    return found


def _average(frame: DataFrame, column: str) -> float | None:
    return float(frame[column].mean()) if column in frame and frame[column].notna().any() else None


def _find_interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else Interval(low, high)


def list_titles(frame: DataFrame, metrics: Iterable[MetricColumn]) -> list[Reference]:
    """All references that any of the metrics has, in the order of tables."""
    found = {title for metric in metrics for title in find_references(frame, metric)}
    return [title for title in Reference if title in found]


_ROUNDING = 1e-12
"""A smaller advantage counts as zero."""


@dataclass(frozen=True, slots=True)
class Advantage:
    """The advantage of a method over the other methods of its factor, in every setting."""

    factor: str
    method: str
    by_setting: Mapping[str, float]
    """Its mean response minus that of the others, with the sign chosen so that positive is better."""
    clear_share: Mapping[str, float]
    """The share of its words released in clear, if known."""
    evident: Mapping[str, bool] = field(default_factory=dict)
    """Whether the advantage is significant, in the settings that were tested."""


@dataclass(frozen=True, slots=True)
class ClearEffect:
    """The linear relation of a response to the share of words in clear, within data sets and levels."""

    slope: float
    """The change of the response per percentage point of words in clear."""
    explained: float
    """The share of the variance within data sets and levels that it explains."""


def measure_advantages(
    settings: Mapping[str, Results], response: MetricColumn, tests: Mapping[str, Anova] | None = None
) -> tuple[Advantage, ...]:
    """The advantage of every method over the others of its factor, in every setting.

    Args:
        settings: The results of every setting.
        response: The metric to compare.
        tests: The analysis of variance of the settings that were tested.
    """
    found = []
    first = next(iter(settings.values()))
    for factor in first.varying:
        means = {name: average(results, [factor]) for name, results in settings.items()}
        for method in first.values(factor):
            by_setting = {}
            for name, table in means.items():
                others = table[response.name].drop(method).mean()
                by_setting[name] = response.sign * float(table.loc[method, response.name] - others)
            shares = {
                name: float(table.loc[method, CLEAR_SHARE])
                for name, table in means.items()
                if settings[name].counts_words
            }
            evident = {
                name: _is_evident(by_setting[name], settings[name], factor, anova)
                for name, anova in (tests or {}).items()
            }
            found.append(Advantage(factor, method, by_setting, shares, evident))
    return tuple(found)


def _is_evident(advantage: float, results: Results, factor: str, anova: Anova) -> bool:
    """Whether a method differs from the others of its factor: a t-test, adjusted for their number (Bonferroni)."""
    methods, freedom = len(results.values(factor)), anova.residual_degrees_of_freedom
    if not anova.effects or freedom < 1:
        return False
    own = len(results.rows) / methods  # sums of squares count draws
    error = math.sqrt(anova.residual_sum_of_squares / freedom * (1 / own + 1 / (own * (methods - 1))))
    if abs(advantage) <= _ROUNDING:
        return False
    distribution = require("scipy.stats", extra="analyze").t
    return bool(2 * methods * distribution.sf(abs(advantage) / max(error, _ROUNDING), freedom) < SIGNIFICANCE)


def measure_clear_effect(results: Results, response: MetricColumn) -> ClearEffect | None:
    """Regress the response on the share of words in clear; ``None`` if it is unknown, constant or the response."""
    if not results.counts_words or response == CLEAR:
        return None
    columns = [response.name, CLEAR_SHARE]
    centered = results.frame[columns] - results.frame.groupby(list(CONTROLS), observed=True)[columns].transform("mean")
    value, share = centered[response.name].to_numpy(), centered[CLEAR_SHARE].to_numpy()
    spread, variance = float(share @ share), float(value @ value)
    if spread < 1e-12 or variance == 0:
        return None
    slope = float(value @ share) / spread
    return ClearEffect(slope / 100, slope**2 * spread / variance)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A combination with its mean, and with its own share of words in clear. The two are never told apart."""

    combination: str
    score: float
    clear_share: float | None
    """The share of its words released in clear, without stopwords; ``None`` if it is unknown."""

    @property
    def exposure(self) -> str:
        """Its words in clear, in words."""
        if self.clear_share is None:
            return "words in clear unknown"
        return f"{self.clear_share:.1%} of its words in clear" if self.clear_share else "no words in clear"

    def __str__(self) -> str:
        return f"{self.combination} ({self.exposure})"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best combination for a purpose, if a test supports it."""

    purpose: str
    best: Candidate | None
    """The combination; ``None`` if none is recommended."""
    reason: str

    @property
    def evident(self) -> bool:
        """Whether a combination is recommended."""
        return self.best is not None

    @property
    def sentence(self) -> str:
        """The choice and the reason for it."""
        choice = "no combination is recommended" if self.best is None else f"choose {self.best}"
        return f"For {self.purpose}, {choice}. {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        """The recommendation as plain data."""
        empty = dict.fromkeys(("combination", "score", "clear_share"))
        best = empty if self.best is None else asdict(self.best)
        return {
            "purpose": self.purpose,
            **best,
            "evident": self.evident,
            "reason": self.reason,
            "sentence": self.sentence,
        }


def recommend(
    results: Results, response: MetricColumn, comparisons: Comparisons | None = None
) -> tuple[Recommendation, ...]:
    """The best combinations for the response, for utility and for privacy.

    A combination is recommended only if it is significantly better than another one (Tukey's HSD). Data sets and levels
    with a caveat do not count. Relative gain as a response is called the trade-off.

    Args:
        results: The results of one setting.
        response: The metric that was explained.
        comparisons: All pairs of combinations, if they were compared already.
    """
    purposes = {"trade-off" if response == RELATIVE_GAIN else response.title: response}
    purposes |= {
        aim: metric for aim, metric in (("utility", UTILITY), ("privacy", EXPOSURE)) if metric.name in results.frame
    }
    return tuple(
        _recommend(results, purpose, metric, comparisons if metric == response else None)
        for purpose, metric in purposes.items()
    )


def _recommend(results: Results, purpose: str, metric: MetricColumn, comparisons: Comparisons | None) -> Recommendation:
    lacking = results.list_lacking(metric)
    known = results.without(lacking)
    caveats = {} if known is None else known.list_caveats(metric)
    sound = None if known is None else known.without(caveats)
    ranked: list[Candidate] = []
    pairs, worse = comparisons, frozenset[str]()
    if sound is None:
        obstacle = f"{'Every' if caveats else 'No'} data set and level has {'a caveat' if caveats else 'all values'}."
    elif obstacle := find_obstacle(sound, metric):
        obstacle = f"Nothing was tested. {obstacle}"
    else:
        pairs = compare_pairs(sound, metric) if caveats or lacking or comparisons is None else comparisons
        ranked = _rank(sound, metric)
        worse = pairs.list_worse(ranked[0].combination, better=metric.better)
    reason = " ".join(tell("reason", metric, lacking, caveats, obstacle, ranked, pairs, worse))
    return Recommendation(purpose, ranked[0] if worse else None, reason)


def _rank(results: Results, metric: MetricColumn) -> list[Candidate]:
    """All combinations, the best first."""
    ranked = average_combinations(results).sort_values(metric.name, ascending=metric.better == "lower", kind="stable")
    return [
        Candidate(
            name_combination(*names),
            float(row[metric.name]),
            float(row[CLEAR_SHARE]) if results.counts_words else None,
        )
        for names, row in ranked.iterrows()
    ]


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
            reference: reading
            for reference, reading in find_references(frame, _find_column(quantity)).items()
            if reference is not Reference.MAJORITY
        }
        for quantity in pair
    }
    return Frontier(place_points(pair, found, caveats), references, against, notes)


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
    chance = None if column is None else _average_groups([rows], column)
    return chance if chance is not None and chance.interval is not None and is_chance(own, chance) else None


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
    mean = _average_groups(groups, column)
    if mean is None:
        raise ParameterError(f"There is no value of {column.name!r} to average.")
    noise = _find_noise([[scale(row[column.name], column.logarithmic) for row in group] for group in groups])
    if noise is None and mean.interval is None:
        return mean
    middle = scale(mean.value, column.logarithmic)
    texts = mean.interval or (mean.value, mean.value)
    below, above = (scale(bound, column.logarithmic) - middle for bound in texts)
    bounds = middle - math.hypot(below, noise or 0.0), middle + math.hypot(above, noise or 0.0)
    low, high = (math.exp(bound) if column.logarithmic else bound for bound in bounds)
    return Reading(mean.value, Interval(max(low, column.lowest), min(high, column.highest)))


def _average_groups(groups: Sequence[Sequence[Row]], column: MetricColumn) -> Reading | None:
    """The mean over data sets of the mean over draws, with mean bounds; ``None`` if a row lacks the value."""
    found: list[float | None] = []
    for name in (column.name, f"{column.name}{LOW}", f"{column.name}{HIGH}"):
        values = [[row.get(name) for row in group] for group in groups]
        known = not any(value is None or math.isnan(value) for group in values for value in group)
        found.append(float(np.mean([np.mean(np.array(group, float)) for group in values])) if known else None)
    value, low, high = found
    return None if value is None else Reading(value, _find_interval(low, high))


def _find_noise(groups: Sequence[Sequence[float]]) -> float | None:
    """Half the t-interval of the mean over data sets, from draws within them; ``None`` if one has too few draws."""
    freedom = sum(len(group) - 1 for group in groups)
    if any(len(group) < LEAST_DRAWS for group in groups):
        return None
    error = math.sqrt(sum(np.var(group, ddof=1) / len(group) for group in groups)) / len(groups)
    return float(require("scipy.stats", extra="analyze").t.ppf(0.975, freedom)) * error


@dataclass(frozen=True)
class SettingFindings:
    """The findings for one setting: the analysis of the paper."""

    name: str
    """The values of factors that vary besides those of combinations, such as the profile; otherwise empty."""
    file_part: str
    """The unique suffix of its file names; empty if there is only one setting."""
    results: Results
    anova: Anova
    by_dataset: Anova | None
    """The test with the interactions of factors and data sets, if there are several data sets."""
    one_way: tuple[Effect, ...]
    gaps: tuple[Gap, ...]
    comparisons: Comparisons
    recommendations: tuple[Recommendation, ...]
    clear_effect: ClearEffect | None
    obstacle: str = ""
    """The reason why tests were impossible; empty if they were possible."""

    @property
    def tested(self) -> bool:
        """Whether tests were possible: not with one data set at one level, for example."""
        return not self.obstacle

    @property
    def prefix(self) -> str:
        """The beginning of a sentence about it."""
        return f"{self.name}: ".capitalize() if self.name else ""

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        means = average_combinations(self.results)
        return {
            "setting": self.name,
            "tested": self.tested,
            "obstacle": self.obstacle,
            "anova": asdict(self.anova),
            "anova_by_dataset": None if self.by_dataset is None else asdict(self.by_dataset),
            "one_way": [asdict(effect) for effect in self.one_way],
            "gaps": [asdict(gap) for gap in self.gaps],
            "pairs": len(self.comparisons.pairs),
            "significant_pairs": [asdict(pair) for pair in self.comparisons.significant],
            "recommendations": [found.as_dict() for found in self.recommendations],
            "combinations": {name_combination(*names): dict(row.dropna()) for names, row in means.iterrows()},
            "clear_effect": None if self.clear_effect is None else asdict(self.clear_effect),
        }


@dataclass(frozen=True)
class Findings:
    """The findings of an analysis."""

    results: Results
    response: MetricColumn
    settings: tuple[SettingFindings, ...]
    overall: Anova | None
    """The test over all settings, with all varying factors, if there are several."""
    advantages: tuple[Advantage, ...]
    frontiers: tuple[Frontier, ...] = ()
    """The curves of attack against utility, as far as the results have both."""

    @property
    def gaps(self) -> list[Gap]:
        """The gaps of the factors that tell settings apart."""
        others = [factor for factor in self.results.varying if factor not in self.results.combination]
        return [measure_gap(self.results, factor, self.response) for factor in others]

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        return {
            "response": self.response.name,
            "cells": len(self.results.rows),
            "draws": self.results.draws,
            "groups": [asdict(group) for group in self.results.groups],
            "left_out": [asdict(group) for group in self.results.left_out],
            "missing": [
                {"metric": each.metric.name, **asdict(each.group), "cells": each.cells, "of": each.of}
                for each in self.results.missing
            ],
            "settings": [setting.as_dict() for setting in self.settings],
            "overall": None if self.overall is None else asdict(self.overall),
            "advantages": [asdict(advantage) for advantage in self.advantages],
            "curves": [frontier.as_dict() for frontier in self.frontiers],
        }


def analyze(results: Results, *, response: str = RELATIVE_GAIN.name, against: str | None = None) -> Findings:
    """Analyze the effect of the factors on a response. A setting that cannot be tested says why.

    Data sets and levels that lack the response are excluded. ``results.missing`` of the findings lists them. Curves of
    attack against utility do not depend on the response, and use all data sets that have both.

    Args:
        results: The results.
        response: The metric to explain.
        against: The setting that curves are compared with, such as ``madlib with words + uniform``; by default the
            first with ``madlib``, or the first one.

    Raises:
        UnknownNameError: The results do not have the response, or the setting.
        InputError: No data set and level has the response in all cells.
    """
    metric = results.choose_metric(response)
    frontiers = find_frontiers(results, against)
    results = results.without(results.list_lacking(metric)) or results
    parts = results.split()
    ends = _name_files(parts)
    settings = tuple(_analyze_setting(name, ends[name], part, metric) for name, part in parts.items())
    overall = compare_factors(results, metric) if len(parts) > 1 and not find_obstacle(results, metric) else None
    tests = {setting.name: setting.anova for setting in settings if setting.tested}
    return Findings(results, metric, settings, overall, measure_advantages(parts, metric, tests), frontiers)


def _name_files(names: Iterable[str]) -> dict[str, str]:
    """The suffix of every setting's file names. A number makes equal ones unique."""
    ends: dict[str, str] = {}
    for name in names:
        plain = "".join(f"_{word}" for word in re.findall(r"\w+", name))
        numbered = (f"{plain}_{number}" for number in count(2))
        ends[name] = next(end for end in chain([plain], numbered) if end not in ends.values())
    return ends


def _analyze_setting(name: str, file_part: str, results: Results, response: MetricColumn) -> SettingFindings:
    obstacle = find_obstacle(results, response)
    testable = not obstacle
    comparisons = compare_pairs(results, response) if testable else Comparisons(())
    return SettingFindings(
        name,
        file_part,
        results,
        anova=compare_factors(results, response) if testable else Anova(response.name, ()),
        by_dataset=compare_datasets(results, response) if testable else None,
        one_way=compare_alone(results, response) if testable else (),
        gaps=tuple(measure_gap(results, factor, response) for factor in results.varying),
        comparisons=comparisons,
        recommendations=recommend(results, response, comparisons),
        clear_effect=measure_clear_effect(results, response) if testable else None,
        obstacle=obstacle,
    )
