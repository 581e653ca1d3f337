"""Analysis of variance: the effect of each factor on a response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.extras import require
from textveil.lab.metrics.columns import MetricColumn
from textveil.lab.report.results import CELL, CONTROLS, DRAWS, FACTORS, SPELLED, Results, check_comparable

SIGNIFICANCE = 0.05
"""The significance level: a p-value below it is significant."""
_LEAST = 1e-300
"""Replaces a variance of zero."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One term of the model."""

    factors: tuple[str, ...]
    """One factor, or the two factors of an interaction."""
    sum_of_squares: float
    degrees_of_freedom: int
    f_statistic: float
    p_value: float
    partial_eta_squared: float
    """The sum of squares of the term, divided by the sum of its own and the residual's."""

    @property
    def name(self) -> str:
        """The columns of its factors."""
        return " x ".join(self.factors)

    @property
    def title(self) -> str:
        """The name of the term in tables."""
        return " x ".join(SPELLED.get(factor, factor) for factor in self.factors)

    @property
    def significant(self) -> bool:
        """Whether the p-value is below the significance level."""
        return self.p_value < SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class Noise:
    """The variation within cells: between draws of noise, with everything else the same."""

    sum_of_squares: float
    degrees_of_freedom: int
    share: float
    """The noise's share of the residual variance, at most 1. The rest is not repeated by other draws."""
    p_value: float
    """The probability of a residual at least as large if it were noise alone."""

    @property
    def std(self) -> float:
        """The standard deviation of a cell's value over draws."""
        return math.sqrt(self.sum_of_squares / self.degrees_of_freedom)

    @property
    def explains_residual(self) -> bool:
        """Whether the residual cannot be told from noise."""
        return self.p_value >= SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class Anova:
    """A table of effects and their residual. Without variation in the response it has no effects.

    The residual is that of the means of cells over draws. All sums of squares count a mean as often as it has draws, so
    that they compare with the noise within cells.
    """

    response: str
    effects: tuple[Effect, ...]
    residual_sum_of_squares: float = 0.0
    residual_degrees_of_freedom: int = 0
    noise: Noise | None = None
    """The noise; ``None`` if cells have a single draw."""

    def __getitem__(self, name: str) -> Effect:
        for effect in self.effects:
            if effect.name == name:
                return effect
        raise KeyError(name)


def compare_factors(
    results: Results, response: MetricColumn, *, factors: Sequence[str] | None = None, by_dataset: bool = False
) -> Anova:
    """Analysis of variance of a response: all varying factors, their pairwise interactions, and the controls.

    The sums of squares are of type II. Since results are complete, all types give the same values for factors. The
    table of the paper has the factors decomposition and distribution.

    Effects are tested against the residual of the means of cells. Draws of noise make these means more precise, but do
    not count as further data sets: with them in the residual, chance would look significant.

    Args:
        results: The cells.
        response: The metric to explain.
        factors: The factors to use; by default all that vary. A single one gives a one-way test with the same controls.
        by_dataset: Add the interaction of every factor with the data set.

    Raises:
        ParameterError: The results cannot be compared.
    """
    check_comparable(results, response)
    factors = results.varying if factors is None else tuple(factors)
    controls = [name for name in CONTROLS if len(results.values(name)) > 1]
    terms = [*((name,) for name in (*factors, *controls)), *combinations(factors, 2)]
    terms += [(name, "dataset") for name in factors] if by_dataset else []
    labels = {":".join(f"C({name})" for name in term): term for term in terms}
    table = _fit(results, response.name, list(labels))
    residual, freedom = table.loc["Residual", "sum_sq"], table.loc["Residual", "df"]
    effects = tuple(
        Effect(
            term,
            sum_of_squares=float(table.loc[label, "sum_sq"]),
            degrees_of_freedom=round(table.loc[label, "df"]),
            f_statistic=float(table.loc[label, "F"]),
            p_value=float(table.loc[label, "PR(>F)"]),
            partial_eta_squared=float(table.loc[label, "sum_sq"] / (table.loc[label, "sum_sq"] + residual)),
        )
        for label, term in labels.items()
    )
    noise = _measure_noise(results, response.name, float(residual), round(freedom))
    return Anova(response.name, effects, float(residual), round(freedom), noise)


def _measure_noise(results: Results, response: str, residual: float, freedom: int) -> Noise | None:
    within = len(results.rows) - len(results.frame)
    if within == 0 or freedom == 0:
        return None
    names = [name for name in CELL if name in results.rows]
    means = results.rows.groupby(names, observed=True)[response].transform("mean")
    squares = float(((results.rows[response] - means) ** 2).sum())
    ratio = residual / freedom / max(squares / within, _LEAST)
    p_value = float(require("scipy.stats", extra="analyze").f.sf(ratio, freedom, within))
    return Noise(squares, within, min(1.0, 1 / max(ratio, _LEAST)), p_value)


def compare_datasets(results: Results, response: MetricColumn) -> Anova | None:
    """The analysis of variance with the interactions of factors and data sets; ``None`` with one data set.

    A significant interaction means that methods rank differently on different data sets. The table of the paper does
    not have these interactions.
    """
    if len(results.values("dataset")) < 2:
        return None
    anova = compare_factors(results, response, by_dataset=True)
    return anova if anova.residual_degrees_of_freedom > 0 else None


def _fit(results: Results, response: str, terms: Sequence[str]) -> Any:
    models = require("statsmodels.formula.api", extra="analyze")
    tables = require("statsmodels.stats.anova", extra="analyze")
    formula, frame = f"{response} ~ {' + '.join(terms)}", results.frame
    fitted = models.wls(formula, data=frame, weights=frame[DRAWS]).fit()  # with one draw: ordinary least squares
    return tables.anova_lm(fitted, typ=2)


def compare_alone(results: Results, response: MetricColumn) -> tuple[Effect, ...]:
    """One-way tests of every varying factor, with data set and level as controls."""
    return tuple(compare_factors(results, response, factors=[factor])[factor] for factor in results.varying)


def show_p(p_value: float) -> str:
    """A p-value, rounded for display.

    >>> show_p(0.00033), show_p(0.0021), show_p(0.88)
    ('< 0.001', '0.002', '0.880')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


_NODES = 256
_LONGEST = 20.0
"""A range of normal numbers that is practically never exceeded."""
_STEPS = 2048
_RARE = 1e-17
"""Deviations that are less probable are left out."""


def compute_survival(values: Floats, groups: int, freedom: int) -> Floats:
    """The probability that the studentized range exceeds each value.

    Args:
        values: The values; not negative.
        groups: The number of groups.
        freedom: The degrees of freedom of the standard deviation.
    """
    deviations, weights = _integrate_deviations(freedom)
    tails = _tabulate_tail(groups)(np.minimum(values[:, None] * deviations, _LONGEST))
    survival: Floats = np.clip(tails @ weights, 0.0, 1.0)
    return survival


@cache
def find_critical(probability: float, groups: int, freedom: int) -> float:
    """The value that the studentized range exceeds with a probability."""
    find_root = require("scipy.optimize", extra="analyze").brentq
    highest = 4.0
    while compute_survival(np.array([highest]), groups, freedom)[0] > probability:
        highest *= 2
    found = find_root(lambda value: compute_survival(np.array([value]), groups, freedom)[0] - probability, 0.0, highest)
    return float(found)


@cache
def _integrate_deviations(freedom: int) -> tuple[Floats, Floats]:
    """Standard deviations of samples from a normal distribution, as multiples of the true one, and their weights."""
    chi = require("scipy.stats", extra="analyze").chi(freedom)
    places, weights = _place_nodes(chi.ppf(_RARE), chi.isf(_RARE))
    return places / math.sqrt(freedom), weights * chi.pdf(places)


@cache
def _tabulate_tail(groups: int) -> Any:
    """The probability that the range of so many normal numbers exceeds a value, as a spline."""
    special = require("scipy.special", extra="analyze")
    lowest, weights = _place_nodes(-_LONGEST / 2, _LONGEST / 2)
    lengths = np.linspace(0.0, _LONGEST, _STEPS)
    # The lowest number is at a place, and all others are between it and the place plus the length.
    between = special.ndtr(lowest[:, None] + lengths) - special.ndtr(lowest)[:, None]
    density = weights * np.exp(-np.square(lowest) / 2) / math.sqrt(2 * math.pi)
    tails = 1 - groups * (density @ between ** (groups - 1))
    return require("scipy.interpolate", extra="analyze").CubicSpline(lengths, tails)


def _place_nodes(low: float, high: float) -> tuple[Floats, Floats]:
    """Where to evaluate a smooth function between two limits, and the weights of the values in its integral."""
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    return low + (places + 1) * (high - low) / 2, weights * (high - low) / 2


_SMALLEST_P = 1e-300
"""Replaces a standard error of zero, if the differences to the group means are constant."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two combinations, the one with the higher mean first."""

    higher: str
    lower: str
    difference: float
    margin: float
    """The smallest significant difference. The simultaneous confidence interval is difference +- margin."""
    p_value: float | None
    """Adjusted for all pairs. Only significant pairs have one."""

    @property
    def significant(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value is not None


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs, the largest differences first."""

    pairs: tuple[Pair, ...]

    @property
    def significant(self) -> tuple[Pair, ...]:
        """The pairs that differ significantly."""
        return tuple(pair for pair in self.pairs if pair.significant)

    def list_worse(self, combination: str, *, better: str = "higher") -> frozenset[str]:
        """The combinations that a combination is significantly better than."""
        worse = "lower" if better == "higher" else "higher"
        return frozenset(getattr(pair, worse) for pair in self.significant if getattr(pair, better) == combination)


def compare_pairs(results: Results, response: MetricColumn) -> Comparisons:
    """Compare all pairs of combinations of the varying factors.

    The mean of its data set and level is subtracted from every value. Of the ways to normalize by the mean, this one
    reproduces the findings of the paper (see docs/analysis.md). Dividing by the mean would fail if it is near zero.
    Each subtracted mean costs a degree of freedom. Otherwise chance would look significant in a small grid. For the
    same reason the values are means over draws of noise: draws do not count as further data sets.

    Raises:
        ParameterError: The results cannot be compared.
    """
    check_comparable(results, response)
    frame = results.frame
    centered = frame[response.name] - frame.groupby(list(CONTROLS), observed=True)[response.name].transform("mean")
    samples = {
        name: centered[list(rows)].to_numpy()
        for name, rows in frame.groupby(_name_combinations(results), sort=False).groups.items()
    }
    repeats, count = len(results.groups), len(samples)
    freedom = (count - 1) * (repeats - 1)
    variance = sum(float(np.square(values - values.mean()).sum()) for values in samples.values()) / freedom
    error = math.sqrt(variance / repeats)
    critical = find_critical(SIGNIFICANCE, count, freedom) * error
    means = {name: float(values.mean()) for name, values in samples.items()}
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    found = [(higher, lower, means[higher] - means[lower]) for higher, lower in combinations(ordered, 2)]
    ranges = np.array([difference for _, _, difference in found]) / max(error, _SMALLEST_P)
    p_values = compute_survival(ranges, count, freedom).tolist()
    pairs = [
        Pair(higher, lower, difference, critical, p_value if difference > critical else None)
        for (higher, lower, difference), p_value in zip(found, p_values, strict=True)
    ]
    return Comparisons(tuple(sorted(pairs, key=lambda pair: -pair.difference)))


def name_combination(*methods: str) -> str:
    """The name of a combination.

    >>> name_combination("pos", "attention")
    'pos + attention'
    """
    return " + ".join(methods)


def _name_combinations(results: Results) -> list[str]:
    """The name of every cell's combination, with all factors that vary."""
    shown = [name for name in FACTORS if name in results.combination or name in results.varying]
    return [
        name_combination(*map(str, methods)) for methods in zip(*(results.frame[name] for name in shown), strict=True)
    ]
