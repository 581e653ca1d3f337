"""Results: tidy, with their provenance, and in the form that the analysis reads."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from textveil.analysis import METRIC_COLUMNS, read_results
from textveil.errors import InputError
from textveil.evaluation import METRICS
from textveil.experiments.records import COLUMNS, build_records, gather_results
from textveil.experiments.tables import read_table
from textveil.privacy.outcomes import Outcome


def test_the_analysis_knows_every_column():
    assert set(COLUMNS.values()) == set(METRIC_COLUMNS)
    assert all(metric in METRICS for metric, _ in COLUMNS)


@pytest.fixture
def finished(make_study, local):
    experiment = make_study(metrics={"downstream": {}, "attribute": {}, "clear_text": {}}, seeds=[42, 43])
    return experiment, experiment.run(local)


def test_a_row_for_every_value(finished):
    experiment, states = finished
    records = build_records(experiment.file, states)
    assert len({(row["cell"], row["metric"]) for row in records}) == len(records)
    rows = {row["metric"]: row for row in records if row["cell"] == states[0].cell.id}
    assert set(rows) >= {"utility_f1", "static_f1", "adaptive_f1", "attribute_baseline", "words_perturbed"}
    assert rows["utility_f1"]["value"] == states[0].values["downstream"].measurement.values["f1"]
    assert rows["utility_f1"]["std"] == states[0].values["downstream"].measurement.values["f1_std"]
    assert rows["utility_f1"]["measured_by"] == experiment.runner.metrics["downstream"].description
    assert rows["words_perturbed"]["value"] == states[0].texts.certificate.tally.words[Outcome.PERTURBED] > 0
    found = rows["static_f1"]
    assert (found["level"], found["epsilon_per_word"], found["profile"], found["seed"]) == ("high", 1.0, "strict", 5)
    assert (found["study_sha256"], found["bundle_sha256"]) == (experiment.file.sha256, experiment.runner.bundle.hash)
    assert "scikit-learn" in found["versions"]
    methods = [found[f"{axis}_method"] for axis in ("decomposition", "distribution", "mechanism")]
    assert methods == ["words", "uniform", "madlib"]


def test_csv_and_parquet_agree_and_the_analysis_reads_them(finished):
    experiment, states = finished
    table = read_table(experiment.store.folder / "results.parquet")
    with (experiment.store.folder / "results.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["metric"] for row in rows] == table["metric"]
    assert [float(row["value"]) for row in rows] == table["value"]
    for end in ("csv", "parquet"):
        results = read_results(experiment.store.folder / f"results.{end}")
        assert len(results.frame) == len(states) == 8
        assert results.counts_words


def test_finished_levels_of_an_unfinished_study_are_compared(finished, make_study):
    experiment, states = finished
    results, without = gather_results(experiment.file, states[1:], "static_f1")
    assert [group.level for group in results.left_out] == ["high"]
    assert (len(results.frame), without) == (4, ())
    with pytest.raises(InputError, match="no rows"):
        gather_results(experiment.file, [], "static_f1")


def test_a_missing_metric_does_not_prevent_a_report(finished):
    experiment, states = finished
    lacking = [replace(state, missing=("perplexity",)) for state in states]
    results, without = gather_results(experiment.file, lacking, "static_f1")
    assert (len(results.frame), without) == (8, ())


def test_a_data_set_without_the_response_is_left_out(make_study, local):
    sources = {"plain": {"path": "reviews.jsonl"}, "full": {"path": "reviews.jsonl", "attribute": "author"}}
    experiment = make_study(datasets=sources, metrics={"attribute": {}, "clear_text": {}})
    states = experiment.run(local)
    results, without = gather_results(experiment.file, states, "static_f1")
    assert (len(results.frame), without) == (8, ("plain",))
