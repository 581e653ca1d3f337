"""Means of results by combination, method and level with their noise, and the gaps between methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textveil.analysis.columns import (
    CLEAR,
    DRAW,
    EXPOSURE,
    HIGH,
    LOW,
    NOISE_HIGH,
    NOISE_LOW,
    NOISE_STD,
    UTILITY,
)
from textveil.analysis.results import Results
from textveil.evaluation.columns import METRIC_COLUMNS, MetricColumn
from textveil.extras import require

if TYPE_CHECKING:
    from pandas import DataFrame

COMBINATION = ("decomposition", "distribution")
"""The factors of a combination."""
CONFIDENCE = 0.95
_AVERAGED = (*METRIC_COLUMNS, CLEAR.name, UTILITY.name, EXPOSURE.name)


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
    same texts. It does not cover other texts.
    """
    rows, names = results.rows, list(by)
    columns = [name for name in _AVERAGED if name in rows]
    groups = rows.groupby([*names, DRAW], observed=True)
    sizes = groups.size()
    whole = sizes == sizes.groupby(level=names, observed=True).transform("max")  # some groups may have more draws
    draws = groups[columns].mean()[whole].groupby(level=names, observed=True)
    means, std, count = draws.mean(), draws.std(), draws.count()
    quantile = require("scipy.stats", extra="analyze").t.ppf((1 + CONFIDENCE) / 2, count - 1)
    margins = quantile * std / count**0.5
    parts = {NOISE_STD: std, NOISE_LOW: means - margins, NOISE_HIGH: means + margins}
    joined = [part.add_suffix(suffix) for suffix, part in parts.items()]
    return joined[0].join(joined[1:])


def average_combinations(results: Results) -> DataFrame:
    """The means of every combination of decomposition and distribution, over data sets and levels."""
    return average(results, COMBINATION)


def measure_gap(results: Results, factor: str, response: MetricColumn) -> Gap:
    """The gap between the best and the worst method of a factor.

    The best is the highest or the lowest, depending on the response.
    """
    means = average(results, [factor])[response.name] * response.sign
    return Gap(factor, str(means.idxmax()), str(means.idxmin()), float(means.max() - means.min()))
