"""What sentences say, and when they say nothing."""

import random

import pytest

from tests.report.conftest import make_records, repeat
from tests.report.test_frontier import make_frontier
from textveil.lab.metrics.quantities import PERPLEXITY, TASK
from textveil.lab.report.findings import Advantage, analyze
from textveil.lab.report.pages import tell
from textveil.lab.report.results import Results

PARALLEL = {"old": [(0.4, 0.3), (0.6, 0.5)], "new": [(0.4, 0.5), (0.6, 0.7)]}


def test_only_gaps_of_significant_factors_are_told(example):
    strict, paper, overall = tell("gaps", example)
    assert strict.endswith("distributions do not differ significantly.")
    assert "decompositions 0.0241 (words to pos); distributions 0.0203 (uniform to yake)" in paper
    assert "profiles 0.0150 (strict to paper)" in overall


def test_advantages_that_are_noise_are_not_narrated():
    noise = random.Random(0)
    records = make_records(
        lambda dataset, level, decomposition, distribution, profile: dataset + level + noise.gauss(0, 0.01),
        profile=("strict", "paper"),
    )
    rows = [
        {**row, "words_perturbed": 90, "words_drawn": 0, "words_kept_stopword": 0, "words_kept_no_share": 0}
        | {"words_kept_unknown": 10 * (row["profile"] == "paper") + (row["distribution"] == "yake")}
        for row in records
    ]
    findings = analyze(Results.from_records(rows))
    assert any(value > 0 for advantage in findings.advantages for value in advantage.by_setting.values())
    assert not any(" better than " in line for line in tell("clear", findings))


def test_an_advantage_is_told_with_what_is_left_of_it():
    shares, sure = {"x": 0.3, "y": 0.0}, {"x": True, "y": True}
    (line,) = tell("advantage", Advantage("distribution", "ic", {"x": 0.2, "y": 0.05}, shares, sure))
    assert "0.2000 better than the other distributions under x, with 30.0%" in line
    assert line.endswith("Under y, with 0.0%, the difference is +0.0500.")
    (line,) = tell("advantage", Advantage("distribution", "ic", {"x": 0.2, "y": 0.05}, shares, {"x": True}))
    assert line.endswith("+0.0500, which cannot be told from chance.")
    assert tell("advantage", Advantage("distribution", "ic", {"x": -0.2, "y": 0.05}, shares, sure)) == []


def test_values_that_cannot_be_told_from_chance_are_counted(example):
    """The interval of chance ends at 0.53. That of the label is not known."""
    static, adaptive = tell("chance", example.results)
    near = int((example.results.frame["adaptive_f1"] <= 0.53).sum())
    assert 0 < near < 108
    assert adaptive.startswith(f"Adaptive attacker F1: {near} of 108 cells cannot be told from chance")
    assert "of 108 cells" in static


def test_ranks_that_depend_on_the_data_set_are_told(example, records):
    assert tell("datasets", example.settings[0]) == ["No factor interacts significantly with the data set."]
    found = analyze(Results.from_records(records)).settings[0]
    assert tell("datasets", found)[0].startswith("The effect depends on the data set: distribution (F = ")


def test_pairs_that_differ_are_counted(example):
    strict, paper = example.settings
    assert tell("pairs", strict) == ["None of the 36 pairs differ significantly."]
    assert tell("pairs", paper) == ["14 of the 36 pairs differ significantly, by more than 0.0192."]


def test_noise_is_told_beside_the_residual(records):
    for noise, rest in ((0.1, "cannot be told from noise"), (0.0001, "a difference between data sets and levels")):
        (setting,) = analyze(Results.from_records(repeat(records, noise=noise))).settings
        assert rest in tell("noise", setting)[0]
    (setting,) = analyze(Results.from_records(records)).settings
    assert tell("noise", setting) == []


def test_settings_that_are_the_same_within_noise_are_one_group():
    same = {f"new {number}": PARALLEL["new"] for number in range(1, 6)}
    frontier = make_frontier(PARALLEL | same)
    assert frontier.groups == {"new": [f"new {number}" for number in range(1, 6)]}
    assert "the same within noise: new 1, new 2, new 3 and 2 more" in tell("curve", frontier)[0]


def test_the_settings_on_the_front_are_told_first():
    front, areas = tell("curve", make_frontier(PARALLEL | {"worse": [(0.4, 0.1), (0.6, 0.3)]}))
    assert ": new (attack 40.0% to 60.0%, utility 0.500 to 0.700). " in front
    assert front.endswith("Clearly behind it at every level: old, worse.")
    assert "similarity of new compared with old: +0.200 (+0.1" in areas
    assert areas.endswith(
        "on average across 40.0% to 60.0%. Of 2 settings, 1 are clearly better than old and 1 clearly worse."
    )


def test_without_intervals_the_values_alone_are_told():
    front, areas = tell("curve", make_frontier(PARALLEL, half=None))
    assert "by the values alone because intervals are missing: new" in front
    assert areas.endswith("Intervals are missing.")


def test_caveats_forbid_a_conclusion():
    (line,) = tell("curves", [make_frontier(PARALLEL, caveats=("Only 5 test texts.",))])
    assert line.startswith("No conclusion")
    assert line.endswith("Only 5 test texts.")


@pytest.mark.parametrize("curves", [{"old": PARALLEL["old"]}, {"a": [(0.3, 0.4)], "b": [(0.3, 0.5)]}])
def test_one_setting_and_points_without_levels_have_no_areas(curves):
    assert tell("areas", make_frontier(curves)) == []


def test_a_difference_has_its_unit():
    assert "+20.0 points (" in tell("areas", make_frontier(PARALLEL, TASK))[0]
    curves = {"a": [(0.3, 800), (0.5, 200)], "b": [(0.3, 400), (0.5, 100)]}
    assert "0.50 times (0.4" in tell("areas", make_frontier(curves, PERPLEXITY, relative=True))[0]


@pytest.mark.parametrize("other", [[(0.8, 0.5), (0.9, 0.7)], [(0.59, 0.5), (0.9, 0.7)]])
def test_curves_with_little_in_common_are_not_compared(other):
    (line,) = tell("areas", make_frontier({"old": PARALLEL["old"], "far": other}))
    assert "no other setting covers enough of the range of old" in line
