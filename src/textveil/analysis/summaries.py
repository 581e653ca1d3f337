"""Means of results by combination, method and level, and the gaps between methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textveil.analysis.columns import CLEAR, EXPOSURE, HIGH, LOW, UTILITY
from textveil.analysis.results import Results
from textveil.evaluation.columns import METRIC_COLUMNS, MetricColumn

if TYPE_CHECKING:
    from pandas import DataFrame

COMBINATION = ("decomposition", "distribution")
"""The factors of a combination."""


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
    may on the same texts.
    """
    known = [*METRIC_COLUMNS, CLEAR.name, UTILITY.name, EXPOSURE.name]
    columns = [f"{name}{suffix}" for name in known for suffix in ("", LOW, HIGH)]
    return results.frame.groupby(list(by), observed=True)[[name for name in columns if name in results.frame]].mean()


def average_combinations(results: Results) -> DataFrame:
    """The means of every combination of decomposition and distribution, over data sets and levels."""
    return average(results, COMBINATION)


def measure_gap(results: Results, factor: str, response: MetricColumn) -> Gap:
    """The gap between the best and the worst method of a factor.

    The best is the highest or the lowest, depending on the response.
    """
    means = average(results, [factor])[response.name] * response.sign
    return Gap(factor, str(means.idxmax()), str(means.idxmin()), float(means.max() - means.min()))
