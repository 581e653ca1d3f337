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

CONFIDENCE = 0.95
LEAST_DRAWS = 3
"""With fewer draws of noise, a 95 % interval over them is too wide to say anything: 18 standard deviations with two."""
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
