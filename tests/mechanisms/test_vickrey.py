"""Vickrey against a plain transcription, and the reason why it has no guarantee."""

import numpy as np
import pytest
from scipy import stats

from textveil.bundles.vectors import Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.vickrey import Vickrey
from textveil.randomness import SeededRandomness

DRAWS = 20_000
generator = np.random.default_rng(6)
MATRIX = generator.normal(size=(20, 3)).astype(np.float32)
VECTORS = Vectors([f"w{chr(97 + n)}" for n in range(20)], MATRIX)


def count(row, share, threshold=0.5):
    request = Request(np.full(DRAWS, row), np.full(DRAWS, share), SeededRandomness(1).stream(0))
    return np.bincount(Vickrey(VECTORS, threshold=threshold).perturb([request])[0], minlength=20)


@pytest.mark.parametrize(("share", "threshold"), [(1.0, 0.5), (6.0, 0.2), (6.0, 0.0), (3.0, 1.0)])
def test_draws_are_those_of_the_published_mechanism(share, threshold):
    normal = generator.normal(size=(DRAWS, 3))
    noise = normal / np.linalg.norm(normal, axis=1)[:, None] * generator.gamma(3, 1 / share, size=(DRAWS, 1))
    distances = np.linalg.norm((MATRIX[3] + noise)[:, None] - MATRIX[None], axis=2)
    published = np.zeros(20, dtype=int)
    for line, uniform in zip(distances, generator.random(DRAWS), strict=True):
        first, second = [entry for entry in np.argsort(line) if entry != 3][:2]
        weight = (1 - threshold) * line[second] / (threshold * line[first] + (1 - threshold) * line[second])
        published[first if uniform < weight else second] += 1
    ours = count(3, share, threshold)
    common = published + ours >= 10
    table = np.array([[*counts[common], counts[~common].sum()] for counts in (published, ours)])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > 1e-4


def test_a_chunk_never_becomes_itself_but_others_become_it():
    """So the ratio of two probabilities has no bound, whatever the share and the distance."""
    neighbor = int(np.argsort(np.linalg.norm(MATRIX - MATRIX[3], axis=1))[1])
    assert count(3, 2.0)[3] == 0
    assert count(neighbor, 2.0)[3] > DRAWS / 20


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_is_from_zero_to_one(threshold):
    with pytest.raises(ParameterError, match="`threshold` of vickrey must be a number from 0 to 1"):
        Vickrey(VECTORS, threshold=threshold)
