import math

import pytest

from textveil.lab.compare.front import Stop, measure_gap, read_stop
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import ADAPTIVE, PERPLEXITY, SIMILARITY, Reading


def line(*points, error=0.0):
    return [Stop(place, height, 0.0, error) for place, height in points]


def test_parallel_lines_have_their_distance():
    gap = measure_gap(line((0, 1), (1, 2)), line((0, 0), (1, 1)))
    assert gap == (1.0, Interval(1.0, 1.0), 0.0, 1.0)


def test_a_triangle_has_half_its_height():
    assert measure_gap(line((0, 0), (1, 1)), line((0, 0), (1, 0))).mean == pytest.approx(0.5)


def test_lines_that_cross_cancel():
    assert measure_gap(line((0, 0), (1, 1)), line((0, 1), (1, 0))).mean == pytest.approx(0)


def test_only_the_range_of_both_counts_and_corners_inside_do():
    gap = measure_gap(line((0, 0), (2, 2), (4, 0)), line((1, 0), (9, 0)))
    assert (gap.low, gap.high) == (1, 4)
    assert gap.mean == pytest.approx((1.5 + 2) / 3)  # 1 to 2 is 1.5 high, the triangle from 2 to 4 has an area of 2


def test_curves_without_a_common_place_are_not_compared():
    assert measure_gap(line((0, 0), (1, 1)), line((2, 0), (3, 1))) is None
    assert measure_gap([], line((2, 0))) is None
    assert measure_gap(line((0, 0), (1, 1)), line((0.0, math.inf), (1, 1))) is None


def test_a_single_point_is_compared_at_its_place():
    assert measure_gap(line((0.5, 2)), line((0, 0), (1, 1))).mean == pytest.approx(1.5)
    assert measure_gap(line((0.5, 2)), line((0.6, 1))) is None


def test_the_order_does_not_matter_and_equal_places_are_averaged():
    shuffled = line((1, 3), (0, 0), (1, 1))
    assert measure_gap(shuffled, line((0, 0), (1, 0))).mean == pytest.approx(1.0)


def test_errors_of_heights_add_up_as_squares():
    low, high = measure_gap(line((0, 1), (1, 1), error=0.2), line((0, 0), (1, 0), error=0.2)).interval
    assert (low + high) / 2 == pytest.approx(1)
    assert (high - low) / 2 == pytest.approx(1.96 * 0.1 * math.sqrt(4))  # each of four points moves the mean by 0.1


def test_errors_of_places_count_where_the_curve_is_steep():
    flat, other = [Stop(0, 1, 0.1), Stop(1, 1, 0.1)], line((-1, 0), (2, 0))
    assert measure_gap(flat, other).interval == pytest.approx((1, 1))
    steep = [Stop(0, 0, 0.1), Stop(1, 5, 0.1)]
    assert measure_gap(steep, line((-1, 0), (2, 3))).interval.high > measure_gap(steep, line((-1, 0), (2, 3))).mean


def test_without_an_error_there_is_no_interval():
    gap = measure_gap([Stop(0, 1, 0.0, None), Stop(1, 1)], line((0, 0), (1, 0)))
    assert gap.mean == 1
    assert gap.interval is None


def test_logarithmic_quantities_become_logarithms():
    attack, perplexity = Reading(0.4, Interval(0.4 - 0.0196, 0.4 + 0.0196)), Reading(100, Interval(50, 200))
    stop = read_stop(attack, perplexity, ADAPTIVE, PERPLEXITY)
    assert (stop.place, stop.height) == (0.4, math.log(100))
    assert stop.place_error == pytest.approx(0.01)
    assert stop.height_error == pytest.approx(math.log(4) / 3.92)
    assert read_stop(attack, Reading(0.5), ADAPTIVE, SIMILARITY) == Stop(0.4, 0.5, stop.place_error, None)
    assert read_stop(attack, Reading(50, Interval(0, 100)), ADAPTIVE, PERPLEXITY).height_error is None


def test_ratios_are_of_heights_between_stops_and_their_mean_is_geometric():
    gap = measure_gap(line((0, 2), (1, 4)), line((0, 1), (1, 2)), ratio=True)
    assert math.exp(gap.mean) == pytest.approx(2)
    rising = measure_gap(line((0, 1), (1, 3)), line((0, 1), (1, 1)), ratio=True)
    assert rising.mean == pytest.approx(1.5 * math.log(3) - 1, rel=1e-3)  # the integral of log(1 + 2x)
    assert measure_gap(line((0, 0), (1, 3)), line((0, 1), (1, 1)), ratio=True) is None
