"""Words released in clear: their relation to the response and to the advantage of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from textveil.analysis.anova import SIGNIFICANCE, Anova
from textveil.analysis.columns import CLEAR, CLEAR_SHARE, CONTROLS
from textveil.analysis.results import Results
from textveil.analysis.summaries import average
from textveil.evaluation.columns import MetricColumn
from textveil.extras import require

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

    def lost(self, setting: str, other: str) -> float | None:
        """The share of the advantage in ``setting`` that is lost in ``other``; ``None`` without an advantage."""
        before = self.by_setting[setting]
        return (before - self.by_setting[other]) / before if before > 0 else None


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
