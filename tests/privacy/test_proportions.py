import math

import pytest
from scipy import stats

from textveil.proportions import beta_distribution, bound_above, bound_below, bound_log_ratio
from textveil.randomness import SeededRandomness

CASES = [(0, 1), (1, 1), (0, 50), (1, 50), (25, 50), (49, 50), (50, 50), (3, 100_000), (70_000, 100_000)]


@pytest.mark.parametrize(("count", "trials"), [*CASES, (7, 10**6), (500_000, 10**6), (999_990, 10**6)])
@pytest.mark.parametrize("risk", [0.05, 1e-4, 1e-9])
def test_bounds_are_those_of_scipy(count, trials, risk):
    low = stats.beta.ppf(risk, count, trials - count + 1) if count else 0.0
    high = stats.beta.ppf(1 - risk, count + 1, trials - count) if count < trials else 1.0
    assert bound_below(count, trials, risk) == pytest.approx(low, rel=1e-6, abs=1e-12)
    assert bound_above(count, trials, risk) == pytest.approx(high, rel=1e-6)


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.2, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (2, 500), (1e5, 3), (0.5, 0.5)])
def test_the_distribution_function_is_that_of_scipy(value, shape):
    assert beta_distribution(value, *shape) == pytest.approx(stats.beta.cdf(value, *shape), rel=1e-8, abs=1e-14)


def test_a_ratio_is_bounded_by_both_probabilities():
    expected = math.log(bound_below(60, 100, 0.01) / bound_above(20, 100, 0.01))
    assert bound_log_ratio(60, 20, 100, 0.02) == expected
    assert bound_log_ratio(0, 0, 100, 0.02) == -math.inf


def test_the_bound_of_a_ratio_is_wrong_at_most_as_often_as_stated():
    generator = SeededRandomness(5).stream(0)
    counts = generator.binomial(200, [0.6, 0.2], size=(600, 2))
    wrong = sum(bound_log_ratio(int(one), int(two), 200, 0.1) > math.log(3) for one, two in counts)
    assert wrong / 600 <= 0.1
