"""The Mahalanobis mechanism against a plain transcription of the published one."""

import numpy as np
import pytest
from scipy import stats

from textveil.bundles.vectors import Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.madlib import Madlib
from textveil.methods.mechanisms.mahalanobis import Mahalanobis
from textveil.randomness import SeededRandomness

DRAWS = 20_000
generator = np.random.default_rng(5)
MATRIX = (generator.normal(size=(40, 4)) * [4.0, 2.0, 1.0, 0.3]).astype(np.float32)
VECTORS = Vectors([f"w{chr(97 + n // 8)}{chr(97 + n % 8)}" for n in range(40)], MATRIX)


def count(mechanism, share):
    request = Request(np.full(DRAWS, 3), np.full(DRAWS, share), SeededRandomness(1).stream(0))
    return np.bincount(mechanism.perturb([request])[0], minlength=40)


def two_sample_pvalue(first, second):
    common = first + second >= 10
    table = np.array([[*counts[common], counts[~common].sum()] for counts in (first, second)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


@pytest.mark.parametrize("share", [0.5, 3.0])
@pytest.mark.parametrize("blend", [0.2, 0.9])
def test_draws_are_those_of_the_published_mechanism(share, blend):
    from scipy.linalg import sqrtm

    covariance = np.cov(MATRIX, rowvar=False, bias=True)
    covariance *= 4 / np.trace(covariance)
    normal = generator.normal(size=(DRAWS, 4))
    directions = normal / np.linalg.norm(normal, axis=1)[:, None]
    noise = (
        generator.gamma(4, 1 / share, size=(DRAWS, 1))
        * directions
        @ sqrtm(blend * covariance + (1 - blend) * np.eye(4))
    )
    nearest = np.linalg.norm((MATRIX[3] + noise)[:, None] - MATRIX[None], axis=2).argmin(axis=1)
    published = np.bincount(nearest, minlength=40)
    assert two_sample_pvalue(count(Mahalanobis(VECTORS, blend=blend), share), published) > 1e-4


def test_the_shape_of_the_noise_matters():
    assert two_sample_pvalue(count(Mahalanobis(VECTORS, blend=0.9), 1.0), count(Madlib(VECTORS), 1.0)) < 1e-4


def test_without_covariance_it_is_madlib():
    np.testing.assert_array_equal(count(Mahalanobis(VECTORS, blend=0), 1.0), count(Madlib(VECTORS), 1.0))


def test_the_distances_of_the_guarantee_are_those_of_the_norm():
    mechanism = Mahalanobis(VECTORS, blend=0.5)
    difference = (MATRIX[3] - MATRIX[7]).astype(float)
    covariance = np.cov(MATRIX, rowvar=False, bias=True)
    shape = 0.5 * covariance * 4 / np.trace(covariance) + 0.5 * np.eye(4)
    expected = np.sqrt(difference @ np.linalg.inv(shape) @ difference)
    assert np.linalg.norm(mechanism.space.matrix[3] - mechanism.space.matrix[7]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("blend", [-0.1, 1.0, float("nan")])
def test_a_blend_is_from_zero_to_below_one(blend):
    with pytest.raises(ParameterError, match="`blend` of mahalanobis must be a number from 0 to 0.999"):
        Mahalanobis(VECTORS, blend=blend)
