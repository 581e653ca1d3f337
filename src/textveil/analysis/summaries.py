"""Means of results by combination, method and level, and the gaps between methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textveil.analysis.columns import EXPOSURE, EXPOSURE_PARTS, UTILITY, UTILITY_PARTS
from textveil.analysis.results import Results
from textveil.evaluation.columns import MetricColumn

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
    """The mean of every metric, of utility, exposure and the share of words in clear, for each value of ``by``."""
    frame = results.frame
    columns = [metric.name for metric in results.responses]
    means = frame.groupby(list(by), observed=True)[columns].mean()
    for whole, parts in ((UTILITY, UTILITY_PARTS), (EXPOSURE, EXPOSURE_PARTS)):
        if all(part in means for part in parts):
            means[whole.name] = means[list(parts)].mean(axis=1)
    return means


def average_combinations(results: Results) -> DataFrame:
    """The means of every combination of decomposition and distribution, over data sets and levels."""
    return average(results, COMBINATION)


def measure_gap(results: Results, factor: str, response: MetricColumn) -> Gap:
    """The gap between the best and the worst method of a factor.

    The best is the highest or the lowest, depending on the response.
    """
    means = average(results, [factor])[response.name] * response.sign
    return Gap(factor, str(means.idxmax()), str(means.idxmin()), float(means.max() - means.min()))
