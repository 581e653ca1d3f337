"""The report of a study."""

from __future__ import annotations

import json

import pytest

from textveil.errors import InputError, OutputExistsError, ResourceError, UnknownNameError
from textveil.lab.metrics import METRICS
from textveil.lab.study import Experiment
from textveil.lab.study.cell_runner import CellRunner
from textveil.lab.study.report import report_study

MEASURED = {"downstream": {}, "clear_text": {}, "inversion": {"sample": 50}}
LEVELS = {"high": 1, "medium": 10, "low": 40}
STRICT = {"profiles": ["strict"]}
"""One profile has half of the figures, which take most of the time of a report."""


def test_a_report_says_what_was_run(make_study, local):
    experiment = make_study(levels=LEVELS, metrics=MEASURED)
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


def test_a_report_replaces_itself_and_nothing_elsewhere(make_study, local, tmp_path):
    experiment = make_study(levels={"high": 1}, metrics={"downstream": {}}, **STRICT)
    experiment.run(local)
    report_study(experiment, response="utility_f1")
    page = experiment.store.folder / "report/report.html"
    before = page.read_bytes()
    page.write_text("old", encoding="utf-8")
    report_study(experiment, response="utility_f1")  # its own report is replaced
    assert page.read_bytes() == before
    elsewhere = tmp_path / "elsewhere"
    report_study(experiment, response="utility_f1", folder=elsewhere)
    with pytest.raises(OutputExistsError):
        report_study(experiment, response="utility_f1", folder=elsewhere)


def test_an_unfinished_study_is_reported_with_what_is_missing(make_study, local):
    make_study(levels=LEVELS, **STRICT).run(local)
    experiment = make_study(levels={**LEVELS, "lowest": 80}, **STRICT)
    written = report_study(experiment, response="utility_f1")
    assert written.left_out == ("2 of 8 cells are not finished, 0 of them failed",)
    assert written.left_out[0] in (written.folder / "report.html").read_text(encoding="utf-8")


def test_a_data_set_without_cells_is_not_reported_as_lacking_the_response(make_study, local, values):
    make_study(levels=LEVELS, **STRICT).run(local)
    datasets = {"reviews": values["datasets"]["reviews"]}
    datasets["later"] = {**datasets["reviews"], "first_words": 5}
    experiment = make_study(levels=LEVELS, datasets=datasets, **STRICT)
    with experiment.store.locked():
        experiment.read_datasets()
    written = report_study(experiment, response="utility_f1")
    assert written.left_out == ("6 of 12 cells are not finished, 0 of them failed",)
    page = (written.folder / "report.html").read_text(encoding="utf-8")
    assert "first_words: 5; dropped: 10 (no label (stars))" in page


def forget_models(experiment, monkeypatch):
    """The same study on a machine without its models and its bundle."""

    def missing(*_):
        raise ResourceError("It is not installed.")

    for name in ("bundle", "metrics", "environment"):
        monkeypatch.setattr(CellRunner, name, property(missing))
    return Experiment(experiment.file)


def snapshot(folder):
    return {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}


def test_status_and_report_need_no_model_and_no_write_access(make_study, local, monkeypatch, tmp_path):
    experiment = make_study()
    states = experiment.run(local)
    elsewhere = forget_models(experiment, monkeypatch)
    before = snapshot(experiment.store.folder)
    for path in (*experiment.store.folder.rglob("*"), experiment.store.folder):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert elsewhere.find_states() == states
        written = report_study(elsewhere, response="utility_f1", folder=tmp_path / "report")
    finally:
        for path in (experiment.store.folder, *experiment.store.folder.rglob("*")):
            path.chmod(0o700)
    assert snapshot(experiment.store.folder) == before  # the superuser may write in spite of the mode
    page = (written.folder / "report.html").read_text(encoding="utf-8")
    assert states[0].values["downstream"].measurement.description in page
    assert "yake" in page


@pytest.mark.usefixtures("finished")
def test_a_changed_study_needs_its_models(make_study, monkeypatch):
    changed = forget_models(make_study(levels={"high": 1, "low": 30}), monkeypatch)
    with pytest.raises(ResourceError):
        changed.find_states()


def test_a_run_whose_only_cell_failed_gets_a_report_that_says_so(make_study, local, monkeypatch):
    only = {"levels": {"high": 1}, "distributions": ["uniform"], "profiles": ["strict"]}
    experiment = make_study(**only)
    with monkeypatch.context() as patched:
        patched.setattr(
            METRICS.load("downstream"), "measure", lambda *_: (_ for _ in ()).throw(InputError("Too few texts."))
        )
        experiment.run(local)
    written = report_study(experiment, response="utility_f1")
    assert written.findings is None
    assert written.sentences == []
    assert written.left_out[0] == "1 of 1 cells are not finished, 1 of them failed"
    page = (written.folder / "report.html").read_text(encoding="utf-8")
    assert "Nothing could be analyzed. No cell has the response" in page
    assert "downstream: Too few texts. (1 cell: reviews / high / words / uniform / madlib / strict)" in page
    assert json.loads((written.folder / "findings.json").read_text())["settings"] == []
    report_study(experiment, response="utility_f1")  # it is replaced like any report


def test_one_data_set_at_one_level_gets_a_report(make_study, local):
    experiment = make_study(levels={"high": 1})
    experiment.run(local)
    written = report_study(experiment, response="utility_f1")
    page = (written.folder / "report.html").read_text(encoding="utf-8")
    assert "Not tested. One data set at one level (reviews, level high" in page
    assert page.count('<table class="results">') >= 2
    *sentences, draws = written.sentences
    assert all("no combination is recommended" in sentence for sentence in sentences)
    assert "too few draws of noise" in draws


def test_a_response_that_is_unknown_or_was_not_measured(finished):
    with pytest.raises(UnknownNameError, match="Did you mean 'utility_f1'"):
        report_study(finished, response="utilty_f1")
    with pytest.raises(InputError, match=r"'perplexity'\. Set `response` to one that the cells have: .*utility_f1"):
        report_study(finished, response="perplexity")


def test_caveats_tell_why_a_data_set_has_no_response(make_study, local, monkeypatch):
    experiment = make_study()
    kind = METRICS.load("downstream")
    monkeypatch.setattr(kind, "measure", lambda self, case: self.report("", {}, caveats=["Few texts."]))
    experiment.run(local)
    written = report_study(experiment, response="utility_f1")
    assert written.left_out == ("reviews, downstream: Few texts",)
    assert "Set `response` to one that the cells have" in written.obstacle
    assert "reviews, downstream: Few texts" in (written.folder / "report.html").read_text(encoding="utf-8")


def test_without_results_there_is_no_report(make_study):
    with pytest.raises(InputError, match="Run the study first"):
        report_study(make_study(), response="utility_f1")
