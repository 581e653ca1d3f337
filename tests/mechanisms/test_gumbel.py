"""The truncated Gumbel mechanism against a plain transcription, and the reason why it has no guarantee."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import lambertw

from textveil.bundles.vectors import Vectors
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.gumbel import Gumbel, solve_lambert
from textveil.randomness import SeededRandomness

DRAWS = 5_000
generator = np.random.default_rng(7)
MATRIX = generator.normal(size=(60, 3)).astype(np.float32)
NAMES = [f"w{chr(97 + n // 10)}{chr(97 + n % 10)}" for n in range(60)]
VECTORS = Vectors(NAMES, MATRIX)


def count(row, share):
    request = Request(np.full(DRAWS, row), np.full(DRAWS, share), SeededRandomness(1).stream(0))
    return np.bincount(Gumbel(VECTORS).perturb([request])[0], minlength=60)


@pytest.mark.parametrize("share", [150.0, 400.0])
def test_draws_are_those_of_the_published_mechanism(share):
    pairs = np.linalg.norm(MATRIX[:, None] - MATRIX[None], axis=2)
    smallest, largest = pairs[pairs > 0].min(), pairs.max()
    excess = (share - 2 * (1 + np.log(60)) / smallest) / 3
    scale = 2 * largest / min(lambertw(2 * excess * largest).real, np.log(excess * smallest))
    assert Gumbel(VECTORS).find_scale(share) == pytest.approx(scale, rel=1e-4)
    order = np.argsort(pairs[3])
    published = np.zeros(60, dtype=int)
    for _ in range(DRAWS):
        number = 0
        while not 1 <= number <= 60:
            number = generator.poisson(np.log(60))
        noise = np.full(number, np.inf)
        while (late := np.abs(noise) > largest).any():
            noise[late] = generator.gumbel(scale=scale, size=late.sum())
        near = order[:number]
        published[near[(pairs[3][near] + noise).argmin()]] += 1
    ours = count(3, share)
    common = published + ours >= 10
    table = np.array([[*counts[common], counts[~common].sum()] for counts in (published, ours)])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > 1e-4


def test_an_entry_may_be_possible_for_one_chunk_and_impossible_for_another():
    """Only the nearest entries are candidates, and they depend on the input: the ratio has no bound."""
    line = Vectors(NAMES, np.linspace(0, 100, 60, dtype=np.float32)[:, None])

    def count_on_line(row):
        request = Request(np.full(DRAWS, row), np.full(DRAWS, 30.0), SeededRandomness(1).stream(0))
        return np.bincount(Gumbel(line).perturb([request])[0], minlength=60)

    near, far = count_on_line(0), count_on_line(59)
    assert near[0] > DRAWS / 10
    assert far[0] == 0


def test_a_share_below_the_formula_has_uniform_noise():
    assert Gumbel(VECTORS).find_scale(0.1) == np.inf
    assert (count(3, 0.1) > 0).sum() > 3


@pytest.mark.parametrize("value", [1e-6, 0.5, 3.0, 1e6])
def test_lambert_solves_its_equation(value):
    solution = solve_lambert(value)
    assert solution * np.exp(solution) == pytest.approx(value)
    assert solution == pytest.approx(lambertw(value).real)
