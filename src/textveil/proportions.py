"""Bounds of a probability from the number of times that something happened, by Clopper and Pearson (1934)."""

from __future__ import annotations

import math
from functools import lru_cache

_STEPS = 45  # of a bisection, whose error is then below 1e-13
_TERMS = 200_000
_SMALLEST = 1e-300
_CONVERGED = 1e-13
_KNOWN = 4096  # bounds that are remembered: an audit asks for the same few again and again


@lru_cache(_KNOWN)
def bound_below(count: int, trials: int, risk: float) -> float:
    """The largest number that is below the probability with a confidence of 1 - ``risk``.

    Args:
        count: How often it happened.
        trials: The number of independent trials.
        risk: The probability that the bound is wrong.

    >>> round(bound_below(0, 100, 0.05), 4), round(bound_below(100, 100, 0.05), 4)
    (0.0, 0.9705)
    """
    if count == 0:
        return 0.0
    low, high = 0.0, count / trials
    for _ in range(_STEPS):
        middle = (low + high) / 2
        # This many successes or more are as likely as the risk at the wanted probability.
        if beta_distribution(middle, count, trials - count + 1) < risk:
            low = middle
        else:
            high = middle
    return low


@lru_cache(_KNOWN)
def bound_above(count: int, trials: int, risk: float) -> float:
    """The smallest number that is above the probability with a confidence of 1 - ``risk``.

    >>> round(bound_above(0, 100, 0.05), 4), round(bound_above(100, 100, 0.05), 4)
    (0.0295, 1.0)
    """
    if count == trials:
        return 1.0
    low, high = count / trials, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if beta_distribution(1 - middle, trials - count, count + 1) < risk:
            high = middle
        else:
            low = middle
    return high


def bound_log_ratio(first: int, second: int, trials: int, risk: float) -> float:
    """A lower bound of the logarithm of the ratio of two probabilities; minus infinity if nothing happened.

    Args:
        first: How often the event happened in the trials of the numerator.
        second: How often it happened in those of the denominator.
        trials: The number of trials of each.
        risk: The probability that the bound is wrong. Half of it goes to each probability.

    >>> round(bound_log_ratio(900, 0, 1000, 0.05), 2)
    5.48
    """
    low = bound_below(first, trials, risk / 2)
    return math.log(low / bound_above(second, trials, risk / 2)) if low else -math.inf


def beta_distribution(value: float, first: float, second: float) -> float:
    """The distribution function of a beta distribution: the regularized incomplete beta function.

    >>> round(beta_distribution(0.5, 3, 3), 9)
    0.5
    """
    if value <= 0 or value >= 1:
        return float(value >= 1)
    if value > (first + 1) / (first + second + 2):  # where the fraction converges slowly
        return 1 - beta_distribution(1 - value, second, first)
    log_factor = first * math.log(value) + second * math.log1p(-value)
    log_factor += math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    return math.exp(log_factor) * _expand(value, first, second) / first


def _expand(value: float, first: float, second: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz."""
    upper, lower = 1.0, 1 / _keep_apart(1 - (first + second) * value / (first + 1))
    product = lower
    for term in range(1, _TERMS):
        even = term * (second - term) * value / ((first + 2 * term - 1) * (first + 2 * term))
        odd = -(first + term) * (first + second + term) * value / ((first + 2 * term) * (first + 2 * term + 1))
        for step in (even, odd):
            lower = 1 / _keep_apart(1 + step * lower)
            upper = _keep_apart(1 + step / upper)
            product *= upper * lower
        if abs(upper * lower - 1) < _CONVERGED:
            break
    return product


def _keep_apart(value: float) -> float:
    """A divisor that is not 0."""
    return value if abs(value) > _SMALLEST else _SMALLEST
