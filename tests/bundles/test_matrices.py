import numpy as np
import pytest

from textveil.bundles import files as matrices
from textveil.bundles.files import StoredMatrix

NUMBERS = np.array([[1, -2], [3, 4], [0, -128]], dtype=np.int8)
SCALES = np.array([0.5, 2, 0.25], dtype=np.float32)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (StoredMatrix(NUMBERS, SCALES), [[0.5, -1], [6, 8], [0, -32]]),
        (StoredMatrix(NUMBERS.astype(np.float16)), NUMBERS),
        (StoredMatrix(NUMBERS.astype(np.float32)), NUMBERS),
    ],
    ids=["int8", "float16", "float32"],
)
def test_rows_are_read_in_single_precision(stored, expected, monkeypatch):
    monkeypatch.setattr(matrices, "_TILE_ROWS", 2)
    assert stored.shape == (3, 2)
    assert stored.decode().dtype == np.float32
    np.testing.assert_array_equal(stored.decode(), expected)
    np.testing.assert_array_equal(stored.take(np.array([2, 0, -1])), np.asarray(expected)[[2, 0, -1]])
    tiles = list(stored.tiles())
    assert [part for part, _ in tiles] == [slice(0, 2), slice(2, 3)]
    np.testing.assert_array_equal(np.concatenate([tile for _, tile in tiles]), expected)
    assert stored.find_largest() == np.abs(np.asarray(expected, dtype=np.float64)).max()


def test_what_is_stored_in_single_precision_is_not_copied():
    matrix = NUMBERS.astype(np.float32)
    assert np.shares_memory(StoredMatrix(matrix).decode(), matrix)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_found(wrong):
    scales = SCALES.copy()
    scales[2] = wrong
    assert not StoredMatrix(NUMBERS, scales).find_largest() < np.inf
    assert not StoredMatrix(np.array([[1, wrong]], dtype=np.float32)).find_largest() < np.inf


def test_a_matrix_is_large_if_its_copy_would_be():
    rows = matrices.LARGEST_COPY // 4 // 64
    assert not StoredMatrix(np.broadcast_to(np.int8(1), (rows, 64))).is_large
    assert StoredMatrix(np.broadcast_to(np.int8(1), (rows + 1, 64))).is_large
