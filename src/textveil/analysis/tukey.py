"""Tukey's HSD: which combinations differ, among all pairs of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from textveil.analysis.anova import SIGNIFICANCE
from textveil.analysis.columns import CONTROLS, FACTORS, MetricColumn
from textveil.analysis.results import Results, check_comparable
from textveil.extras import require

_LEAST = 1e-300
"""Instead of an error of nothing, where every combination is the same above its group's mean everywhere."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two combinations that were compared, the one with the higher mean first."""

    higher: str
    lower: str
    difference: float
    margin: float
    """The difference that would just be significant; the simultaneous confidence interval is difference +- margin."""
    p_value: float | None
    """Adjusted for all pairs; worked out where the difference is significant, since each takes many milliseconds."""

    @property
    def significant(self) -> bool:
        """Whether chance alone would hardly give this."""
        return self.p_value is not None


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs, the largest differences first."""

    pairs: tuple[Pair, ...]

    @property
    def significant(self) -> tuple[Pair, ...]:
        """The pairs that differ significantly."""
        return tuple(pair for pair in self.pairs if pair.significant)

    def count_wins(self, combination: str, *, better: str = "higher") -> int:
        """How many others a combination is significantly better than."""
        return sum(getattr(pair, better) == combination for pair in self.significant)


def compare_pairs(results: Results, response: MetricColumn) -> Comparisons:
    """Compare all pairs of combinations of the factors that vary.

    From every value the mean of its data set and level is taken away. Of the ways to normalise by the mean, this one
    gives the paper's findings (see docs/analysis.md); dividing by it would also fail where it is near zero. Each mean
    that is taken away costs a degree of freedom: without that, chance looks significant in a small grid.

    Raises:
        ParameterError: There is nothing to compare.
    """
    check_comparable(results, response)
    frame = results.frame
    centred = frame[response.name] - frame.groupby(list(CONTROLS), observed=True)[response.name].transform("mean")
    samples = {
        name: centred[list(rows)].to_numpy()
        for name, rows in frame.groupby(_name_combinations(results), sort=False).groups.items()
    }
    repeats, count = len(results.groups), len(samples)
    freedom = (count - 1) * (repeats - 1)
    variance = sum(float(np.square(values - values.mean()).sum()) for values in samples.values()) / freedom
    error = math.sqrt(variance / repeats)
    studentized = require("scipy.stats", extra="analyze").studentized_range
    critical = _find_critical(count, freedom) * error
    means = {name: float(values.mean()) for name, values in samples.items()}
    pairs = []
    for pair in combinations(means, 2):
        higher, lower = sorted(pair, key=means.__getitem__, reverse=True)
        difference = means[higher] - means[lower]
        found = difference > critical
        p_value = float(studentized.sf(difference / max(error, _LEAST), count, freedom)) if found else None
        pairs.append(Pair(higher, lower, difference, critical, p_value))
    return Comparisons(tuple(sorted(pairs, key=lambda pair: -pair.difference)))


@cache
def _find_critical(count: int, freedom: int) -> float:
    """The studentized range that chance exceeds rarely; kept, since it takes long to work out."""
    return float(require("scipy.stats", extra="analyze").studentized_range.isf(SIGNIFICANCE, count, freedom))


def name_combination(*methods: str) -> str:
    """How a combination is called.

    >>> name_combination("pos", "attention")
    'pos + attention'
    """
    return " + ".join(methods)


def _name_combinations(results: Results) -> list[str]:
    """The name of every cell's combination: decomposition and distribution, and what else varies."""
    shown = [name for name in FACTORS if name in ("decomposition", "distribution") or name in results.varying]
    return [
        name_combination(*map(str, methods)) for methods in zip(*(results.frame[name] for name in shown), strict=True)
    ]
