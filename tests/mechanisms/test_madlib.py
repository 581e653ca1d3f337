"""Madlib is the mechanism of Feyisetan et al.: noise, then the nearest entry.

Every statistical test has a fixed seed and a false-alarm rate of ALARM, were the seed drawn anew.
"""

import numpy as np
import pytest
from scipy import stats

from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.madlib import Madlib, draw_ranks
from textveil.randomness import SeededRandomness

ALARM = 1e-4
DRAWS = 20_000


def draw(vectors: Vectors, row: int, share: float, *, draws: int = DRAWS, seed: int = 11) -> np.ndarray:
    request = Request(np.full(draws, row), np.full(draws, share), SeededRandomness(seed).stream(0))
    return Madlib(vectors).perturb([request])[0]


class NoisyPoints(Vectors):
    """Keeps the noisy points that a mechanism looks up."""

    def nearest(self, points, weights):
        self.noise = points / weights[:, None] - self.matrix[0]
        return super().nearest(points, weights)


@pytest.mark.parametrize("dimensions", [1, 3, 300])
@pytest.mark.parametrize("share", [0.05, 1.0, 40.0])
def test_the_length_of_the_noise_is_gamma(dimensions, share):
    vectors = NoisyPoints(["here"], np.full((1, dimensions), 0.5, dtype=np.float32))
    draw(vectors, 0, share)
    lengths = np.linalg.norm(vectors.noise, axis=1)
    assert stats.kstest(lengths, stats.gamma(dimensions, scale=1 / share).cdf).pvalue > ALARM


def test_the_direction_of_the_noise_is_uniform():
    vectors = NoisyPoints(["here"], np.zeros((1, 3), dtype=np.float32))
    draw(vectors, 0, 1.0)
    directions = vectors.noise / np.linalg.norm(vectors.noise, axis=1)[:, None]
    # On a sphere in three dimensions, every coordinate is uniform on [-1, 1] (Archimedes); so is any projection.
    for axis in (np.eye(3)[0], np.eye(3)[2], np.ones(3) / np.sqrt(3)):
        assert stats.kstest(directions @ axis, stats.uniform(-1, 2).cdf).pvalue > ALARM


@pytest.mark.parametrize("row", [0, 2, 5, UNKNOWN])
@pytest.mark.parametrize("share", [0.2, 1.0, 4.0])
def test_in_one_dimension_the_probabilities_are_those_of_laplace(row, share):
    places = np.array([-2.0, -0.5, 0.0, 0.25, 1.5, 3.0])
    vectors = Vectors(list("abcdef"), places[:, None].astype(np.float32))
    centre = places.mean() if row == UNKNOWN else places[row]
    borders = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2, [np.inf]])
    expected = np.diff(stats.laplace(centre, 1 / share).cdf(borders))
    observed = np.bincount(draw(vectors, row, share), minlength=len(places))
    likely = expected * DRAWS >= 5
    rest = [observed[~likely].sum()] if not likely.all() else []
    rest_expected = [expected[~likely].sum() * DRAWS] if not likely.all() else []
    test = stats.chisquare([*observed[likely], *rest], [*(expected[likely] * DRAWS), *rest_expected])
    assert test.pvalue > ALARM


@pytest.mark.parametrize("share", [0.3, 2.0, 10.0])
def test_in_five_dimensions_the_choice_is_that_of_the_textbook(share):
    generator = np.random.default_rng(5)
    matrix = generator.normal(size=(40, 5)).astype(np.float32)
    observed = np.bincount(draw(Vectors([f"w{i}" for i in range(40)], matrix), 3, share), minlength=40)
    normal = generator.multivariate_normal(np.zeros(5), np.eye(5), size=DRAWS)
    noise = normal / np.linalg.norm(normal, axis=1)[:, None] * generator.gamma(5, 1 / share, size=(DRAWS, 1))
    distances = np.linalg.norm((matrix[3] + noise)[:, None] - matrix[None], axis=2)
    textbook = np.bincount(distances.argmin(axis=1), minlength=40)
    assert two_sample_pvalue(observed, textbook) > ALARM


def two_sample_pvalue(first: np.ndarray, second: np.ndarray) -> float:
    """Chi-square test that two tables of counts have one distribution; rare outcomes are taken together."""
    common = first + second >= 10
    table = np.array([[*counts[common], counts[~common].sum()] for counts in (first, second)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def test_the_test_would_notice_another_share():
    matrix = np.random.default_rng(5).normal(size=(40, 5)).astype(np.float32)
    vectors = Vectors([f"w{i}" for i in range(40)], matrix)
    counts = [np.bincount(draw(vectors, 3, share, seed=s), minlength=40) for share, s in ((2.0, 1), (2.2, 2), (2.0, 3))]
    assert two_sample_pvalue(counts[0], counts[1]) < ALARM
    assert two_sample_pvalue(counts[0], counts[2]) > ALARM


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_the_guarantee_holds_between_neighbours(share):
    """The probabilities of an output differ by at most exp(share * distance): checked where they are exact."""
    places = np.array([-2.0, -0.5, 0.0, 0.25, 1.5, 3.0])
    vectors = Vectors(list("abcdef"), places[:, None].astype(np.float32))
    draws = 200_000
    rates = {row: (np.bincount(draw(vectors, row, share, draws=draws), minlength=6) + 1) / draws for row in (1, 3)}
    bound = np.exp(share * abs(places[1] - places[3]))
    often = np.maximum(rates[1], rates[3]) > 1e-3
    # Four standard errors of slack for rates that are estimated.
    slack = 1 + 4 * np.sqrt(1 / (rates[1][often] * draws) + 1 / (rates[3][often] * draws))
    assert (rates[1][often] / rates[3][often] <= bound * slack).all()
    assert (rates[3][often] / rates[1][often] <= bound * slack).all()


def test_ranks_have_a_truncated_geometric_distribution():
    uniforms = np.random.default_rng(1).random(DRAWS)
    for decay in (0.0, 1e-13, 0.3, 4.0):
        observed = np.bincount(draw_ranks(np.full(DRAWS, decay), 8, uniforms), minlength=8)
        expected = np.exp(-decay * np.arange(8))
        expected *= DRAWS / expected.sum()
        likely = expected >= 5
        rest = [(observed[~likely].sum(), expected[~likely].sum())] if not likely.all() else []
        pairs = [*zip(observed[likely], expected[likely], strict=True), *rest]
        assert stats.chisquare(*zip(*pairs, strict=True)).pvalue > ALARM


def test_with_a_rank_decay_neighbors_of_the_nearest_entry_are_written():
    """At a huge share the nearest entry is the input, so that only the rank is random."""
    places = np.array([0.0, 1.0, 3.0, 7.0, 15.0])
    vectors = Vectors(list("abcde"), places[:, None].astype(np.float32))
    share, decay = 1e6, 0.7e-6
    request = Request(np.full(DRAWS, 1), np.full(DRAWS, share), SeededRandomness(3).stream(0))
    observed = np.bincount(Madlib(vectors, rank_decay=decay).perturb([request])[0], minlength=5)
    expected = np.exp(-share * decay * np.array([1, 0, 2, 3, 4]))  # b, then a, c, d, e by distance
    assert stats.chisquare(observed, DRAWS * expected / expected.sum()).pvalue > ALARM


def test_without_a_rank_decay_the_stream_is_what_it_was():
    vectors = Vectors(list("abc"), np.eye(3, dtype=np.float32))
    one, other = (Madlib(vectors, rank_decay=decay) for decay in (None, 1e9))
    request = [Request(np.zeros(50, int), np.full(50, 2.0), SeededRandomness(3).stream(0)) for _ in range(2)]
    assert one.perturb(request[:1])[0].tolist() != other.perturb(request[1:])[0].tolist()
