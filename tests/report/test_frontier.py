import json
import math

import pytest

from tests.metrics.making import make_comparison
from textveil.errors import UnknownNameError
from textveil.lab.compare.curves import MOST, Area, Frontier, choose_against, compare_frontiers
from textveil.lab.compare.front import MeanGap, Point, place_points
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import ADAPTIVE, PERPLEXITY, SIMILARITY, Reading

POINTS = {
    "old@1": (0.3, 0.4),
    "old@2": (0.5, 0.6),
    "new@1": (0.3, 0.6),
    "new@2": (0.5, 0.8),
}


def make_frontier(curves, utility=SIMILARITY, half=0.01, against=None, caveats=(), relative=False):
    """Curves from pairs of attack and utility by setting. Intervals have one width, or are a share of the utility."""
    points = []
    for setting, pairs in curves.items():
        for level, (attack, useful) in enumerate(pairs, start=1):
            readings = [
                Reading(value, None if half is None else Interval(value - width, value + width))
                for value, width in ((attack, half), (useful, (half or 0) * (useful if relative else 1)))
            ]
            points.append(Point(f"{setting}, {level}", setting, str(level), *readings))
    front = place_points((ADAPTIVE, utility), points, caveats)
    return Frontier(front, {ADAPTIVE: {}, utility: {}}, against or next(iter(curves)))


def test_a_comparison_has_a_frontier_for_every_pair():
    comparison = make_comparison(POINTS)
    frontiers = compare_frontiers(comparison)
    assert [(each.front.attack, each.front.utility) for each in frontiers] == list(comparison.pairs)
    assert list(frontiers[0].curves) == ["old", "new"]
    assert [place.level for place in frontiers[0].curves["old"]] == ["1", "2"]


def test_the_area_between_parallel_curves_is_their_distance():
    (area,) = compare_frontiers(make_comparison(POINTS), "old")[0].areas
    assert (area.setting, area.against) == ("new", "old")
    assert area.value == pytest.approx(0.2)
    assert area.verdict == 1
    assert (area.gap.low, area.gap.high) == pytest.approx((0.3, 0.5))
    (other,) = compare_frontiers(make_comparison(POINTS), "new")[0].areas
    assert other.value == pytest.approx(-0.2)
    assert other.verdict == -1


def test_a_difference_within_noise_is_no_verdict():
    (area,) = compare_frontiers(make_comparison(POINTS, half=0.3), "old")[0].areas
    assert area.verdict == 0


def test_the_area_of_a_logarithmic_utility_is_a_ratio_and_lower_is_better():
    curves = {"a": [(0.3, 800), (0.5, 200)], "b": [(0.3, 400), (0.5, 100)]}
    (area,) = make_frontier(curves, PERPLEXITY, half=0.02, relative=True).areas
    assert area.value == pytest.approx(0.5)
    assert area.verdict == 1
    assert area.as_dict()["kind"] == "ratio"
    assert area.interval.low < 0.5 < area.interval.high < 1


def test_curves_without_a_common_attack_have_no_area_and_come_last():
    frontier = make_frontier(
        {"a": [(0.1, 0.2), (0.2, 0.3)], "b": [(0.6, 0.9), (0.7, 1.0)], "c": [(0.1, 0.1), (0.2, 0.2)]}
    )
    assert [area.setting for area in frontier.areas] == ["c", "b"]
    assert frontier.areas[1].value is None
    assert frontier.areas[1].interval is None
    assert frontier.areas[1].covered == 0
    assert frontier.areas[0].covered == 1


def test_an_area_tells_how_much_of_the_range_it_covers():
    frontier = make_frontier({"a": [(0.1, 0.2), (0.5, 0.6)], "b": [(0.4, 0.5), (0.9, 0.9)]})
    assert frontier.areas[0].covered == pytest.approx(0.25)


def test_leaders_are_on_the_front_by_value_and_those_behind_are_behind_at_every_level():
    frontier = make_frontier(
        {"a": [(0.3, 0.4), (0.5, 0.6)], "b": [(0.2, 0.5), (0.4, 0.7)], "c": [(0.4, 0.1), (0.1, 0.3)]}
    )
    assert frontier.leaders == ["b", "c"]
    assert frontier.behind == ["a"]


def test_settings_are_the_same_if_they_cannot_be_told_apart_at_any_level():
    curves = {"a": [(0.3, 0.4), (0.5, 0.6)], "b": [(0.31, 0.41), (0.49, 0.61)], "c": [(0.3, 0.4), (0.5, 0.7)]}
    frontier = make_frontier(curves | {"short": [(0.3, 0.4)]})
    assert frontier.is_same("a", "b")
    assert not frontier.is_same("a", "c")
    assert not frontier.is_same("a", "short")
    assert not make_frontier(curves, half=None).is_same("a", "b")  # unknown


def test_many_settings_are_not_all_strong():
    few = {f"s{number}": [(0.5 - number / 100, 0.5)] for number in range(MOST)}
    assert make_frontier(few).strong == list(few)
    many = {f"s{number}": [(0.5 - number / 100, 0.5)] for number in range(MOST + 1)}
    assert make_frontier(many).strong == ["s0", f"s{MOST}"]


def test_it_is_plain_data():
    frontier = make_frontier({"a": [(0.3, 0.4)], "b": [(0.5, 0.6), (0.6, 0.7)]})
    found = json.loads(json.dumps(frontier.as_dict(), allow_nan=False))
    assert found["points"][0]["attack"] == {"value": 0.3, "interval": [0.29, 0.31]}
    assert found["against"] == "a"
    assert found["areas"][0]["value"] is None


def test_the_setting_to_compare_with():
    assert choose_against(["fluent", "our madlib", "madlib"], None) == "our madlib"
    assert choose_against(["b", "a"], None) == "b"
    assert choose_against(["b", "a"], "a") == "a"
    with pytest.raises(UnknownNameError, match="setting"):
        choose_against(["fluent", "madlib"], "fluen")


def test_an_area_without_an_interval_has_no_verdict():
    area = Area("a", "b", ADAPTIVE, PERPLEXITY, MeanGap(math.log(2), None, 0.1, 0.2))
    assert area.value == pytest.approx(2)
    assert area.interval is None
    assert area.verdict == 0
