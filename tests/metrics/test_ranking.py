import numpy as np
import pytest

from textveil.lab.metrics.uncertainty import count_above, find_auc, find_auc_by_chance, find_aucs
from textveil.randomness import SeededRandomness


def test_ranks_count_better_and_equal_scores():
    scores = np.array([[0.5, 0.9, 0.9, 0.5, 0.1], [0.1, 0.2, 0.3, 0.4, 0.5]])
    assert count_above(scores, np.array([[0, 4], [4, 0]])).tolist() == [[[2, 1], [4, 0]], [[0, 0], [4, 0]]]
    assert count_above(np.array([[0.5, 0.5 + 1e-9]]), np.array([[0]])).tolist() == [[[0, 1]]]  # ties, but for rounding


def test_the_auc_is_that_of_sklearn():
    from sklearn.metrics import roc_auc_score

    generator = SeededRandomness(2).stream(0)
    scores = np.round(generator.random(200), 1)  # with ties
    members = generator.integers(0, 2, 200).astype(float)
    assert find_auc(scores, members) == pytest.approx(roc_auc_score(members, scores))
    assert find_auc(scores, np.ones(200)) == 0.5  # without other texts


def test_the_auc_of_several_rows():
    scores, members = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    assert find_aucs(scores, members).tolist() == [1, 0]


def test_the_interval_of_the_auc_holds_95_percent_of_random_scores():
    generator = SeededRandomness(7).stream(0)
    members = np.array([1.0] * 30 + [0.0] * 50)
    aucs = np.array([find_auc(generator.random(80), members) for _ in range(2000)])
    low, high = find_auc_by_chance(members)
    assert np.mean((low <= aucs) & (aucs <= high)) == pytest.approx(0.95, abs=0.02)


def test_the_mean_auc_of_independent_members_has_a_smaller_interval():
    generator = SeededRandomness(7).stream(0)
    scores, members = generator.random(80), np.array([1.0] * 30 + [0.0] * 50)
    means = np.array(
        [np.mean([find_auc(scores, generator.permutation(members)) for _ in range(3)]) for _ in range(700)]
    )
    low, high = find_auc_by_chance(members, seeds=3)
    assert np.mean((low <= means) & (means <= high)) == pytest.approx(0.95, abs=0.025)
