"""Words released in clear: how much of a method's advantage goes with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textveil.analysis.columns import CLEAR_SHARE, CONTROLS, MetricColumn
from textveil.analysis.results import Results
from textveil.analysis.summaries import COMBINATION, average


@dataclass(frozen=True, slots=True)
class Advantage:
    """How much better a method is than the others of its factor, in every setting."""

    factor: str
    method: str
    by_setting: Mapping[str, float]
    """Its mean response minus that of the others; positive is better, whichever way the response goes."""
    clear_share: Mapping[str, float]
    """The share of its words that were released in clear, where that is known."""

    def lost(self, setting: str, other: str) -> float | None:
        """The part of the advantage in ``setting`` that is gone in ``other``; ``None`` where it has none to lose."""
        before = self.by_setting[setting]
        return (before - self.by_setting[other]) / before if before > 0 else None


@dataclass(frozen=True, slots=True)
class ClearEffect:
    """How a response goes with the share of words in clear, within data sets and levels."""

    slope: float
    """What one more percent of words in clear goes with."""
    explained: float
    """The share of the variance within data sets and levels that goes with it."""


def measure_advantages(settings: Mapping[str, Results], response: MetricColumn) -> tuple[Advantage, ...]:
    """The advantage of every method over the others of its factor, in every setting."""
    found = []
    first = next(iter(settings.values()))
    for factor in COMBINATION:
        if factor not in first.varying:
            continue
        means = {name: average(results, [factor]) for name, results in settings.items()}
        for method in first.values(factor):
            by_setting = {}
            for name, table in means.items():
                others = table[response.name].drop(method).mean()
                by_setting[name] = response.sign * float(table.loc[method, response.name] - others)
            shares = {
                name: float(table.loc[method, CLEAR_SHARE]) for name, table in means.items() if CLEAR_SHARE in table
            }
            found.append(Advantage(factor, method, by_setting, shares))
    return tuple(found)


def measure_clear_effect(results: Results, response: MetricColumn) -> ClearEffect | None:
    """How the response goes with the share of words in clear; ``None`` where that is unknown or does not vary."""
    if not results.counts_words:
        return None
    columns = [response.name, CLEAR_SHARE]
    centred = results.frame[columns] - results.frame.groupby(list(CONTROLS), observed=True)[columns].transform("mean")
    value, share = centred[response.name].to_numpy(), centred[CLEAR_SHARE].to_numpy()
    spread, variance = float(share @ share), float(value @ value)
    if spread < 1e-12 or variance == 0:
        return None
    slope = float(value @ share) / spread
    return ClearEffect(slope / 100, slope**2 * spread / variance)
