import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from textveil.bundles import vectors as module
from textveil.bundles.vectors import UNKNOWN, ExactIndex, Vectors
from textveil.randomness import SeededRandomness


def brute_force(matrix, points, weights):
    """The nearest row by definition, in double precision: first by -2w.q + weight |w|^2, then by its number."""
    matrix = matrix.astype(np.float64)
    scores = points @ matrix.T - weights[:, None] * (matrix**2).sum(axis=1) / 2
    return scores.argmax(axis=1)


def standard_normal(*shape, seed=1):
    return SeededRandomness(seed).stream(0).standard_normal(shape)


@pytest.mark.parametrize(("entries", "dimensions", "queries"), [(1, 1, 3), (7, 2, 1), (500, 50, 700), (3000, 301, 40)])
def test_the_nearest_entry_is_found(entries, dimensions, queries):
    matrix = standard_normal(entries, dimensions).astype(np.float32)
    points = 3 * standard_normal(queries, dimensions, seed=2)
    found = ExactIndex(matrix).search(points, np.ones(queries))
    distances = np.linalg.norm(points[:, None] - matrix[None, :].astype(np.float64), axis=2)
    np.testing.assert_array_equal(found, distances.argmin(axis=1))


@given(
    st.integers(1, 6).flatmap(
        lambda d: st.tuples(
            hnp.arrays(np.float32, st.tuples(st.integers(1, 30), st.just(d)), elements=st.floats(-8, 8, width=16)),
            hnp.arrays(np.float64, st.tuples(st.integers(1, 10), st.just(d)), elements=st.floats(-8, 8, width=16)),
        )
    ),
    st.sampled_from([0.0, 0.25, 1.0]),
)
@settings(max_examples=200)
def test_ties_and_duplicates_follow_the_definition(case, weight):
    matrix, points = case
    weights = np.full(len(points), weight)
    # Half-precision inputs make every score exact in double precision, so ties are true ties.
    np.testing.assert_array_equal(ExactIndex(matrix).search(points, weights), brute_force(matrix, points, weights))


def test_a_difference_below_single_precision_still_counts():
    matrix = np.array([[1000.0, 0.0], [1000.0, 0.001], [-5.0, 3.0]], dtype=np.float32)
    points = np.array([[999.0, 0.00049], [999.0, 0.00051]])
    np.testing.assert_array_equal(ExactIndex(matrix).search(points, np.ones(2)), [0, 1])


def test_the_answer_does_not_depend_on_the_size_of_tiles(monkeypatch):
    matrix = standard_normal(999, 20).astype(np.float32)
    matrix[500:] = matrix[:499]  # every entry twice: all queries are doubtful
    points, weights = standard_normal(333, 20, seed=2), np.abs(standard_normal(333, seed=3))
    expected = ExactIndex(matrix).search(points, weights)
    monkeypatch.setattr(module, "TILE_ENTRIES", 70)
    np.testing.assert_array_equal(ExactIndex(matrix).search(points, weights), expected)
    parts = [ExactIndex(matrix).search(points[i : i + 10], weights[i : i + 10]) for i in range(0, 333, 10)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    assert expected.max() < 500  # of two equal entries, the first


def test_a_search_can_be_limited_to_some_rows():
    matrix = standard_normal(5000, 8).astype(np.float32)
    rows = np.arange(4999, 0, -3)
    points = standard_normal(50, 8, seed=2)
    found = ExactIndex(matrix, rows).search(points, np.ones(50))
    np.testing.assert_array_equal(found, ExactIndex(matrix[rows]).search(points, np.ones(50)))


def test_a_weight_of_zero_finds_the_most_aligned_entry():
    matrix = np.array([[1, 0], [0, 1], [5, 5]], dtype=np.float32)
    found = ExactIndex(matrix).search(np.array([[1.0, 0.0], [-1.0, 0.1]]), np.zeros(2))
    np.testing.assert_array_equal(found, [2, 1])


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
