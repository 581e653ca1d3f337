"""Vectors of a real sentence encoder, and vectors that are joined."""

import numpy as np
import pytest

from tests.conftest import random_matrix
from textveil.bundles.vectors import find_unit
from textveil.lab.corpus.training import embed_entries, join_vectors
from textveil.models.files import ModelFiles


def test_an_encoder_reads_entries_as_they_are_spoken(minilm):
    told = []
    entries = ["new_york", "boston", "teapot"]
    matrix = embed_entries(ModelFiles.find(minilm), entries, lambda *values: told.append(values))
    assert matrix.shape == (3, 384)
    distances = np.linalg.norm(matrix - matrix[0], axis=1)
    assert distances[1] < distances[2]
    alone = embed_entries(ModelFiles.find(minilm), ["new york"])
    np.testing.assert_allclose(matrix[0], alone[0], atol=1e-6)
    assert told == [("encoding", 3, 1.0)]


def test_a_projection_keeps_what_varies_most():
    matrix = random_matrix(200, 5) * np.array([9, 5, 0.1, 0.1, 0.1], dtype=np.float32)
    projected = join_vectors([matrix], 2)
    assert projected.shape == (200, 2)
    exact = np.linalg.norm(matrix[:50] - matrix[50:100], axis=1) / find_unit(matrix)
    np.testing.assert_allclose(np.linalg.norm(projected[:50] - projected[50:100], axis=1), exact, atol=0.05)


@pytest.mark.parametrize("factor", [1, 1000])
def test_joined_vectors_count_the_same_whatever_their_scale(factor):
    one, two = random_matrix(100, 3), random_matrix(100, 4, seed=5)
    joined = join_vectors([one, factor * two], 7)
    exact = np.concatenate([one / find_unit(one), two / find_unit(two)], axis=1)
    np.testing.assert_allclose(
        np.linalg.norm(joined[:50] - joined[50:], axis=1), np.linalg.norm(exact[:50] - exact[50:], axis=1), rtol=1e-4
    )


def test_there_are_no_more_dimensions_than_before():
    assert join_vectors([random_matrix(20, 3)], 64).shape == (20, 3)
