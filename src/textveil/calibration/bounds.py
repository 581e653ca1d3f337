"""Confidence bounds: the value of a metric for other texts of the same kind, on the unsafe side."""

from __future__ import annotations

import math
from statistics import NormalDist

from textveil.evaluation.uncertainty import SHARE

_NORMAL = NormalDist()


def widen(value: float, end: float, texts: int, risk: float) -> float:
    """Move the end of a 95 % interval to where the true value lies beyond it with at most a stated risk.

    The distance of the end is multiplied by the ratio of two quantiles: that of Student's t, corrected for the variance
    of a bootstrap over few texts (Hesterberg 2015), and that of the normal distribution.

    Args:
        value: The value.
        end: An end of its 95 % bootstrap interval.
        texts: The number of texts.
        risk: The probability that the true value may lie beyond the bound.

    >>> round(widen(0.2, 0.25, texts=10_000, risk=0.025), 4)
    0.25
    >>> round(widen(0.2, 0.25, texts=30, risk=0.005), 4)
    0.2715
    """
    correction = math.sqrt(texts / (texts - 1)) * find_quantile(1 - risk, texts - 1)
    return value + (end - value) * correction / _NORMAL.inv_cdf((1 + SHARE) / 2)


def find_quantile(level: float, degrees: int) -> float:
    """The quantile of Student's t: the expansion of Abramowitz and Stegun (26.7.5), for five degrees or more.

    >>> [round(find_quantile(0.995, degrees), 2) for degrees in (5, 29, 1000)]
    [4.03, 2.76, 2.58]
    """
    z, v = _NORMAL.inv_cdf(level), degrees
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )
