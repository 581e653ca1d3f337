import pytest

from tests.report.test_frontier import make_frontier
from textveil.lab.compare.curves import group_settings, show_area, tell_areas, tell_frontiers, tell_settings
from textveil.lab.metrics.quantities import PERPLEXITY, TASK

PARALLEL = {"old": [(0.4, 0.3), (0.6, 0.5)], "new": [(0.4, 0.5), (0.6, 0.7)]}


def test_the_front_is_named_with_numbers_and_those_behind():
    assert tell_settings(make_frontier(PARALLEL)) == [
        "On the front for adaptive attacker F1 against similarity: new (attack 40.0–60.0%, utility 0.500–0.700). "
        "Clearly behind it at every level: old."
    ]


def test_settings_that_are_the_same_within_noise_are_one_group():
    same = {f"new {number}": [(0.4, 0.5 - number / 1000), (0.6, 0.7 - number / 1000)] for number in range(1, 6)}
    frontier = make_frontier(PARALLEL | same)
    assert group_settings(frontier) == {"new": [f"new {number}" for number in range(1, 6)]}
    assert "; the same within noise: new 1, new 2 and 3 more)" in tell_settings(frontier)[0]


def test_a_setting_on_the_front_at_some_levels_is_named():
    (line,) = tell_settings(make_frontier(PARALLEL | {"mixed": [(0.4, 0.5), (0.6, 0.4)]}))
    assert "; at some levels also mixed." in line or "mixed (attack" in line


def test_only_some_groups_are_named():
    curves = {name: [(0.1 * number, 0.1 * number)] for number, name in enumerate("abcde", start=1)}
    assert "; and 2 more." in tell_settings(make_frontier(curves))[0]


def test_without_intervals_the_values_alone_are_told():
    frontier = make_frontier(PARALLEL, half=None)
    assert "by the values alone because intervals are missing: new" in tell_settings(frontier)[0]
    assert tell_areas(frontier) == [
        "At equal adaptive attacker F1, new has 0.200 more similarity than old, on average across 40.0–60.0%; "
        "intervals are missing."
    ]


def test_caveats_forbid_a_conclusion():
    frontier = make_frontier(PARALLEL, caveats=("Only 5 test texts.",))
    assert tell_frontiers([frontier]) == [
        "No conclusion is drawn about the front for adaptive attacker F1 against similarity. Only 5 test texts."
    ]


def test_one_setting_has_no_front_and_no_area():
    assert tell_frontiers([make_frontier({"old": PARALLEL["old"]})]) == []


def test_areas_in_a_sentence():
    (line,) = tell_areas(make_frontier(PARALLEL | {"worse": [(0.4, 0.1), (0.6, 0.3)]}))
    assert line.startswith("At equal adaptive attacker F1, new has 0.200 more similarity (+0.1")
    assert line.endswith(
        "than old, on average across 40.0–60.0%. Of 2 settings, 1 are clearly better than it and 1 clearly worse."
    )
    (line,) = tell_areas(make_frontier(PARALLEL, TASK))
    assert "new has 20.0 percentage points more utility F1" in line
    assert show_area(make_frontier(PARALLEL, TASK).areas[0]) == "+20.0"


def test_the_area_of_perplexity_is_a_factor():
    frontier = make_frontier({"a": [(0.3, 800), (0.5, 200)], "b": [(0.3, 400), (0.5, 100)]}, PERPLEXITY, relative=True)
    assert "b has 0.50 times the perplexity (0.4" in tell_areas(frontier)[0]
    assert "of a, on average across" in tell_areas(frontier)[0]


def test_no_difference_is_said():
    (line,) = tell_areas(make_frontier({"a": [(0.3, 0.4), (0.5, 0.6)], "b": [(0.3, 0.401), (0.5, 0.601)]}))
    assert "no setting has clearly better similarity than a: b has 0.001 more similarity" in line


@pytest.mark.parametrize("other", [[(0.8, 0.5), (0.9, 0.7)], [(0.59, 0.5), (0.9, 0.7)]])
def test_curves_with_little_in_common_are_not_compared(other):
    assert tell_areas(make_frontier({"old": PARALLEL["old"], "far": other})) == [
        "Adaptive attacker F1: no other setting covers enough of the range of old, so none is compared."
    ]


def test_points_without_levels_have_no_areas():
    assert tell_areas(make_frontier({"a": [(0.3, 0.4)], "b": [(0.3, 0.5)]})) == []
