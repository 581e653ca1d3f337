import math

import pytest

from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import PERPLEXITY, TASK, Reading
from textveil.lab.report.plots import Scale, find_log_ticks, find_scale, find_ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.51, 0.53, [0.51, 0.515, 0.52, 0.525, 0.53]), (-30, 140, [0, 50, 100])],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert find_ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(80, 3000, [100, 200, 500, 1000, 2000]), (2, 90_000, [10, 100, 1000, 10_000]), (0.3, 3, [0.5, 1, 2])],
)
def test_ticks_of_a_logarithmic_axis_are_round_numbers(low, high, expected):
    assert find_log_ticks(low, high) == pytest.approx(expected)


def test_equal_ratios_have_equal_distances_on_a_logarithmic_scale():
    scale = Scale(math.log(10), math.log(1000), 0.0, 100.0, log=True)
    assert [scale(value) for value in (10, 100, 1000)] == pytest.approx([0, 50, 100])
    assert scale(0) == 0  # has no logarithm
    assert all(10 <= tick <= 1000 for tick in scale.ticks)


def test_the_better_value_is_at_the_last_end():
    readings = [Reading(20, Interval(10, 30)), Reading(200)]
    lower = find_scale(PERPLEXITY, readings, (0.0, 100.0))
    assert lower.log
    assert lower(10) > 90
    assert lower(200) < 10
    higher = find_scale(TASK, [Reading(0.2), Reading(0.8)], (0.0, 100.0))
    assert not higher.log
    assert higher(0.8) > 90
    assert higher(0.2) < 10
