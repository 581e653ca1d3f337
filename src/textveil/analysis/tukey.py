"""Tukey's HSD test of all pairs of combinations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from textveil.analysis.anova import SIGNIFICANCE
from textveil.analysis.columns import CONTROLS, FACTORS
from textveil.analysis.results import Results, check_comparable
from textveil.analysis.studentized_range import compute_survival, find_critical
from textveil.evaluation.columns import MetricColumn

_LEAST = 1e-300
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
    ranges = np.array([difference for _, _, difference in found]) / max(error, _LEAST)
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
