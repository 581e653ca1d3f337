"""The tasks of workers, and the cell runner that a worker keeps."""

from __future__ import annotations

import pytest

from textveil.lab.study.experiment import Job, SharedTask, open_cell_runner, run_shared
from textveil.methods.distribution.yake import Yake


def make_job(experiment):
    with experiment.store.locked():
        experiment.read_datasets()
    return Job(experiment.store.folder, experiment.study.model_dump_json())


def test_a_process_keeps_its_cell_runner(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert open_cell_runner(job) is open_cell_runner(Job(job.folder, job.study))
    assert open_cell_runner(job).study == experiment.study  # as JSON and back


def test_scores_are_stored_part_by_part_and_found_again(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert run_shared(SharedTask(job, "reviews", distribution="yake", start=0, stop=20)).reason is None
    kept = list(experiment.store.scores.rglob("*.npz"))
    assert len(kept) == 3  # 8, 8 and 4 texts
    assert run_shared(SharedTask(job, "reviews", distribution="yake", start=0, stop=20)).reason is None
    assert list(experiment.store.scores.rglob("*.npz")) == kept
    open_cell_runner.cache_clear()
    assert run_shared(SharedTask(job, "reviews", distribution="yake", start=20, stop=38)).reason is None
    assert len(list(experiment.store.scores.rglob("*.npz"))) == 6


def test_an_interrupted_task_loses_only_the_texts_in_progress(make_study, monkeypatch):
    experiment = make_study()
    job = make_job(experiment)
    score, scored = Yake.score, []

    def stop_in_the_third_part(self, documents):
        if len(scored) == 16:
            raise KeyboardInterrupt
        scored.extend(document.text for document in documents)
        return score(self, documents)

    monkeypatch.setattr(Yake, "score", stop_in_the_third_part)
    task = SharedTask(job, "reviews", distribution="yake", start=0, stop=38)
    with pytest.raises(KeyboardInterrupt):
        run_shared(task)
    open_cell_runner.cache_clear()
    again = []
    monkeypatch.setattr(Yake, "score", lambda self, docs: again.extend(d.text for d in docs) or score(self, docs))
    assert run_shared(task).reason is None
    assert (len(scored), len(again)) == (16, 22)
    assert not set(scored) & set(again)


def test_numbers_of_originals_are_cached(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert run_shared(SharedTask(job, "reviews", ("downstream", "clear_text"))).reason is None
    assert list(experiment.store.numbers.rglob("*.npz"))


def test_a_classifier_that_learned_too_little_is_reported_before_cells_are_run(make_study, make_encoder):
    weak = {"classifier": "transformer", "classifier_options": {"model": str(make_encoder()), "learning_rate": 1e-9}}
    job = make_job(make_study(metrics={"attribute": weak, "downstream": {}}))
    done = run_shared(SharedTask(job, "reviews", ("attribute", "downstream")))
    assert done.reason is None
    (warning,) = done.warnings
    assert "it has learned too little" in warning


def test_a_failure_is_returned_with_its_reason(make_study):
    job = make_job(make_study())
    assert run_shared(SharedTask(job, "reviews", ("no metric",))).reason.startswith("a KeyError in cell_runner.py")
