"""References stand beside the values of obfuscated texts."""

from __future__ import annotations

import pytest

from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import Reading
from textveil.lab.report.findings import find_references, list_titles
from textveil.lab.report.results import Results


@pytest.fixture
def attacked(records):
    chance = {"attribute_chance": 0.1, "attribute_chance_low": 0.05, "attribute_chance_high": 0.15}
    rows = [
        {**row, "static_f1": 0.4, "attribute_baseline": 0.8 if row["dataset"] == "a" else 0.6, **chance}
        for row in records
    ]
    return Results.from_records(rows).frame


def test_references_are_means_over_data_sets(attacked):
    found = find_references(attacked, METRIC_COLUMNS["static_f1"])
    assert found["originals"].value == pytest.approx(0.7)
    assert found["chance"] == Reading(pytest.approx(0.1), Interval(pytest.approx(0.05), pytest.approx(0.15)))
    assert list(found) == ["originals", "chance"]


def test_a_data_set_has_its_own_references(attacked):
    found = find_references(attacked[attacked["dataset"] == "a"], METRIC_COLUMNS["static_f1"])
    assert found["originals"].value == pytest.approx(0.8)


def test_originals_follow_from_some_definitions(attacked):
    assert find_references(attacked, METRIC_COLUMNS["relative_gain"]) == {"originals": Reading(0.0)}
    assert find_references(attacked, METRIC_COLUMNS["perplexity"]) == {}


def test_titles_of_all_metrics(attacked):
    assert list_titles(attacked, METRIC_COLUMNS.values()) == ["originals", "chance"]


def test_the_majority_baseline_of_earlier_results_has_its_new_name(records):
    frame = Results.from_records([{**row, "static_f1": 0.4, "attribute_guess": 0.2} for row in records]).frame
    assert find_references(frame, METRIC_COLUMNS["static_f1"])["majority"].value == pytest.approx(0.2)
