"""Differences between small bundles."""

import numpy as np
import pytest

from tests.conftest import random_matrix
from textveil.bundles.building import LexiconTable
from textveil.bundles.difference import compare_bundles, measure_size


def test_a_bundle_does_not_differ_from_itself(tiny):
    assert compare_bundles(tiny, tiny) == {}


def test_labels_parameters_and_sizes_are_compared(make_bundle, tiny):
    other = make_bundle(version="2", parameters={"vectors": {"source": "encoder"}})
    found = compare_bundles(tiny, other)
    assert found["manifest"]["version"] == {"before": "1", "after": "2"}
    assert found["manifest"]["bytes"] == {"before": measure_size(tiny), "after": measure_size(other)}
    assert found["parameters"] == {"vectors.source": {"before": None, "after": "encoder"}}


def test_entries_are_compared_as_known_and_as_written(make_bundle):
    before = make_bundle(["tea", "cup", "thou"])
    after = make_bundle(["tea", "coffee", "thou", "mug"], excluded=["thou"])
    found = compare_bundles(before, after)["words"]
    assert found["entries"] == {"before": 3, "after": 4}
    assert found["known entries"] == {
        "added": 2,
        "removed": 1,
        "examples_added": ["coffee", "mug"],
        "examples_removed": ["cup"],
    }
    assert found["written entries"]["examples_removed"] == ["cup", "thou"]


def test_units_and_distances_are_compared(make_bundle):
    matrix = 3 * random_matrix(5, 4)
    found = compare_bundles(*(make_bundle([*"abcde"], matrix=matrix, standardize=each) for each in (False, True)))
    assert found["words"]["unit"]["before"] == 1
    assert found["words"]["median distance"]["after"] == pytest.approx(1, abs=1e-3)
    assert "known entries" not in found["words"]


def test_expressions_are_compared(make_bundle):
    bundles = [
        make_bundle(
            ["tea", "green_tea"],
            decomposition="pmi",
            lexicons={"pmi": LexiconTable(ngrams, np.ones(len(ngrams)))},
        )
        for ngrams in (["green tea"], ["green tea", "new york"])
    ]
    assert compare_bundles(*bundles)["pmi"]["expressions"]["examples_added"] == ["new york"]


def test_a_decomposition_that_only_one_bundle_has_is_named(make_bundle, tiny):
    other = make_bundle(decomposition="pos")
    found = compare_bundles(tiny, other)
    assert found["words"] == {"vectors": {"before": True, "after": False}}
    assert found["pos"] == {"vectors": {"before": False, "after": True}}


def test_priors_are_compared(tiny, tiny_with_prior):
    found = compare_bundles(tiny, tiny_with_prior)["words"]
    assert found["prior order"]["before"] is None
    assert found["prior order"]["after"] >= 2
