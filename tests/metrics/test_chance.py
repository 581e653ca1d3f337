import numpy as np
import pytest

from tests.metrics.test_predictions import make_predictions
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case, Reading
from textveil.lab.metrics.classification import Predictions, Scenario, Scores, find_chance
from textveil.lab.metrics.quantities import is_chance
from textveil.randomness import SeededRandomness


def test_ten_equal_classes_have_a_tenth_by_chance():
    chance = find_chance(make_predictions())
    assert chance.value == pytest.approx(0.1, abs=0.01)
    assert 0.04 < chance.interval.low < 0.07
    assert 0.12 < chance.interval.high < 0.16


def test_what_was_learned_does_not_change_the_level():
    guessing, knowing = find_chance(make_predictions()), find_chance(make_predictions(right=0.9))
    assert knowing.value == pytest.approx(guessing.value, abs=0.01)


def test_guesses_are_at_chance_and_knowledge_is_not():
    outside = 0
    for noise in range(100):
        found = make_predictions(noise=noise)
        chance = find_chance(found)
        outside += not is_chance(Reading(found.f1), chance)
    assert outside <= 8  # 2.5 +- 1.6 are expected
    assert not is_chance(Reading(make_predictions(right=0.2).f1), chance)


def test_a_constant_prediction_is_at_chance():
    found = make_predictions()
    constant = Predictions(10, found.true, found.tested, tuple(np.zeros_like(each) for each in found.predicted))
    chance = find_chance(constant)
    assert constant.f1 == pytest.approx(0.1 * 2 / 11)  # the majority baseline
    assert is_chance(Reading(constant.f1), chance)
    # A guess of a static attacker is at chance even if the adaptive attacker predicts one class for all texts.
    assert Scores.of({"static": found, "adaptive": constant}).chance == find_chance(found)


def test_it_is_the_same_in_every_run():
    assert find_chance(make_predictions()) == find_chance(make_predictions())


def test_attackers_that_are_trained_on_permuted_labels_are_at_chance():
    generator = SeededRandomness(4).stream(0)
    authors = [f"{number % 5}" for number in range(200)]
    words = [[f"{author}{word}" for word in range(4)] + ["soup", "tea", "cake", "rain"] for author in authors]
    texts = [" ".join(generator.choice(each, 5)) for each in words]
    learned = AttributeInference(seeds=[42]).predict(case_of(texts, authors), Scenario.BASELINE)
    chance = find_chance(learned)
    assert not is_chance(Reading(learned.f1), chance)
    assert learned.f1 > 0.8
    found = [
        AttributeInference(seeds=[42])
        .predict(case_of(texts, generator.permutation(authors).tolist()), Scenario.BASELINE)
        .by_seed
        for _ in range(12)
    ]
    assert np.mean(found) == pytest.approx(chance.value, abs=0.05)
    assert sum(is_chance(Reading(f1), chance) for (f1,) in found) >= 11


def case_of(texts, authors):
    dataset = Dataset(texts, attribute=authors)
    return Case(dataset, dataset.originals)
