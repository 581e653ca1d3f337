"""The tasks of workers, and the cell runner that a worker keeps."""

from __future__ import annotations

from textveil.experiments.tasks import Job, OriginalsTask, ScoreTask, open_cell_runner, run_shared


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
    assert run_shared(ScoreTask(job, "reviews", "yake", 0, 20)).reason is None
    kept = list(experiment.store.scores.rglob("*.npz"))
    assert len(kept) == 1
    assert run_shared(ScoreTask(job, "reviews", "yake", 0, 20)).reason is None
    assert list(experiment.store.scores.rglob("*.npz")) == kept
    open_cell_runner.cache_clear()
    assert run_shared(ScoreTask(job, "reviews", "yake", 20, 38)).reason is None
    assert len(list(experiment.store.scores.rglob("*.npz"))) == 2


def test_numbers_of_originals_are_cached(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert run_shared(OriginalsTask(job, "reviews", ("downstream", "clear_text"))).reason is None
    assert list(experiment.store.numbers.rglob("*.npz"))


def test_a_failure_is_returned_with_its_reason(make_study):
    job = make_job(make_study())
    assert run_shared(OriginalsTask(job, "reviews", ("no metric",))).reason.startswith("a KeyError in cell_runner.py")
