import numpy as np
import pytest

from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.uncertainty import (
    FEW,
    bootstrap,
    bootstrap_mean,
    bootstrap_ratio,
    describe_few,
    take_interval,
)
from textveil.randomness import SeededRandomness


@pytest.fixture
def generator():
    return SeededRandomness(7).stream(0)


def width(interval):
    return interval.high - interval.low


def test_the_interval_of_a_mean_agrees_with_the_normal_distribution(generator):
    values = generator.normal(3, 2, 400)
    error = values.std() / 20
    low, high = bootstrap_mean(values)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


def test_an_interval_covers_the_true_value_in_95_of_100_samples(generator):
    covered = sum(low <= 0.3 <= high for low, high in (bootstrap_mean(generator.random(80) < 0.3) for _ in range(200)))
    # Of 200, 190 +- 3.1 are expected. The bootstrap of 80 texts covers slightly less.
    assert 178 <= covered <= 199


def test_the_interval_is_the_same_in_every_run(generator):
    values = generator.random(30)
    assert bootstrap_mean(values) == bootstrap_mean(values)


def test_large_tables_are_resampled_in_parts(generator, monkeypatch):
    values = generator.random((50, 2))
    whole = bootstrap_mean(values)
    monkeypatch.setattr("textveil.lab.metrics.uncertainty._AT_A_TIME", 700)
    assert bootstrap_mean(values) == pytest.approx(whole, abs=0.01)  # with other random numbers


def test_draws_that_differ_widen_the_interval(generator):
    texts = generator.random((200, 1))
    alike = bootstrap_mean(np.repeat(texts, 5, axis=1))
    assert alike == pytest.approx(bootstrap_mean(texts), abs=0.01)  # more draws of the same are no more texts
    apart = bootstrap_mean(texts + np.array([-0.2, -0.1, 0.0, 0.1, 0.2]))
    # The variance of the mean of five draws is added: 0.02 / 5.
    expected = np.sqrt((width(alike) / 3.92) ** 2 + 0.02 / 5) * 3.92
    assert width(apart) == pytest.approx(expected, rel=0.1)


def test_independent_noise_is_averaged_over_draws(generator):
    noise = generator.normal(size=(300, 20))
    exact = width(bootstrap_mean(noise.mean(axis=1)))
    assert exact == pytest.approx(width(bootstrap_mean(noise[:, 0])) / np.sqrt(20), rel=0.2)
    assert exact < width(bootstrap_mean(noise)) < 2.2 * exact


def test_texts_without_a_value_are_skipped():
    values = [0.2, np.nan, 0.4, 0.9]
    assert bootstrap_mean(values) == bootstrap_mean([0.2, 0.4, 0.9])
    low, high = bootstrap_mean([[0.2, np.nan], [0.4, 0.4], [np.nan, np.nan]])
    assert 0.2 <= low < high <= 0.4


def test_one_text_has_no_interval():
    assert bootstrap_mean([0.5]) is bootstrap_mean([]) is bootstrap_mean([0.5, np.nan]) is None
    assert bootstrap_ratio([1, 0], [3, 0]) is None
    assert bootstrap_mean([1.0]) is bootstrap_ratio([3, 0], [3, 0]) is None


def test_texts_that_all_have_the_same_number_have_no_interval():
    assert bootstrap_mean([0.5] * 9) is None
    assert bootstrap_ratio([2] * 9, [4] * 9) is None


def test_shares_of_none_and_of_all_have_exact_bounds_over_texts():
    from scipy.stats import binomtest

    all_of_60 = tuple(binomtest(60, 60).proportion_ci())
    none_of_60 = tuple(binomtest(0, 60).proportion_ci())
    assert bootstrap_mean([1.0] * 60 + [np.nan]) == pytest.approx(all_of_60)
    assert bootstrap_mean(np.zeros((60, 3))) == pytest.approx(none_of_60)  # more draws are no more texts
    words = [*range(1, 61), 0]  # the last text has none
    assert bootstrap_ratio(words, words) == pytest.approx(all_of_60)
    assert bootstrap_ratio([0] * 61, words) == pytest.approx(none_of_60)


def test_words_are_resampled_with_their_text(generator):
    # Each text is either unchanged or not: 100 texts of 50 words tell as much as 100 words, not as 5000.
    unchanged = (generator.random(100) < 0.5) * 50
    by_text = bootstrap_ratio(unchanged, np.full(100, 50))
    assert by_text == bootstrap_mean(unchanged / 50)
    by_word = bootstrap_mean(np.repeat(unchanged / 50, 50))
    assert width(by_text) > 5 * width(by_word)


def test_any_statistic(generator):
    values = generator.random(500)
    low, high = bootstrap(lambda rows: np.median(rows, axis=1), values)
    assert low < np.median(values) < high
    assert width(Interval(low, high)) == pytest.approx(3.92 * 0.5 / np.sqrt(500), rel=0.3)


def test_the_central_part():
    assert take_interval(np.arange(2001.0)) == pytest.approx((50, 1950))
    assert take_interval(np.array([np.nan, 2.0, 2.0])) == (2, 2)


def test_few_texts():
    assert describe_few(FEW) == []
    (caveat,) = describe_few(FEW - 1, "pairs")
    assert caveat.startswith("Only 49 pairs")
