"""Distances between entries, computed by hand and by definition."""

import numpy as np
import pytest

from tests.conftest import random_matrix
from textveil.bundles import vectors as module
from textveil.bundles.vectors import QUANTILES, Vectors, find_outliers, find_unit, measure_distances, sample_rows


def make_vectors(matrix):
    return Vectors([f"w{row}" for row in range(len(matrix))], np.asarray(matrix, dtype=np.float32))


def test_distances_of_three_points_on_a_line():
    measured = measure_distances(make_vectors([[0, 0], [3, 0], [9, 0]]))
    assert measured["metric"] == "euclidean"
    assert measured["pairs"]["0.5"] == 6.0  # of 3, 3, 6, 6, 9, 9
    assert measured["nearest"]["0.5"] == 3.0  # of 3, 3, 6
    assert measured["center"]["0.5"] == 4.0  # of 4, 1, 5, around 4


@pytest.mark.parametrize("batch", [1, 7, 150, 4096])
def test_distances_follow_their_definition_in_batches_of_any_size(monkeypatch, batch):
    monkeypatch.setattr(module, "_BATCH_ROWS", batch)
    matrix = random_matrix(150, 8)
    measured = measure_distances(make_vectors(matrix))
    exact = np.linalg.norm(matrix[:, None].astype(np.float64) - matrix[None], axis=2)
    np.fill_diagonal(exact, np.nan)
    expected = {"pairs": exact[~np.isnan(exact)], "nearest": np.nanmin(exact, axis=1)}
    for kind, values in expected.items():
        np.testing.assert_allclose(list(measured[kind].values()), np.quantile(values, QUANTILES), atol=1e-4)


@pytest.mark.parametrize("factor", [1e-3, 1e6])
def test_distances_grow_with_the_vectors(factor):
    matrix = 1000 * random_matrix(50, 8)
    once, scaled = (measure_distances(make_vectors(each)) for each in (matrix, factor * matrix))
    for kind in ("pairs", "nearest", "center"):
        expected = [factor * value for value in once[kind].values()]
        np.testing.assert_allclose(list(scaled[kind].values()), expected, rtol=1e-3)


def test_a_single_entry_has_no_pairs():
    measured = measure_distances(make_vectors([[1, 2]]))
    assert (measured["pairs"], measured["nearest"], measured["center"]["0.5"]) == ({}, {}, 0.0)


def test_a_sample_is_spread_over_all_rows():
    assert sample_rows(3).tolist() == [0, 1, 2]
    large = sample_rows(50_000)
    assert (len(large), large[0], large[-1]) == (1000, 0, 49_999)


def test_the_unit_is_the_median_distance_between_two_entries():
    assert find_unit(np.array([[0, 0], [3, 0], [9, 0]])) == 6.0
    matrix = random_matrix(3000, 8)
    assert find_unit(matrix) == pytest.approx(measure_distances(make_vectors(matrix))["pairs"]["0.5"], abs=1e-4)
    assert find_unit(1000 * matrix) == pytest.approx(1000 * find_unit(matrix))


@pytest.mark.parametrize("matrix", [[[1, 2]], [[1, 2], [1, 2]], [[0, 0], [0, 0], [0, 0]], [[0.1, 1]] * 4 + [[9, 9]]])
def test_entries_at_the_same_place_have_the_unit_one(matrix):
    assert find_unit(np.array(matrix, dtype=np.float32)) == 1.0


@pytest.mark.parametrize("block", [1, 64, 4096])
def test_every_entry_is_compared_with_all_others(monkeypatch, block):
    monkeypatch.setattr(module, "_BATCH_ROWS", block)
    monkeypatch.setattr(module, "_CANDIDATES", max(1, block // 4))
    matrix = random_matrix(300, 32)
    assert find_outliers(make_vectors(matrix)).tolist() == []
    matrix[[7, 299]] *= 12
    assert find_outliers(make_vectors(matrix)).tolist() == [7, 299]
    matrix[299] = matrix[7]  # each is near the other one
    assert find_outliers(make_vectors(matrix)).tolist() == [7, 299]


def test_an_entry_that_is_alone_on_its_side_is_found_although_it_is_not_far_from_the_center():
    corners = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]] * 50
    assert find_outliers(make_vectors(corners)).tolist() == []
    assert find_outliers(make_vectors([*corners, [0, 0, 1.45]])).tolist() == [200]


@pytest.mark.parametrize(
    "matrix",
    [[[1, 2]], [[1, 2], [3, 4]], [[1, 2]] * 5, [[0.1, 1]] * 4 + [[9, 9]], np.eye(3), [[0, 0], [3, 0], [9, 0]]],
    ids=["one", "two", "equal", "all but one equal", "simplex", "line"],
)
def test_a_few_entries_are_not_far_from_each_other(matrix):
    assert find_outliers(make_vectors(matrix)).tolist() == []
