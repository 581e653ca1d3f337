"""The report of a study."""

from __future__ import annotations

import pytest

from textveil.errors import InputError, OutputExistsError
from textveil.experiments.report import report_study

METRICS = {"downstream": {}, "clear_text": {}, "inversion": {"sample": 50}}
LEVELS = {"high": 1, "medium": 10, "low": 40}


def test_a_report_says_what_was_run(make_study, local, tmp_path):
    experiment = make_study(levels=LEVELS, metrics=METRICS)
    experiment.run(local)
    written = report_study(experiment, response="utility_f1")
    assert written.left_out == ()
    assert written.folder == experiment.store.folder / "report"
    page = (written.folder / "report.html").read_text(encoding="utf-8")
    for said in (
        experiment.file.sha256[:16],
        experiment.runner.metrics["downstream"].description,
        experiment.runner.metrics["inversion"].description,
        "sample 50",
        "38 of reviews.jsonl",
        "seed 5, different for every cell",
    ):
        assert said in page
    assert "gamma" not in page  # no text
    report_study(experiment, response="utility_f1")  # its own report is replaced
    elsewhere = tmp_path / "elsewhere"
    report_study(experiment, response="utility_f1", folder=elsewhere)
    with pytest.raises(OutputExistsError):
        report_study(experiment, response="utility_f1", folder=elsewhere)


def test_an_unfinished_study_is_reported_with_what_is_missing(make_study, local):
    make_study(levels=LEVELS).run(local)
    experiment = make_study(levels={**LEVELS, "lowest": 80})
    written = report_study(experiment, response="utility_f1")
    assert written.left_out == ("4 of 16 cells are not finished, 0 of them failed",)
    assert written.left_out[0] in (written.folder / "report.html").read_text(encoding="utf-8")


def test_a_data_set_without_cells_is_not_reported_as_lacking_the_response(make_study, local, values):
    make_study(levels=LEVELS).run(local)
    reviews = values["datasets"]["reviews"]
    experiment = make_study(levels=LEVELS, datasets={"reviews": reviews, "later": {**reviews, "first_words": 5}})
    with experiment.store.locked():
        experiment.read_datasets()
    written = report_study(experiment, response="utility_f1")
    assert written.left_out == ("12 of 24 cells are not finished, 0 of them failed",)
    page = (written.folder / "report.html").read_text(encoding="utf-8")
    assert "first_words 5); dropped: 10 (no label (stars))" in page


def test_without_results_there_is_no_report(make_study):
    with pytest.raises(InputError, match="Run the study first"):
        report_study(make_study(), response="utility_f1")
