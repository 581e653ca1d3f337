"""Approximate search, compared with an exact one."""

import numpy as np
import pytest

from textveil.bundles import cell_index as module
from textveil.bundles.bundle import Bundle
from textveil.bundles.cell_index import CellIndex
from textveil.bundles.exact_index import ExactIndex
from textveil.randomness import SeededRandomness


def standard_normal(*shape, seed=1):
    return SeededRandomness(seed).stream(0).standard_normal(shape)


@pytest.fixture(scope="module")
def matrix():
    """Three thousand vectors around sixty places."""
    places = 2 * standard_normal(60, 10)
    return (places[np.arange(3000) % 60] + 0.5 * standard_normal(3000, 10, seed=2)).astype(np.float32)


@pytest.fixture(scope="module")
def points(matrix):
    """Points with little and with much noise, and directions."""
    weights = np.repeat([1.0, 0.5, 0.01, 0.0], 100)
    points = matrix[:400] * weights[:, None] + (1 - weights)[:, None] * standard_normal(400, 10, seed=3)
    return points, weights


def test_all_lists_together_give_the_exact_answer(matrix, points):
    index = CellIndex(matrix)
    np.testing.assert_array_equal(index.search(*points, probes=10**9), ExactIndex(matrix).search(*points))


def test_more_lists_find_the_nearest_entry_more_often(matrix, points):
    index, exact = CellIndex(matrix), ExactIndex(matrix).search(*points)
    recall = [np.mean(index.search(*points, probes=probes) == exact) for probes in (1, 8, 32, len(index))]
    assert recall[0] < recall[1] < recall[2] <= recall[3] == 1
    assert recall[2] > 0.9
    np.testing.assert_array_equal(index.search(points[0][:100], np.ones(100), probes=8), np.arange(100))  # no noise


def test_the_answer_does_not_depend_on_the_batch(matrix, points):
    doubled = np.concatenate([matrix, matrix])  # every entry twice: all queries are doubtful
    index = CellIndex(doubled)
    expected = index.search(*points, probes=5)
    for size in (1, 7, 399):
        parts = [index.search(points[0][i : i + size], points[1][i : i + size], probes=5) for i in range(0, 400, size)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)
    np.testing.assert_array_equal(CellIndex(doubled).search(*points, probes=5), expected)  # built again
    assert len(index.search(points[0][:0], points[1][:0])) == 0


def test_the_cells_do_not_depend_on_the_size_of_tiles(matrix, points, monkeypatch):
    expected = CellIndex(matrix).search(*points, probes=3)
    monkeypatch.setattr(module, "_BATCH_ENTRIES", 100)
    np.testing.assert_array_equal(CellIndex(matrix).search(*points, probes=3), expected)


def test_every_entry_is_in_one_list(matrix):
    index = CellIndex(matrix)
    assert sorted(index._order.tolist()) == list(range(3000))
    assert (index._stops > index._starts).all()
    assert index._stops[-1] == 3000
    assert 3 * np.sqrt(3000) < len(index) <= 4 * np.sqrt(3000)


def test_a_search_can_be_limited_to_some_rows(matrix, points):
    rows = np.arange(2999, 0, -3)
    found = CellIndex(matrix, rows).search(*points, probes=4)
    np.testing.assert_array_equal(found, CellIndex(matrix[rows]).search(*points, probes=4))


@pytest.mark.parametrize("matrix", [np.ones((1, 1)), np.zeros((5, 2)), np.ones((9, 3)), np.eye(4)])
def test_few_or_equal_entries(matrix):
    index = CellIndex(matrix.astype(np.float32))
    points = np.concatenate([standard_normal(20, matrix.shape[1]), np.zeros((1, matrix.shape[1]))])
    for weight in (0.0, 1.0):
        weights = np.full(21, weight)
        exact = ExactIndex(matrix.astype(np.float32)).search(points, weights)
        np.testing.assert_array_equal(index.search(points, weights, probes=99), exact)
        assert (index.search(points, weights, probes=1) < len(matrix)).all()


def test_noisy_words_of_the_shipped_bundle_are_mostly_found():
    vectors = Bundle.load().vectors("words")
    for share in (0.0, 10.0, 1e9):
        stream = SeededRandomness(4).stream(0)
        lengths = stream.standard_gamma(64, size=300)
        weights = share / (share + lengths)
        noise = stream.standard_normal((300, 64))
        noise *= ((1 - weights) / np.linalg.norm(noise, axis=1))[:, None]
        points = vectors.take(vectors.writable[:300]) * weights[:, None] + noise
        found = vectors.writable[vectors.cells.search(points, weights)]
        assert np.mean(found == vectors.nearest(points, weights)) > (0.99 if share > 100 else 0.7)
