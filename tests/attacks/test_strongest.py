import numpy as np
import pytest

from textveil.lab.attacks.linkage import PERMUTATIONS, Success, find_chance, permute_truth, score_ranks
from textveil.lab.metrics.base import Reading
from textveil.lab.metrics.quantities import is_chance
from textveil.lab.metrics.uncertainty import count_above
from textveil.randomness import SeededRandomness


def attack(scores, codes=None):
    """The success of an attacker with a score for every text (row) and candidate (column): a class, or another text."""
    texts, candidates = scores.shape
    right = np.vstack([np.arange(texts), permute_truth(texts)]).T
    found = score_ranks(count_above(scores, right if codes is None else codes[right]), candidates)
    return Success.over(found[:, 0], found[:, 1:].sum(axis=0), candidates)


def guess(generator, texts=60):
    """An attacker that has learned nothing."""
    return attack(generator.standard_normal((texts, texts)))


def test_success_agrees_with_sklearn_on_random_scores():
    from sklearn.metrics import roc_auc_score, top_k_accuracy_score

    scores = SeededRandomness(1).stream(0).standard_normal((40, 40))
    found = attack(scores)
    aucs = [roc_auc_score(np.arange(40) == row, scores[row]) for row in range(40)]
    assert found.values["auc"].value == pytest.approx(np.mean(aucs))
    for guesses in (1, 10):
        expected = top_k_accuracy_score(np.arange(40), scores, k=guesses)
        assert found.values[f"top_{guesses}"].value == pytest.approx(expected)


def test_ties_have_the_success_of_random_guesses():
    same = attack(np.zeros((20, 20)))
    expected = {"top_1": pytest.approx(1 / 20), "top_10": pytest.approx(10 / 20), "auc": pytest.approx(0.5)}
    assert {name: each.value for name, each in same.values.items()} == expected
    chance = find_chance({"ties": same})
    assert {name: each.value for name, each in chance.items()} == expected
    assert is_chance(same.values["top_1"], chance["top_1"])
    # Two candidates are better and one other is as good: the second of ten guesses is free for one of two.
    ranks = count_above(np.array([[0.5, 0.9, 0.9, 0.5, 0.1]]), np.array([[0]]))
    assert ranks.tolist() == [[[2, 1]]]
    assert score_ranks(ranks, 5)[0, 0] == pytest.approx([0, 1, 1 - 2.5 / 4])


def test_ten_guesses_are_no_measure_of_ten_candidates():
    assert list(attack(np.eye(10)).values) == ["top_1", "auc"]
    assert list(attack(np.eye(11)).values) == ["top_1", "top_10", "auc"]


def test_every_class_counts_the_same():
    # Nine texts of the first class are right, the only one of the second is wrong.
    scores = score_ranks(np.array([[0, 0]] * 9 + [[1, 0]], dtype=float), 2)
    found = Success.over(scores, np.zeros((PERMUTATIONS, 3)), 2, codes=np.array([0] * 9 + [1]))
    assert found.values["top_1"].value == pytest.approx(0.5)


def test_the_chance_of_one_attacker_is_that_of_a_random_guess():
    found = find_chance({"only": guess(SeededRandomness(2).stream(0))})
    assert found["top_1"].value == pytest.approx(1 / 60, rel=0.15)
    assert found["top_10"].value == pytest.approx(10 / 60, rel=0.1)
    assert found["auc"].value == pytest.approx(0.5, abs=0.01)
    assert found["auc"].interval.low < 0.5 < found["auc"].interval.high


def test_the_best_of_many_attackers_that_know_nothing_is_chance():
    """The best of 40 exceeds the interval of a single one in 64 % of all cases, and that of the best in 2.5 %."""
    generator, codes = SeededRandomness(3).stream(0), np.arange(60) % 4
    alone, corrected = 0, 0
    for _ in range(12):
        found = {str(number): attack(generator.standard_normal((60, 4)), codes) for number in range(40)}
        best = max(each.order for each in found.values())[0]
        chance, single = find_chance(found)["top_1"], find_chance({"0": found["0"]})["top_1"]
        alone += best > single.interval.high
        corrected += best > chance.interval.high
        assert chance.value > single.value + 0.05
    assert alone >= 4
    assert corrected <= 1


def test_equal_attackers_need_no_correction():
    one = guess(SeededRandomness(4).stream(0))
    assert find_chance({"a": one, "b": one}) == find_chance({"a": one})


def test_attackers_are_compared_by_one_guess_and_then_by_the_auc():
    def make(top_1, auc):
        return Success({"top_1": Reading(top_1), "auc": Reading(auc)}, np.zeros((PERMUTATIONS, 3)), 9)

    assert make(0.2, 0.6).order > make(0.1, 0.9).order > make(0.1, 0.6).order


def test_permutations_are_the_same_in_every_run():
    orders = permute_truth(7)
    assert orders.shape == (PERMUTATIONS, 7)
    assert (np.sort(orders, axis=1) == np.arange(7)).all()
    assert (permute_truth(7) == orders).all()
