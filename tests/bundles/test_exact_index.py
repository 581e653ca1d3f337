"""Exact search, compared with its definition."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from textveil.bundles import exact_index as module
from textveil.bundles import files as matrices
from textveil.bundles.exact_index import ExactIndex, extend, find_best
from textveil.bundles.files import StoredMatrix
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


@pytest.mark.parametrize("storage", [np.float32, np.float16, np.int8])
def test_a_large_matrix_is_searched_where_it_is_stored(monkeypatch, storage):
    numbers = (20 * standard_normal(5000, 12)).astype(storage)
    scales = np.full(5000, 0.05, dtype=np.float32) if storage == np.int8 else None
    numbers[4000:] = numbers[:1000]  # some queries are doubtful
    rows, stored = np.arange(0, 5000, 2), StoredMatrix(numbers, scales)
    points, weights = 20 * standard_normal(200, 12, seed=2), np.abs(standard_normal(200, seed=3))
    points[:50] = stored.decode()[4000:4050]
    weights[:50], weights[50:60] = 1.0, 0.0
    expected = ExactIndex(stored, rows).search(points, weights)
    monkeypatch.setattr(matrices, "LARGEST_COPY", 1000)
    index = ExactIndex(stored, rows)
    assert index._extended.size == 0  # nothing is copied
    np.testing.assert_array_equal(index.search(points, weights), expected)
    np.testing.assert_array_equal(expected, brute_force(stored.decode()[rows], points, weights))


PEAK = """
import sys
import numpy as np
from textveil.bundles.exact_index import ExactIndex
from textveil.bundles.files import StoredMatrix

stored = np.memmap(sys.argv[1], dtype=np.int8, mode="r", shape=(400_000, 128))
points = np.ones((64, 128))


def private():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


before = private()
index = ExactIndex(StoredMatrix(stored, np.ones(400_000, dtype=np.float32)))
index.search(points, np.ones(64))
print((private() - before) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_the_search_of_a_large_matrix_keeps_no_copy_of_it(tmp_path):
    half = SeededRandomness(1).stream(0).integers(-127, 127, (200_000, 128), dtype=np.int8)
    (tmp_path / "matrix").write_bytes(half.tobytes() + half.tobytes())  # every entry twice: all points are doubtful
    command = [sys.executable, "-c", PEAK, str(tmp_path / "matrix")]
    kept = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert kept < 40  # MiB; a copy in single precision would take 197


def test_one_more_column_holds_half_of_the_squared_length():
    np.testing.assert_array_equal(extend(np.array([[3, 4], [0, 2]], dtype=np.float32)), [[3, 4, -12.5], [0, 2, -2]])


def test_the_first_one_of_equally_near_entries_is_the_best(monkeypatch):
    stored = StoredMatrix(np.array([[1, 0], [9, 9], [1, 0], [1, 0]], dtype=np.float32))
    for size in (1, 2, 4):
        monkeypatch.setattr(module, "TILE_ENTRIES", size)
        assert find_best(stored, np.array([1, 2, 3]), np.array([1.0, 0.0]), 1.0) == 1
