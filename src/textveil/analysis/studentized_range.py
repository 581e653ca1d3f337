"""The distribution of the studentized range, for many values at once.

SciPy integrates twice for every single value, which takes many milliseconds. Here the inner integral, the range of
normal numbers, is computed once for a number of groups, and the outer one is a sum for all values together.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.extras import require

_NODES = 256
_LONGEST = 20.0
"""A range of normal numbers that is practically never exceeded."""
_STEPS = 2048
_RARE = 1e-17
"""Deviations that are less probable are left out."""


def compute_survival(values: Floats, groups: int, freedom: int) -> Floats:
    """The probability that the studentized range exceeds each value.

    Args:
        values: The values; not negative.
        groups: The number of groups.
        freedom: The degrees of freedom of the standard deviation.
    """
    deviations, weights = _integrate_deviations(freedom)
    tails = _tabulate_tail(groups)(np.minimum(values[:, None] * deviations, _LONGEST))
    survival: Floats = np.clip(tails @ weights, 0.0, 1.0)
    return survival


@cache
def find_critical(probability: float, groups: int, freedom: int) -> float:
    """The value that the studentized range exceeds with a probability."""
    find_root = require("scipy.optimize", extra="analyze").brentq
    highest = 4.0
    while compute_survival(np.array([highest]), groups, freedom)[0] > probability:
        highest *= 2
    found = find_root(lambda value: compute_survival(np.array([value]), groups, freedom)[0] - probability, 0.0, highest)
    return float(found)


@cache
def _integrate_deviations(freedom: int) -> tuple[Floats, Floats]:
    """Standard deviations of samples from a normal distribution, as multiples of the true one, and their weights."""
    chi = require("scipy.stats", extra="analyze").chi(freedom)
    places, weights = _place_nodes(chi.ppf(_RARE), chi.isf(_RARE))
    return places / math.sqrt(freedom), weights * chi.pdf(places)


@cache
def _tabulate_tail(groups: int) -> Any:
    """The probability that the range of so many normal numbers exceeds a value, as a spline."""
    special = require("scipy.special", extra="analyze")
    lowest, weights = _place_nodes(-_LONGEST / 2, _LONGEST / 2)
    lengths = np.linspace(0.0, _LONGEST, _STEPS)
    # The lowest number is at a place, and all others are between it and the place plus the length.
    between = special.ndtr(lowest[:, None] + lengths) - special.ndtr(lowest)[:, None]
    density = weights * np.exp(-np.square(lowest) / 2) / math.sqrt(2 * math.pi)
    tails = 1 - groups * (density @ between ** (groups - 1))
    return require("scipy.interpolate", extra="analyze").CubicSpline(lengths, tails)


def _place_nodes(low: float, high: float) -> tuple[Floats, Floats]:
    """Where to evaluate a smooth function between two limits, and the weights of the values in its integral."""
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    return low + (places + 1) * (high - low) / 2, weights * (high - low) / 2
