from textveil.analysis import Results, analyze
from textveil.analysis.wording import tell_clear, tell_effects, tell_gaps, tell_pairs


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


def test_pairs_in_words(example):
    strict, paper = example.settings
    assert tell_pairs(strict.comparisons) == "None of the 36 pairs differ significantly."
    assert tell_pairs(paper.comparisons) == (
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
        "pos is 0.0200 better than the other decompositions under profile paper, with 33.0% of its words in clear, and "
        "+0.0004 under profile strict, with 0.0%: 98% of it is gone."
    )
    assert yake.startswith("yake is 0.0171 better than the other distributions under profile paper")


def test_the_published_pairs_in_words(published):
    assert "keybert is the lower one in 20 of them" in tell_pairs(published.settings[0].comparisons)
