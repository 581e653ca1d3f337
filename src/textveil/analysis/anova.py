"""Analysis of variance: the effect of each factor on a response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from textveil.analysis.columns import CELL, CONTROLS, DRAWS, SPELLED
from textveil.analysis.results import Results, check_comparable
from textveil.evaluation.columns import MetricColumn
from textveil.extras import require

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

    @property
    def finds_choice(self) -> bool:
        """Whether any factor or interaction of factors has a significant effect. Controls do not count."""
        return any(effect.significant for effect in self.effects if effect.factors[0] not in CONTROLS)

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


def describe_p(p_value: float) -> str:
    """A p-value in a sentence.

    >>> describe_p(0.00033), describe_p(0.0021)
    ('p < 0.001', 'p = 0.002')
    """
    shown = show_p(p_value)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"
