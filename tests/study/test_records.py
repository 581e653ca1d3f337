"""Results: tidy, with their provenance, and in the form that the analysis reads."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from tests.study.conftest import list_values, open_study, write_reviews
from textveil.errors import InputError
from textveil.execution.local import LocalExecutor
from textveil.lab.metrics import METRIC_COLUMNS, Interval
from textveil.lab.report.results import read_results
from textveil.lab.study.datasets import read_table
from textveil.lab.study.records import build_records, gather_results
from textveil.outcomes import Outcome


@pytest.fixture(scope="module")
def finished(tiny, tmp_path_factory):
    """A study, and the states of its cells after its run. They are only read."""
    folder = tmp_path_factory.mktemp("finished")
    write_reviews(folder / "reviews.jsonl")
    changes = {"metrics": {"downstream": {}, "attribute": {}, "clear_text": {}}, "seeds": [42, 43]}
    experiment = open_study(folder, {**list_values(tiny), **changes})
    return experiment, experiment.run(LocalExecutor())


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


def test_every_measured_value_can_be_analyzed(make_study, local):
    experiment = make_study(metrics={"downstream": {}, "attribute": {}, "clear_text": {}, "inversion": {"sample": 20}})
    states = experiment.run(local)
    records = build_records(experiment.file, states)
    measured = {row["metric"] for row in records if not row["metric"].startswith("words_")}
    assert measured <= set(METRIC_COLUMNS)
    results, _ = gather_results(experiment.file, states, "inversion_top_1")
    responses = {metric.name for metric in results.responses}
    assert responses == {name for name in measured if not METRIC_COLUMNS[name].reference_of} | {"clear_share"}
    assert {"inversion_top_1", "clear_text_released"} <= responses
    for metric in results.responses:
        assert results.choose_metric(metric.name) == metric


def test_intervals_and_caveats_are_in_the_row_of_their_value(finished):
    experiment, states = finished
    value = states[0].values["attribute"]
    measurement = replace(
        value.measurement, intervals={"static": Interval(0.2, 0.7)}, caveats=("Few rows.", "Near chance.")
    )
    changed = replace(states[0], values={**states[0].values, "attribute": replace(value, measurement=measurement)})
    rows = {row["metric"]: row for row in build_records(experiment.file, [changed])}
    assert (rows["static_f1"]["low"], rows["static_f1"]["high"]) == (0.2, 0.7)
    assert rows["adaptive_f1"]["low"] is None
    assert rows["adaptive_f1"]["caveats"] == "Few rows. Near chance."
    assert rows["utility_f1"]["caveats"] is None or "Near chance" not in rows["utility_f1"]["caveats"]
    frame = gather_results(experiment.file, [changed, *states[1:]], "static_f1")[0].frame
    assert [frame["static_f1_low"].iloc[0], frame["static_f1_high"].iloc[0]] == [0.2, 0.7]
    assert frame["static_f1_caveats"].iloc[0] == "Few rows. Near chance."


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


def test_finished_levels_of_an_unfinished_study_are_compared(finished):
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
