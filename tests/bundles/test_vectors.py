import numpy as np
import pytest

from tests.conftest import random_matrix
from textveil.bundles import files as matrices
from textveil.bundles import vectors as module
from textveil.bundles.files import StoredMatrix
from textveil.bundles.vectors import (
    QUANTILES,
    UNKNOWN,
    Vectors,
    find_outliers,
    find_unit,
    measure_distances,
    sample_rows,
)
from textveil.errors import ParameterError
from textveil.randomness import SeededRandomness


def standard_normal(*shape, seed=1):
    return SeededRandomness(seed).stream(0).standard_normal(shape)


@pytest.fixture
def vectors() -> Vectors:
    matrix = np.array([[0, 0], [1, 0], [0, 1], [4, 4]], dtype=np.float32)
    return Vectors(["zero", "right", "...", "far"], matrix, excluded=["far"])


def test_entries_are_found_by_their_spelling(vectors):
    assert vectors.find("right") == 1
    assert vectors.find("Right") == UNKNOWN
    assert "far" in vectors
    assert "near" not in vectors
    assert (len(vectors), vectors.dimensions) == (4, 2)


def test_excluded_entries_and_punctuation_are_never_nearest(vectors):
    points = np.array([[4.0, 4.0], [0.0, 1.0], [0.9, 0.0]])
    np.testing.assert_array_equal(vectors.writable, [0, 1])
    np.testing.assert_array_equal(vectors.nearest(points, np.ones(3)), [1, 0, 1])


def test_a_decomposition_into_single_words_never_writes_several():
    matrix = np.array([[0, 0], [1, 0], [2, 0], [3, 0]], dtype=np.float32)
    entries = ["tea", "green_tea", "ice cream", "6_d"]
    vectors = Vectors(entries, matrix, single_words=True)
    np.testing.assert_array_equal(vectors.writable, [0])
    np.testing.assert_array_equal(vectors.plain, [0, 1, 2, 3])  # which a manifest counts
    np.testing.assert_array_equal(vectors.nearest(np.array([[3.0, 0.0]]), np.ones(1)), [0])
    np.testing.assert_array_equal(Vectors(entries, matrix).writable, [0, 1, 2, 3])


def test_unknown_chunks_are_at_the_center(vectors):
    np.testing.assert_allclose(vectors.place(np.array([1, UNKNOWN])), [[1, 0], [1.25, 1.25]])


def test_unknown_chunks_are_at_the_positions_given_for_them(vectors):
    spelled = np.array([[7.0, 8.0], [9.0, 10.0]])
    placed = vectors.place(np.array([UNKNOWN, 1, UNKNOWN]), spelled)
    np.testing.assert_array_equal(placed, [[7, 8], [1, 0], [9, 10]])


@pytest.fixture
def stretched() -> Vectors:
    """Two hundred vectors whose variance differs between dimensions."""
    matrix = standard_normal(200, 8) * np.arange(1, 9) + 5
    return Vectors([f"w{number}" for number in range(200)], matrix.astype(np.float32))


def test_axes_are_orthonormal_and_sorted_by_their_variance(stretched):
    axes = stretched.axes
    np.testing.assert_allclose(axes.T @ axes, np.eye(8), atol=1e-12)
    moved = (stretched.matrix - stretched.center) @ axes
    np.testing.assert_allclose(np.cov(moved.T), np.diag(moved.var(axis=0, ddof=1)), atol=1e-4)
    assert (np.diff(moved.var(axis=0)) < 0).all()


def test_the_direction_of_an_axis_does_not_depend_on_the_library(stretched, monkeypatch):
    expected = stretched.axes
    assert (expected[np.abs(expected).argmax(axis=0), np.arange(8)] > 0).all()
    find = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (find(matrix)[0], -find(matrix)[1]))
    np.testing.assert_array_equal(Vectors(stretched.entries, stretched.matrix).axes, expected)


def test_stored_axes_are_used(stretched):
    stored = np.eye(8)[:, ::-1]
    vectors = Vectors(stretched.entries, stretched.matrix, axes=stored)
    assert vectors.axes is stored
    np.testing.assert_allclose(vectors.project(2).matrix, stretched.matrix[:, :5:-1])


@pytest.mark.parametrize("dimensions", [1, 3, 7])
def test_a_projection_contracts_distances(stretched, dimensions):
    projected = stretched.project(dimensions)
    assert (projected.dimensions, list(projected.entries)) == (dimensions, list(stretched.entries))
    before, after = (np.linalg.norm(each.matrix[:, None] - each.matrix, axis=2) for each in (stretched, projected))
    assert (after <= before * (1 + 1e-5) + 1e-5).all()
    assert after.mean() > 0.3 * before.mean()  # the first axes carry the most


def test_a_projection_to_all_dimensions_is_none(stretched):
    assert stretched.project(8) is stretched


@pytest.mark.parametrize("dimensions", [0, -1, 9])
def test_a_projection_to_dimensions_that_do_not_exist_is_refused(stretched, dimensions):
    with pytest.raises(ParameterError, match=f"from 1 to 8. Got {dimensions}"):
        stretched.project(dimensions)


def test_mapped_vectors_have_their_own_center_and_index(stretched):
    _ = stretched.index, stretched.center, stretched.axes
    mapped = stretched.map_by(np.diag(np.arange(8.0, 0, -1))[:, :4])
    np.testing.assert_allclose(mapped.center, mapped.matrix.mean(axis=0), rtol=1e-5)
    assert mapped.axes.shape == (4, 4)
    points = mapped.matrix[:20].astype(np.float64)
    np.testing.assert_array_equal(mapped.nearest(points, np.ones(20)), np.arange(20))
    assert stretched.transform is None
    assert stretched.dimensions == 8


def test_positions_of_the_bundle_are_mapped_like_its_vectors(stretched):
    mapped = stretched.project(5).map_by(np.diag([2.0, 1, 1, 1, 1])[:, :3])  # one map after the other
    spelled = stretched.matrix[[4, 9]].astype(np.float64)
    placed = mapped.place(np.array([UNKNOWN, 0, UNKNOWN]), spelled)
    np.testing.assert_allclose(placed, mapped.matrix[[4, 0, 9]], rtol=1e-5, atol=1e-5)


def test_vectors_of_words_write_single_words_only():
    entries = ["tea", "new_york", "Paris", "a1", "naïve", "new york"]
    vectors = Vectors(entries, standard_normal(6, 3).astype(np.float32), excluded=["a1"])
    words = vectors.limit_to_words()
    assert [entries[row] for row in words.writable] == ["tea", "Paris", "naïve"]
    assert len(vectors.writable) == 5
    nearest = words.nearest(vectors.matrix.astype(np.float64), np.ones(6))
    assert set(nearest.tolist()) == {0, 2, 4}
    assert words.limit_to_words() is words
    assert words.project(2).writable.tolist() == [0, 2, 4]


@pytest.fixture
def coded() -> StoredMatrix:
    """Three hundred vectors in eight bits."""
    numbers = np.rint(40 * standard_normal(300, 6)).clip(-127, 127).astype(np.int8)
    return StoredMatrix(numbers, np.linspace(0.01, 0.02, 300, dtype=np.float32))


def test_a_large_matrix_gives_the_answers_of_a_small_one(coded, monkeypatch):
    entries = [f"w{row}" for row in range(300)]
    points, weights = standard_normal(50, 6, seed=2), np.abs(standard_normal(50, seed=3))
    small = Vectors(entries, coded.decode(), excluded=entries[::7])
    expected = small.nearest(points, weights), small.center, small.covariance(), small.project(3).matrix
    monkeypatch.setattr(matrices, "LARGEST_COPY", 100)
    monkeypatch.setattr(matrices, "_TILE_ROWS", 64)
    large = Vectors(entries, coded, excluded=entries[::7])
    found = large.nearest(points, weights), large.center, large.covariance(), large.project(3).matrix
    np.testing.assert_array_equal(found[0], expected[0])
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_what_a_search_does_not_need_is_not_decoded(coded, monkeypatch):
    monkeypatch.setattr(matrices, "LARGEST_COPY", 100)
    vectors = Vectors([f"w{row}" for row in range(300)], coded)
    vectors.nearest(vectors.place(np.array([3, UNKNOWN])), np.ones(2))
    assert "matrix" not in vars(vectors)
    mapped = vectors.map_by(np.eye(6)[:, :2])
    assert mapped.dimensions == 2
    assert "stored" not in vars(mapped)


@pytest.mark.parametrize("excluded", ["Don't", "don_t", "DON T", "Café_Noir", "ÉTÉ"])
def test_other_spellings_of_an_excluded_entry_are_not_written_either(excluded):
    entries = ["don_t", "Don't", "dont", "café_noir", "cafe_noir", "été", "tea"]
    vectors = Vectors(entries, standard_normal(7, 2).astype(np.float32), excluded=[excluded])
    written = {entries[row] for row in vectors.writable}
    gone = {"don_t"} if excluded.lower().startswith("don") else {excluded.lower()}
    assert written == {"don_t", "dont", "café_noir", "cafe_noir", "été", "tea"} - (
        gone if excluded != "DON T" else set()
    )


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
