import math
import sys
from itertools import product

import numpy as np
import pytest

from tests.conftest import ENTRIES, random_matrix
from textveil.bundles import building
from textveil.bundles.building import VectorTable, build_bundle, measure_distances
from textveil.bundles.spelling import fit_spelling
from textveil.bundles.vectors import Vectors
from textveil.errors import BundleError, MissingExtraError, OutputExistsError, ParameterError


@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0), ("float16", 2e-3), ("int8", 2e-2)])
def test_compact_storage_is_close_to_the_exact_vectors(make_bundle, storage, tolerance):
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


def test_distances_are_measured_between_entries():
    matrix = np.array([[0, 0], [3, 4], [3, 5]], dtype=np.float32)
    measured = measure_distances(Vectors(["a", "b", "c"], matrix))
    assert measured["nearest"]["0.5"] == 1.0  # of 5, 1, 1
    assert measured["pairs"]["0.95"] > 5
    assert measured["center"]["0.5"] == pytest.approx(math.hypot(1, 2), abs=1e-3)  # the center is (2, 3)


def test_a_bundle_with_all_entries_excluded_is_refused(make_bundle):
    with pytest.raises(BundleError, match="may be written"):
        make_bundle(["a", "b"], excluded=["a", "b"])


def test_the_name_of_a_decomposition_is_not_a_path(make_bundle):
    with pytest.raises(ParameterError, match="one word"):
        make_bundle(decomposition="../escaped")


@pytest.mark.parametrize("entries", [["a", "a"], ["a", ""], ["a", "b\nc"], []])
def test_empty_repeated_and_multiline_entries_are_refused(make_bundle, entries):
    with pytest.raises(ParameterError):
        make_bundle(entries)


WORDS = [first + middle + last + end for first, middle, last, end in product("bklt", "aeiou", "nr", ("", "s", "ing"))]


def test_a_small_vocabulary_gets_no_spelling_table_unless_it_is_wanted(make_bundle):
    assert make_bundle(WORDS).spelling("words") is None
    bundle = make_bundle(WORDS, spelling=True)
    assert bundle.spelling("words").place(["banings"]).shape == (1, 12)
    described = bundle.manifest.parts["words"]["spelling"]
    assert described["entries"] == len(WORDS)
    assert described["quality"]["left_out"] == len(WORDS) // 10


def test_a_large_vocabulary_gets_a_spelling_table_unless_it_is_not_wanted(make_bundle, monkeypatch):
    monkeypatch.setattr(building, "LEAST_ENTRIES", len(WORDS))
    assert make_bundle(WORDS).spelling("words") is not None
    assert make_bundle(WORDS[1:]).spelling("words") is None
    assert make_bundle(WORDS, spelling=False).spelling("words") is None


def test_without_scipy_a_spelling_table_is_left_out_or_its_extra_is_named(make_bundle, monkeypatch):
    monkeypatch.setattr(building, "LEAST_ENTRIES", len(WORDS))
    monkeypatch.setattr(building, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert make_bundle(WORDS).spelling("words") is None
    with pytest.raises(MissingExtraError, match=r"textveil\[prepare\]"):
        make_bundle(WORDS, spelling=True)


def test_a_spelling_table_is_fitted_to_the_vectors_as_they_are_stored(make_bundle):
    bundle = make_bundle(WORDS, spelling=True, storage="int8")
    table, description = fit_spelling(bundle.vectors("words"))
    assert bundle.manifest.parts["words"]["spelling"] == description
    np.testing.assert_allclose(bundle.spelling("words").table.scales, table.scales, rtol=1e-4)


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


@pytest.mark.parametrize("storage", ["float32", "int8"])
def test_distances_are_divided_by_their_median(make_bundle, storage):
    matrix = 7 * random_matrix(len(ENTRIES), 12)
    plain = make_bundle(matrix=matrix, storage=storage)
    standard = make_bundle(matrix=matrix, storage=storage, standardize=True)
    unit = standard.manifest.vectors["words"]["unit"]
    assert plain.manifest.vectors["words"]["unit"] == 1
    assert unit == pytest.approx(measure_distances(Vectors(ENTRIES, matrix))["pairs"]["0.5"], rel=1e-3)
    assert standard.distance("words")["pairs"]["0.5"] == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(standard.vectors("words").matrix * unit, plain.vectors("words").matrix, atol=0.01)
    standard.verify()
