import numpy as np
import pytest

from textveil.lab.metrics.classification import Predictions, count, macro_f1, score_samples, split_resamples
from textveil.lab.metrics.dataset import Classes
from textveil.randomness import SeededRandomness


def make_predictions(size=600, classes=10, right=0.0, seeds=(42, 43, 44), noise=1):
    """Predictions of which a share is right on purpose; the others are drawn at random."""
    generator = SeededRandomness(noise).stream(0)
    found = Classes.of([f"{number % classes:03}" for number in range(size)], range(size), "author")
    tests = [found.split(seed).test for seed in seeds]
    predicted = [
        np.where(generator.random(len(test)) < right, found.codes[test], generator.integers(classes, size=len(test)))
        for test in tests
    ]
    return Predictions.of(found, tests, predicted)


def test_macro_f1_by_hand():
    # Class 0: precision 1/2, recall 1; class 1: 1, 1/2; class 2 is never right.
    assert macro_f1([0, 1, 1, 2], [0, 0, 1, 0], 3) == pytest.approx((2 / 4 + 2 / 3 + 0) / 3)
    assert macro_f1([0, 1], [0, 1], 2) == 1


def test_samples_are_scored_as_scikit_learn_scores_them():
    generator = SeededRandomness(2).stream(0)
    labels, predicted = generator.integers(4, size=(20, 50)), generator.integers(4, size=50)
    weights = generator.integers(1, 4, size=(20, 50)).astype(float)
    for row, f1 in enumerate(score_samples(labels, predicted, 4)):
        assert f1 == pytest.approx(macro_f1(labels[row], predicted, 4))
    for row, f1 in enumerate(score_samples(labels, predicted, 4, weights)):
        repeats = weights[row].astype(int)
        assert f1 == pytest.approx(macro_f1(labels[row].repeat(repeats), predicted.repeat(repeats), 4))


def test_a_class_that_a_sample_lacks_does_not_count():
    assert score_samples(np.array([[0, 0, 1]]), np.array([0, 0, 1]), 3).tolist() == [1]
    assert count(np.array([[0, 0, 1]]), 3, np.array([[2.0, 1.0, 5.0]])).tolist() == [[3, 5, 0]]


def test_the_f1_is_the_mean_of_the_seeds():
    found = make_predictions(right=0.5)
    assert found.f1 == pytest.approx(sum(found.by_seed) / 3)
    assert found.score_labels(found.true[None, :]) == pytest.approx(found.f1)
    assert 140 < found.texts < 180  # a tenth for each of three seeds, some of them twice


def test_the_interval_covers_the_f1_of_new_texts():
    # The true F1 is the one on very many texts.
    true = make_predictions(size=60_000, right=0.4, noise=9).f1
    intervals = [make_predictions(right=0.4, noise=noise).find_interval() for noise in range(60)]
    covered = sum(low <= true <= high for low, high in intervals)
    assert 52 <= covered <= 60  # 57 +- 1.7 are expected


def test_the_interval_of_a_ratio_covers_that_of_new_texts_and_is_narrow_for_predictions_that_agree():
    classes = Classes.of(["a", "b"] * 200, range(400), "label")
    everything = [np.arange(400)]

    def draw(noise):
        """Predictions that are right in four of five texts, and others that are also wrong where these are."""
        errors = SeededRandomness(noise).stream(0).random(400)
        both = [np.where(errors < share, 1 - classes.codes, classes.codes) for share in (0.2, 0.28)]
        return [Predictions.of(classes, everything, [each]) for each in both]

    pairs = [draw(noise) for noise in range(60)]
    intervals = [worse.find_ratio(better) for better, worse in pairs]
    assert 52 <= sum(low <= 0.72 / 0.8 <= high for low, high in intervals) <= 60  # 57 +- 1.7 are expected
    better, worse = pairs[0]
    alone = worse.find_interval()
    assert intervals[0].high - intervals[0].low < (alone.high - alone.low) / better.f1
    assert better.find_ratio(better).low > 0.98


def test_the_interval_surrounds_the_f1_for_small_classes_too():
    found = make_predictions(size=2000, classes=100, right=0.8)
    low, high = found.find_interval()
    assert low < found.f1 < high


def test_more_texts_have_a_narrower_interval():
    narrow, wide = (make_predictions(size=size, right=0.5).find_interval() for size in (4000, 400))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_predictions_without_an_error_are_not_certain():
    found = make_predictions(size=60, classes=2, right=1.0)
    assert found.f1 == 1
    low, high = found.find_interval()
    assert high == 1
    assert low == pytest.approx(0.025 ** (1 / found.texts))


def test_one_seed_has_an_interval():
    low, high = make_predictions(right=0.5, seeds=[42]).find_interval()
    assert high - low > 0.1


def test_time_and_memory_are_bounded():
    assert sum(split_resamples(100)) == 1000
    assert len(split_resamples(100)) == 1
    assert max(split_resamples(100_000)) == 20
    assert sum(split_resamples(100_000)) == 200
