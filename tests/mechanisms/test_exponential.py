"""The exponential mechanism draws from its closed form; SanText and TEM are the same distribution.

Every statistical test has a fixed seed and a false-alarm rate of ALARM, were the seed drawn anew.
"""

import numpy as np
import pytest
from scipy import special, stats

from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms import MECHANISMS, Request, exponential
from textveil.methods.mechanisms.base import Draft
from textveil.methods.mechanisms.exponential import Exponential
from textveil.randomness import SeededRandomness

ALARM = 1e-4
DRAWS = 40_000


@pytest.fixture(scope="module")
def vectors():
    matrix = np.random.default_rng(5).normal(size=(30, 5)).astype(np.float32)
    return Vectors([f"w{chr(97 + i // 6)}{chr(97 + i % 6)}" for i in range(30)], matrix, excluded=["waa"])


def count(mechanism, row, share, seed=11):
    request = Request(np.full(DRAWS, row), np.full(DRAWS, share), SeededRandomness(seed).stream(0))
    return np.bincount(mechanism.perturb([request])[0], minlength=len(mechanism.vectors))


def compare(observed, expected):
    """Chi-square test of counts against probabilities; rare outcomes are taken together."""
    likely = expected * DRAWS >= 5
    pairs = [*zip(observed[likely], expected[likely] * DRAWS, strict=True)]
    if rare := expected[~likely].sum() * DRAWS:
        pairs.append((observed[~likely].sum(), rare))
    return stats.chisquare(*zip(*pairs, strict=True)).pvalue


def transcribe(vectors, row, share, cap=np.inf):
    """The closed form, term by term."""
    place = vectors.matrix.astype(float).mean(axis=0) if row == UNKNOWN else vectors.matrix[row].astype(float)
    weights = np.zeros(len(vectors))
    for entry in vectors.writable:
        distance = np.sqrt(((vectors.matrix[entry].astype(float) - place) ** 2).sum())
        weights[entry] = np.exp(-share * min(distance, cap) / 2)
    return weights / weights.sum()


@pytest.mark.parametrize("row", [0, 7, UNKNOWN])
@pytest.mark.parametrize(("share", "cap"), [(0.0, None), (0.4, None), (3.0, None), (3.0, 2.5), (20.0, 1.0)])
def test_draws_follow_the_closed_form(vectors, row, share, cap):
    mechanism = Exponential(vectors, cap=cap)
    expected = transcribe(vectors, row, share, np.inf if cap is None else cap)
    assert compare(count(mechanism, row, share), expected) > ALARM
    places = vectors.place(np.array([row]))
    np.testing.assert_allclose(
        np.exp(mechanism.log_channel(places, np.array([share]))[0]), expected[vectors.writable], rtol=1e-4
    )


def test_the_test_would_notice_another_share(vectors):
    assert compare(count(Exponential(vectors), 7, 3.0), transcribe(vectors, 7, 3.3)) < ALARM


def test_santext_is_the_softmax_of_half_the_distances(vectors):
    distances = np.linalg.norm(vectors.matrix.astype(float)[7] - vectors.matrix[vectors.writable], axis=1)
    mechanism = MECHANISMS.load("santext")(vectors)
    observed = count(mechanism, 7, 2.0)[vectors.writable]
    assert compare(observed, special.softmax(-2.0 * distances / 2)) > ALARM


@pytest.mark.parametrize(("share", "threshold"), [(2.0, 2.0), (6.0, 2.8), (1.0, 0.1)])
def test_tem_with_its_grouped_candidate_is_the_same_distribution(vectors, share, threshold):
    """TEM as published: entries beyond the threshold are one candidate, and Gumbel noise decides."""
    distances = np.linalg.norm(vectors.matrix.astype(float)[7] - vectors.matrix[vectors.writable], axis=1)
    near = np.flatnonzero(distances <= threshold)
    far = np.flatnonzero(distances > threshold)
    scores = [*-distances[near], -threshold + 2 * np.log(len(far)) / share]
    generator = np.random.default_rng(2)
    winners = (np.array(scores) + generator.gumbel(scale=2 / share, size=(DRAWS, len(scores)))).argmax(axis=1)
    chosen = np.array([*near, UNKNOWN])[winners]
    chosen[winners == len(near)] = generator.choice(far, size=int((winners == len(near)).sum()))
    published = np.bincount(chosen, minlength=len(distances))
    ours = count(MECHANISMS.load("tem")(vectors, cap=threshold), 7, share)[vectors.writable]
    common = published + ours >= 10
    table = np.array([[*each[common], each[~common].sum()] for each in (published, ours)])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > ALARM


@pytest.mark.parametrize("cap", [-1.0, float("nan"), float("inf"), "far"])
def test_a_cap_must_be_a_distance(vectors, cap):
    with pytest.raises(ParameterError, match="`cap` of exponential must be a number from 0 to 1e"):
        Exponential(vectors, cap=cap)


def test_the_cap_bounds_any_two_chunks(vectors):
    assert Exponential(vectors, cap=2.5).bound(4.0) == 10
    assert Exponential(vectors).bound(4.0) == np.inf


@pytest.mark.parametrize(("share", "cap"), [(3.0, None), (3.0, 2.5)])
def test_a_draft_multiplies_the_probabilities_by_those_of_its_entry(vectors, share, cap):
    mechanism, limit = Exponential(vectors, cap=cap), np.inf if cap is None else cap
    expected = transcribe(vectors, 7, share, limit) * transcribe(vectors, 12, 1.5, limit)
    expected /= expected.sum()
    draft = Draft(np.full(DRAWS, 12), np.full(DRAWS, 1.5))
    request = Request(np.full(DRAWS, 7), np.full(DRAWS, share), SeededRandomness(11).stream(0), draft=draft)
    observed = np.bincount(mechanism.perturb([request])[0], minlength=len(vectors))
    assert compare(observed, expected) > ALARM
    assert compare(observed, transcribe(vectors, 7, share, limit)) < ALARM


@pytest.mark.parametrize("drafted", [False, True])
def test_chunks_are_equal_only_if_all_that_decides_is_equal(vectors, drafted, monkeypatch):
    """Equal chunks are weighed once. Those that differ in share, spelling or draft must not be taken for equal."""
    random = np.random.default_rng(4)
    rows = np.array([3, UNKNOWN, 5] * 60)
    shares = random.choice([0.5, 9.0], len(rows))
    spelled = random.normal(size=(60, vectors.dimensions))
    draft = Draft(random.integers(0, 6, len(rows)), random.choice([0.0, 1.0, 8.0], len(rows))) if drafted else None
    answers = []
    for chunks in (4096, 1):  # all chunks together, and each alone
        monkeypatch.setattr(exponential, "SORTED_CHUNKS", chunks)
        request = Request(rows, shares, SeededRandomness(2).stream(0), spelled, draft=draft)
        answers.append(Exponential(vectors).perturb([request])[0].tolist())
    assert answers[0] == answers[1]
