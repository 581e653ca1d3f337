"""Running studies: once, again, changed, interrupted, in several processes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from textveil.errors import ColumnError, InputError, OutputExistsError, ResourceError, StudyError, UnknownNameError
from textveil.execution.local import LocalExecutor, ProcessExecutor
from textveil.lab.study import cell_runner as cell_runner_module
from textveil.lab.study.cell_runner import CellRunner
from textveil.lab.study.experiment import WORKER_DIED, Watcher
from textveil.lab.study.report import report_study
from textveil.methods.decomposition.words import Words
from textveil.registry import Option


def read_results(folder: Path, *without: str) -> list[dict[str, str]]:
    """The rows of the results, without times."""
    with (folder / "results.csv").open(encoding="utf-8", newline="") as lines:
        return [{k: v for k, v in row.items() if k not in ("seconds", *without)} for row in csv.DictReader(lines)]


class Counting(Watcher):
    def __init__(self):
        self.shared, self.done = [], []

    def shared_done(self, done):
        self.shared.append(done)

    def cell_done(self, done):
        self.done.append(done)


def run(experiment, executor, **options) -> Counting:
    watcher = Counting()
    experiment.run(executor, watcher=watcher, **options)
    return watcher


def test_all_cells_are_done_once(make_study, local):
    experiment = make_study()
    first = run(experiment, local)
    assert len(first.done) == 8
    assert all(done.obfuscated and done.measured == ("downstream", "clear_text") for done in first.done)
    assert all(state.finished for state in experiment.find_states())
    again = run(make_study(), local)
    assert (again.shared, again.done) == ([], [])


def test_scores_are_computed_once_and_shared(make_study, local, monkeypatch):
    from textveil.methods.distribution.yake import Yake

    scored = []
    score = Yake.score

    def counted(self, documents):
        scored.extend(document.text for document in documents)
        return score(self, documents)

    monkeypatch.setattr(Yake, "score", counted)
    run(make_study(), local)
    assert len(scored) == len(set(scored)) == 38  # for four cells


def test_a_new_metric_scores_old_texts(finished, make_study, local, monkeypatch):
    before = {path: path.read_bytes() for path in Path(finished.store.folder / "texts").iterdir()}
    monkeypatch.setattr(CellRunner, "obfuscate", lambda *_: pytest.fail("texts are made again"))
    added = run(make_study(metrics={"downstream": {}, "clear_text": {}, "attribute": {}}), local)
    assert [(done.obfuscated, done.measured) for done in added.done] == [(False, ("attribute",))] * 8
    assert {path: path.read_bytes() for path in before} == before
    assert {row["metric"] for row in read_results(make_study().store.folder)} >= {"static_f1", "utility_f1"}


@pytest.mark.usefixtures("finished")
def test_a_changed_study_reuses_what_fits(make_study, local):
    more = run(make_study(levels={"strong": 1, "low": 20, "lower": 40}), local)  # one renamed, one new
    assert {done.cell.level for done in more.done} == {"lower"}
    assert len(more.done) == 4
    other = run(make_study(seeds=[42, 43]), local)
    assert [(done.obfuscated, done.measured) for done in other.done] == [(False, ("downstream",))] * 8
    assert len(run(make_study(seed=6), local).done) == 8  # other noise


def test_the_same_seed_gives_the_same_results_and_without_one_they_differ(finished, make_study, local, tmp_path):
    run(make_study(tmp_path / "again"), local)
    for name in ("three", "four"):
        run(make_study(tmp_path / name, seed=None), local)
    again, three, four = (read_results(tmp_path / name) for name in ("again", "three", "four"))
    assert read_results(finished.store.folder) == again
    assert three != four


def test_processes_give_what_local_gives(finished, make_study, tmp_path):
    with ProcessExecutor(2) as processes:
        found = run(make_study(tmp_path / "two"), processes)
    assert len(found.done) == 8
    assert read_results(finished.store.folder) == read_results(tmp_path / "two")


@pytest.mark.slow
def test_ray_gives_what_local_gives(make_study, local, open_executor, tmp_path):
    run(make_study(tmp_path / "one"), local)
    with open_executor("ray", 2) as ray:
        run(make_study(tmp_path / "two"), ray)
    assert read_results(tmp_path / "one") == read_results(tmp_path / "two")


@pytest.mark.usefixtures("finished")
def test_chunks_are_found_again_where_a_seed_repeats_them(make_study, local):
    metrics = {"inversion": {"sample": 50}}
    later = run(make_study(metrics=metrics), local)
    assert {done.measured for done in later.done} == {("inversion",)}
    late = read_results(make_study().store.folder)
    at_once = make_study(make_study().store.folder.with_name("other"), metrics=metrics)
    run(at_once, local)
    assert read_results(at_once.store.folder) == late
    run(make_study(seed=None), local)
    without = make_study(seed=None, metrics=metrics)
    run(without, local)
    assert "Without a `seed`" in without.find_states()[0].failures[0].reason


def fail(cell_name):
    obfuscate = CellRunner.obfuscate

    def failing(self, cell):
        if cell_name in str(cell):
            raise ValueError("The film of gamma delta")  # what a bug may quote
        return obfuscate(self, cell)

    return failing


def test_a_failed_cell_is_stored_and_the_others_continue(make_study, local, monkeypatch):
    experiment = make_study()
    with monkeypatch.context() as patched:
        patched.setattr(CellRunner, "obfuscate", fail("low / words / yake / madlib / paper"))
        run(experiment, local)
    failed = [state for state in experiment.find_states() if not state.finished]
    assert [str(state.cell) for state in failed] == ["reviews / low / words / yake / madlib / paper"]
    assert failed[0].failures[0].what == "obfuscation"
    assert failed[0].failures[0].reason.startswith("a ValueError in test_experiment.py, line ")
    kept = "".join(path.read_text() for path in experiment.store.folder.glob("failures/*/*.json"))
    assert "gamma" not in kept
    assert run(experiment, local).done == []  # not tried again
    assert len(run(experiment, local, retry_failed=True).done) == 1
    assert all(state.finished for state in experiment.find_states())
    assert not list(experiment.store.folder.glob("failures/*/*.json"))


def test_a_metric_that_fails_leaves_the_others(make_study, local):
    metrics = {"clear_text": {}, "perplexity": {"model": "no-model"}}
    with pytest.raises(ResourceError, match="no-model"):  # before anything is run
        make_study(metrics=metrics).run(local)
    experiment = make_study(levels={"high": 1}, metrics={"clear_text": {}, "downstream": {}})
    original = cell_runner_module.METRICS.load("downstream").measure
    try:
        cell_runner_module.METRICS.load("downstream").measure = lambda *_: (_ for _ in ()).throw(InputError("No."))
        watcher = run(experiment, local)
    finally:
        cell_runner_module.METRICS.load("downstream").measure = original
    assert {done.measured for done in watcher.done} == {("clear_text",)}
    assert [failure.reason for failure in experiment.find_states()[0].failures] == ["No."]
    again = run(experiment, local, retry_failed=True)
    assert {(done.obfuscated, done.measured) for done in again.done} == {(False, ("downstream",))}


def test_scores_that_fail_fail_their_cells_at_once(make_study, local, monkeypatch):
    from textveil.methods.distribution.yake import Yake

    monkeypatch.setattr(Yake, "score", lambda *_: (_ for _ in ()).throw(InputError("YAKE is tired.")))
    experiment = make_study()
    watcher = run(experiment, local)
    assert {done.cell.distribution for done in watcher.done} == {"uniform"}
    reasons = {failure.reason for state in experiment.find_states() for failure in state.failures}
    assert reasons == {"Its scores could not be computed. YAKE is tired."}


@pytest.mark.parametrize("damage", ["junk", "another's", "removed"])
def test_damaged_texts_are_made_again(finished, make_study, local, damage):
    experiment = finished
    before = read_results(experiment.store.folder)
    first, second = (
        experiment.store.folder / "texts" / f"{state.cell.id}.parquet" for state in experiment.find_states()[:2]
    )
    if damage == "removed":
        first.unlink()
    else:
        first.write_bytes(b"junk" if damage == "junk" else second.read_bytes())
    again = run(make_study(metrics={"downstream": {}, "clear_text": {}, "attribute": {}}), local)
    assert [done.obfuscated for done in again.done] == [True] + [False] * 7
    assert not any(done.failures for done in again.done)
    run(make_study(), local)
    assert read_results(experiment.store.folder) == before


def test_a_file_may_change_until_texts_were_made(make_study, local, tmp_path):
    experiment = make_study()
    with experiment.store.locked():
        experiment.plan(local)
    file = tmp_path / "reviews.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:30]), encoding="utf-8")
    run(make_study(), local)
    assert make_study().runner.study_dataset("reviews").info.texts == 24
    file.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(StudyError, match="has changed since this study began"):
        run(make_study(), local)


def test_finding_states_writes_nothing(make_study, tmp_path):
    experiment = make_study(tmp_path / "nowhere", metrics={"similarity": {"models": ["not-there"]}})
    assert experiment.find_states() == []
    assert not experiment.store.folder.exists()


class Losing(LocalExecutor):
    """Loses a task, as an executor does whose workers are killed by it."""

    def __init__(self, name, after=None):
        super().__init__()
        self.name_of_lost, self.after = name, after

    def map(self, function, tasks, lost=None):
        for task in tasks:
            if self.name_of_lost not in str(getattr(task, "cell", task)):
                yield function(task)
                continue
            if self.after is not None:
                function(replace(task, metrics=self.after))
            yield lost(task)


@pytest.mark.parametrize(("after", "what"), [(None, "obfuscation"), (("downstream",), "clear_text")])
def test_a_cell_that_kills_its_workers_is_stored_and_the_others_continue(make_study, local, after, what):
    experiment = make_study()
    run(experiment, Losing("low / words / yake / madlib / paper", after))
    (failed,) = [state for state in experiment.find_states() if not state.finished]
    assert [(failure.what, failure.reason) for failure in failed.failures] == [(what, WORKER_DIED)]
    assert set(failed.values) == set(after or ())
    run(make_study(), local, retry_failed=True)
    assert all(state.finished for state in make_study().find_states())


def test_scores_that_kill_their_workers_fail_their_cells(make_study):
    experiment = make_study()
    run(experiment, Losing("scores of yake"))
    reasons = {state.cell.distribution: [f.reason for f in state.failures] for state in experiment.find_states()}
    assert reasons == {"uniform": [], "yake": [f"Its scores could not be computed. {WORKER_DIED}"]}


def test_a_data_set_without_an_attribute_has_no_attackers(make_study, local, tmp_path):
    sources = {"plain": {"path": "reviews.jsonl"}, "full": {"path": "reviews.jsonl", "attribute": "author"}}
    experiment = make_study(datasets=sources, metrics={"attribute": {}, "clear_text": {}})
    run(experiment, local)
    assert {tuple(sorted(s.values)) for s in experiment.find_states() if s.cell.dataset == "plain"} == {("clear_text",)}
    assert all(state.finished for state in experiment.find_states())


def test_bad_data_is_reported_before_anything_is_run(make_study, local, tmp_path):
    bad = {"reviews": {"path": "reviews.jsonl", "label": "sentiment"}}
    with pytest.raises(ColumnError, match="no column 'sentiment'.*Fix 'datasets.reviews'"):
        make_study(datasets=bad).run(local)
    with pytest.raises(InputError, match="'reviews' was not found"):
        make_study(datasets={"reviews": {"path": "nowhere.csv"}}).run(local)


def test_a_label_that_cannot_be_learned_stops_only_the_metrics_that_need_it(make_study, local):
    class Warned(Watcher):
        lines: ClassVar[list[str]] = []

        def shared_done(self, done):
            self.lines.extend(done.warnings)

    alone = {"reviews": {"path": "reviews.jsonl", "label": "language", "attribute": "author"}}
    metrics = {"downstream": {}, "overlap": {}, "attribute": {}}
    experiment = make_study(datasets=alone, metrics=metrics, profiles=["strict"])
    experiment.run(local, watcher=Warned())
    states = experiment.find_states()
    assert {tuple(sorted(state.values)) for state in states} == {("attribute", "overlap")}
    assert all(state.finished for state in states)
    assert "that need the label are not measured. All texts have the same label." in Warned.lines[0]
    found = report_study(experiment, response="overlap_rouge_l")
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    assert "label not used: All texts have the same label." in page


def test_two_runs_at_once_are_refused(make_study, local):
    experiment = make_study()
    with experiment.store.locked(), pytest.raises(OutputExistsError, match="Another run is writing"):
        make_study().run(local)


def wait_for(folder: Path, cells: int, process: subprocess.Popen) -> None:
    for _ in range(600):
        if len(list(folder.glob("texts/*.json"))) >= cells or process.poll() is not None:
            return
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "processes"])
def test_a_run_that_is_killed_three_times_has_the_same_results(make_study, local, tmp_path, executor):
    whole = make_study(tmp_path / "whole", metrics={"downstream": {}, "attribute": {}, "clear_text": {}})
    run(whole, local)
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "textveil.cli.main", "experiment", "run", str(whole.file.path)]
    command += ["--folder", str(folder), "--executor", executor]
    for cells in (1, 3, 6):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_for(folder, cells, process)
            assert process.poll() is None, "it should have been killed before it ends"
            os.kill(process.pid, signal.SIGKILL)
    assert 6 <= len(list(folder.glob("texts/*.json"))) <= 8
    subprocess.run(command, check=True, capture_output=True)
    assert read_results(folder) == read_results(whole.store.folder)
    assert len(json.dumps(read_results(folder))) > 1000


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The time and the content of every file, and the names of all folders."""
    files = {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    return files | {str(path): (path.stat().st_mtime_ns, b"") for path in folder.rglob("*") if path.is_dir()}


def test_a_preview_plans_without_a_change_to_the_folder(make_study, local, tmp_path):
    before = snapshot(tmp_path)
    with make_study(tmp_path / "new").preview() as preview:
        assert len(preview.plan(local).cells) == 8
    assert set(snapshot(tmp_path)) - set(before) == {str(tmp_path / "study.yaml")}
    run(make_study(levels={"high": 1}), local)
    experiment = make_study()
    before = snapshot(tmp_path)
    with experiment.preview() as preview:
        plan = preview.plan(local)
        assert (len(plan.states), len(plan.cells)) == (8, 4)
        cache = preview.store.datasets
    assert snapshot(tmp_path) == before
    assert not cache.exists()


@pytest.mark.usefixtures("finished")
def test_a_preview_finds_a_data_set_whose_file_is_gone(make_study, local, tmp_path):
    (tmp_path / "reviews.jsonl").unlink()
    with make_study().preview() as preview:
        preview.check()
        assert all(state.finished for state in preview.plan(local).states)


def test_a_preview_of_a_changed_file_keeps_the_stored_data_set(make_study, local, tmp_path):
    experiment = make_study()
    with experiment.store.locked():
        experiment.read_datasets()
    before = snapshot(experiment.store.folder)
    file = tmp_path / "reviews.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:30]), encoding="utf-8")
    with make_study().preview() as preview:
        preview.plan(local)
        assert preview.runner.study_dataset("reviews").info.texts == 24
    assert snapshot(experiment.store.folder) == before


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"metrics": {"perplexity": {"model": "no-model"}}}, ResourceError),
        ({"distributions": {"attention": {"model": "no-model"}}}, ResourceError),
        ({"datasets": {"reviews": {"path": "nowhere.csv"}}}, InputError),
        ({"bundle": "nowhere"}, UnknownNameError),
    ],
)
def test_a_study_that_cannot_run_is_refused_before_anything_is_written(make_study, local, tmp_path, changes, error):
    experiment = make_study(**changes)
    with pytest.raises(error):
        experiment.check()
    with pytest.raises(error):
        experiment.run(local)
    assert not experiment.store.folder.exists()


def test_the_options_of_a_decomposition_change_its_cells(make_study, local, tmp_path, monkeypatch):
    monkeypatch.setattr(Words, "options", (Option("size", int, 1, "Number of words.", least=1),))
    first = run(make_study(distributions=["uniform"]), local)
    again = run(make_study(distributions=["uniform"], decompositions={"words": {"size": 1}}), local)
    other = run(make_study(distributions=["uniform"], decompositions={"words": {"size": 2}}), local)
    assert (len(first.done), len(again.done), len(other.done)) == (4, 0, 4)
    terms = make_study(distributions=["uniform"], decompositions={"words": {"size": 2}}).find_states()[0].texts
    assert terms.certificate.terms.decomposition["options"] == {"size": 2}


def test_the_options_of_a_mechanism_change_its_cells(make_study, local):
    first = run(make_study(distributions=["uniform"]), local)
    changed = make_study(distributions=["uniform"], mechanisms={"madlib": {"dimensions": 3}})
    assert len(run(changed, local).done) == len(first.done) == 4
    assert changed.find_states()[0].texts.certificate.terms.mechanism["options"]["dimensions"] == 3


def test_draws_have_noise_of_their_own_and_share_scores(make_study, local):
    values = {"distributions": ["yake"], "profiles": ["strict"], "metrics": {"clear_text": {}}}
    values["levels"] = {"high": 1, "low": {"unchanged": 0.6}}
    first = make_study(**values).run(local)
    experiment = make_study(draws=3, **values)
    watcher = run(experiment, local)
    assert [done.cell.draw for done in watcher.done] == [2, 2, 3, 3]  # the first draw is not repeated
    states = experiment.find_states()
    assert states[:2] == first
    low = [state for state in states if state.cell.level == "low"]
    assert len({state.texts.sha256 for state in low}) == 3
    assert len({state.cell.epsilon_per_word for state in low}) == 1
    found = {(row["level"], row["level_target"], row["draw"]) for row in read_results(experiment.store.folder)}
    levels = (("high", ""), ("low", "unchanged 0.6"))
    assert found == {(*level, draw) for level in levels for draw in ("1", "2", "3")}
