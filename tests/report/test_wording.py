import random

from tests.report.conftest import make_records, repeat
from textveil.lab.report.findings import Advantage, analyze
from textveil.lab.report.results import Results
from textveil.lab.report.wording import (
    tell_advantage,
    tell_chance,
    tell_clear,
    tell_datasets,
    tell_effects,
    tell_gaps,
    tell_noise,
    tell_pairs,
)


def test_effects_in_words(example):
    assert tell_effects(example.settings[0]) == (
        "The decomposition has a significant effect (F = 5.86, p = 0.006); the distribution has no significant effect "
        "(F = 0.73, p = 0.490); their interaction has no significant effect (F = 0.58, p = 0.679)."
    )


def test_gaps_in_words(example, records):
    assert tell_gaps(example)[1] == (
        "Profile paper: range of mean relative gain: decompositions 0.0241 (words to pos); distributions 0.0203 "
        "(uniform to yake)."
    )
    assert tell_gaps(analyze(Results.from_records(records)))[0].startswith(
        "Range of mean relative gain: decompositions"
    )


def test_gaps_that_are_noise_are_not_narrated(example):
    assert tell_gaps(example)[0].endswith("distributions do not differ significantly.")


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
    assert not any(" better than " in line for line in tell_clear(findings))


def test_an_advantage_that_remains_is_told_with_its_loss():
    shares = {"x": 0.3, "y": 0.0}
    both = Advantage("distribution", "ic", {"x": 0.2, "y": 0.05}, shares, {"x": True, "y": True})
    worse = Advantage("distribution", "ic", {"x": 0.2, "y": -0.05}, shares, {"x": True, "y": True})
    assert tell_advantage(both).endswith("Under y, with 0.0%, 75% of the advantage is gone (+0.0500).")
    assert tell_advantage(worse).endswith("Under y, with 0.0%, it is worse than the others (-0.0500).")


def test_values_that_cannot_be_told_from_chance_are_counted(example):
    """The interval of chance ends at 0.53. That of the label is not known."""
    static, adaptive = tell_chance(example.results)
    near = int((example.results.frame["adaptive_f1"] <= 0.53).sum())
    assert 0 < near < 108
    assert adaptive.startswith(f"Adaptive attacker F1: {near} of 108 cells cannot be told from chance")
    assert "of 108 cells" in static
    high = example.results.frame.assign(static_f1=0.9)
    assert tell_chance(Results(high))[0] == "Static attacker F1: all 108 cells exceed chance."


def test_ranks_that_depend_on_the_data_set_are_told(example, records):
    assert tell_datasets(example.settings[0]) == "No factor interacts significantly with the data set."
    found = analyze(Results.from_records(records)).settings[0]
    assert tell_datasets(found).startswith("The effect depends on the data set: distribution (F = ")


def test_pairs_in_words(example):
    strict, paper = example.settings
    assert tell_pairs(strict) == "None of the 36 pairs differ significantly."
    assert tell_pairs(paper) == (
        "14 of the 36 pairs differ significantly, by more than 0.0192. words is the lower one in 10 of them."
    )


def test_words_in_clear_in_words(example):
    strict, paper, pos, yake = tell_clear(example)
    assert strict == "Profile strict: the share of words in clear is the same in all cells of a data set and level."
    assert paper.startswith(
        "Profile paper: within data sets and levels, the share of words in clear explains 65% of the variance"
    )
    assert paper.endswith("ten percentage points more correspond to +0.0092.")
    assert pos == (
        "pos is 0.0200 better than the other decompositions under profile paper, with 33.0% of its words in clear. "
        "Under profile strict, with 0.0%, no advantage can be told from chance (+0.0004)."
    )
    assert yake.startswith("yake is 0.0171 better than the other distributions under profile paper")


def test_the_published_pairs_in_words(published):
    assert "keybert is the lower one in 20 of them" in tell_pairs(published.settings[0])


def test_noise_is_told_beside_the_residual(records):
    (setting,) = analyze(Results.from_records(repeat(records, noise=0.1))).settings
    said = tell_noise(setting)
    assert said.startswith("Noise: over draws, the value of a cell has a standard deviation of 0.0")
    assert "The residual cannot be told from noise (p = " in said
    (setting,) = analyze(Results.from_records(repeat(records, noise=0.0001))).settings
    assert "% of the residual variance. The rest is a difference between data sets and levels" in tell_noise(setting)
    (setting,) = analyze(Results.from_records(records)).settings
    assert tell_noise(setting) == ""
