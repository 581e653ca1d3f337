"""What workers do, and keep."""

from __future__ import annotations

from textveil.experiments.tasks import Job, OriginalsTask, ScoreTask, open_cell_runner, prepare


def make_job(experiment):
    with experiment.store.locked():
        experiment.prepare()
    return Job(experiment.store.folder, experiment.study.model_dump_json())


def test_a_process_keeps_its_bench(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert open_cell_runner(job) is open_cell_runner(Job(job.folder, job.study))
    assert open_cell_runner(job).study == experiment.study  # as JSON and back


def test_parts_of_scores_are_found_by_all(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert prepare(ScoreTask(job, "reviews", "yake", 0, 20)).reason is None
    kept = list(experiment.store.scores.rglob("*.npz"))
    assert len(kept) == 1
    assert prepare(ScoreTask(job, "reviews", "yake", 0, 20)).reason is None
    assert list(experiment.store.scores.rglob("*.npz")) == kept
    open_cell_runner.cache_clear()
    assert prepare(ScoreTask(job, "reviews", "yake", 20, 38)).reason is None
    assert len(list(experiment.store.scores.rglob("*.npz"))) == 2


def test_what_originals_need_is_kept(make_study):
    experiment = make_study()
    job = make_job(experiment)
    assert prepare(OriginalsTask(job, "reviews", ("downstream", "clear_text"))).reason is None
    assert list(experiment.store.numbers.rglob("*.npz"))


def test_what_fails_is_told(make_study):
    job = make_job(make_study())
    assert prepare(OriginalsTask(job, "reviews", ("no metric",))).reason.startswith("a KeyError in cell_runner.py")
