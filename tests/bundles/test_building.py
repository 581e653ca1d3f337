import math

import numpy as np
import pytest

from tests.conftest import ENTRIES, random_matrix
from textveil.bundles.building import VectorTable, build_bundle, measure_distances
from textveil.bundles.vectors import Vectors
from textveil.errors import BundleError, OutputExistsError, ParameterError


@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0), ("float16", 2e-3), ("int8", 2e-2)])
def test_compact_storage_stays_close(make_bundle, storage, tolerance):
    exact = random_matrix(len(ENTRIES), 12)
    stored = make_bundle(storage=storage).vectors("words").matrix
    assert stored.dtype == np.float32
    np.testing.assert_allclose(stored, exact, atol=tolerance * 2)


def test_a_row_of_zeros_survives_int8(make_bundle):
    matrix = random_matrix(3, 4)
    matrix[1] = 0
    np.testing.assert_array_equal(
        make_bundle(["a", "b", "c"], matrix=matrix, storage="int8").vectors("words").matrix[1], 0
    )


def test_distances_are_those_of_the_entries():
    matrix = np.array([[0, 0], [3, 4], [3, 5]], dtype=np.float32)
    measured = measure_distances(Vectors(["a", "b", "c"], matrix))
    assert measured["nearest"]["0.5"] == 1.0  # of 5, 1, 1
    assert measured["pairs"]["0.95"] > 5
    assert measured["center"]["0.5"] == pytest.approx(math.hypot(1, 2), abs=1e-3)  # the center is (2, 3)


def test_everything_excluded_leaves_nothing_to_write(make_bundle):
    with pytest.raises(BundleError, match="may be written"):
        make_bundle(["a", "b"], excluded=["a", "b"])


def test_a_decomposition_has_a_name_and_not_a_path(make_bundle):
    with pytest.raises(ParameterError, match="one word"):
        make_bundle(decomposition="../escaped")


@pytest.mark.parametrize("entries", [["a", "a"], ["a", ""], ["a", "b\nc"], []])
def test_entries_that_no_bundle_can_hold(make_bundle, entries):
    with pytest.raises(ParameterError):
        make_bundle(entries)


def test_a_failed_build_leaves_nothing(tmp_path):
    with pytest.raises(ParameterError):
        build_bundle(
            tmp_path / "new",
            {"words": VectorTable(["a", "a"], random_matrix(2, 2))},
            name="x",
            version="1",
            corpus="",
            license="",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_not_overwritten(tiny):
    with pytest.raises(OutputExistsError):
        build_bundle(tiny.folder, {}, name="x", version="1", corpus="", license="")
