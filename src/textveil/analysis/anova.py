"""Analysis of variance: how much of a response each factor explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from textveil.analysis.columns import CONTROLS, SPELLED, MetricColumn
from textveil.analysis.results import Results, check_comparable
from textveil.extras import require

SIGNIFICANCE = 0.05
"""A p-value below this is called significant."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One term of the model."""

    factors: tuple[str, ...]
    """One factor, or two whose interaction this is."""
    sum_of_squares: float
    degrees_of_freedom: int
    f_statistic: float
    p_value: float
    partial_eta_squared: float
    """The term's sum of squares, divided by that and the residual's."""

    @property
    def name(self) -> str:
        """The names of its columns."""
        return " x ".join(self.factors)

    @property
    def title(self) -> str:
        """How tables call the term."""
        return " x ".join(SPELLED.get(factor, factor) for factor in self.factors)

    @property
    def significant(self) -> bool:
        """Whether chance alone would hardly give this."""
        return self.p_value < SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class Anova:
    """A table of effects, and what they leave unexplained; no effects where nothing varies that could be tested."""

    response: str
    effects: tuple[Effect, ...]
    residual_sum_of_squares: float = 0.0
    residual_degrees_of_freedom: int = 0

    @property
    def finds_choice(self) -> bool:
        """Whether any factor, or an interaction of factors, shows a significant effect; controls do not count."""
        return any(effect.significant for effect in self.effects if effect.factors[0] not in CONTROLS)

    def __getitem__(self, name: str) -> Effect:
        for effect in self.effects:
            if effect.name == name:
                return effect
        raise KeyError(name)


def compare_factors(results: Results, response: MetricColumn, *, factors: Sequence[str] | None = None) -> Anova:
    """Analysis of variance with all factors that vary, their interactions in pairs, and data set and level as controls.

    The sums of squares are of type II; since results are complete, all types agree on the factors. The paper's table
    has the factors decomposition and distribution.

    Args:
        results: The cells.
        response: What is explained.
        factors: Only these factors; with one of them it is a one-way test, with the same controls.

    Raises:
        ParameterError: There is nothing to compare.
    """
    check_comparable(results, response)
    factors = results.varying if factors is None else tuple(factors)
    controls = [name for name in CONTROLS if len(results.values(name)) > 1]
    terms = [*((name,) for name in (*factors, *controls)), *combinations(factors, 2)]
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
    return Anova(response.name, effects, float(residual), round(freedom))


def _fit(results: Results, response: str, terms: Sequence[str]) -> Any:
    models = require("statsmodels.formula.api", extra="analyze")
    tables = require("statsmodels.stats.anova", extra="analyze")
    fitted = models.ols(f"{response} ~ {' + '.join(terms)}", data=results.frame).fit()
    return tables.anova_lm(fitted, typ=2)


def compare_alone(results: Results, response: MetricColumn) -> tuple[Effect, ...]:
    """One-way tests: every factor that varies by itself, with data set and level as controls."""
    return tuple(compare_factors(results, response, factors=[factor])[factor] for factor in results.varying)


def show_p(p_value: float) -> str:
    """A p-value as a person reads it.

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
