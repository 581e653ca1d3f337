"""Running a study: data sets are read, scores and originals worked out once, then cell by cell on an executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.execution import Executor
from textveil.execution.base import usable_cores
from textveil.experiments.cell_runner import TEXTS_KEY, CellRunner, Finished
from textveil.experiments.datasets import Description, prepare_dataset
from textveil.experiments.records import write_results
from textveil.experiments.status import CellState, find_descriptions, look, look_at
from textveil.experiments.store import OBFUSCATION, Failure, Store
from textveil.experiments.study import StudyFile
from textveil.experiments.tasks import CellTask, Job, OriginalsTask, Prepared, ScoreTask, finish, prepare

PART_TEXTS = 128
"""Texts that are scored between two moments at which scores are put on the disk."""

WORKER_DIED = (
    "Its worker was killed again and again, perhaps because memory ran out. Try it again with fewer --workers."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is going to do."""

    states: tuple[CellState, ...]
    shared: tuple[ScoreTask | OriginalsTask, ...]
    """What is worked out once, for all cells that need it."""
    cells: tuple[CellTask, ...]


class Watcher:
    """Is told what a run does; this one ignores it."""

    def begin(self, plan: Plan) -> None:
        """A run begins."""

    def prepared(self, done: Prepared) -> None:
        """Something that cells share was worked out."""

    def finished(self, done: Finished) -> None:
        """A cell was done, as far as it could be."""


class Experiment:
    """A study, and the folder with its results.

    Args:
        file: The study.
        folder: Where its results are kept; by default beside the file.
    """

    def __init__(self, file: StudyFile, folder: Path | None = None) -> None:
        self.file = file
        self.study = file.study
        self.store = Store(folder or file.folder)
        self.runner = CellRunner(self.study, self.store)

    def look(self) -> list[CellState]:
        """How far the study is, as the disk tells; data sets that were never read have no cells yet."""
        return look(self.runner, find_descriptions(self.runner))

    def prepare(self) -> dict[str, Description]:
        """Read the data sets, or find them as they were read before; see that metrics can use them."""
        found = {}
        for name, source in self.study.datasets.items():
            prepared = prepare_dataset(name, source, self.store.datasets, begun=self.store.begun)
            found[name] = prepared.description
            self.runner.dataset(name)
        return found

    def plan(self, executor: Executor, *, retry_failed: bool = False) -> Plan:
        """What is left to do."""
        states = tuple(look(self.runner, self.prepare()))
        if retry_failed:
            states = tuple(state.retried() for state in states)
        todo = [state for state in states if state.to_do]
        job = Job(self.store.folder.resolve(), self.study.model_dump_json(), choose_threads(executor))
        cells = tuple(CellTask(job, state.cell, state.missing, state.lacks_texts) for state in todo)
        return Plan(states, (*self._plan_originals(job, todo), *self._plan_scores(job, todo)), cells)

    def _plan_originals(self, job: Job, todo: Sequence[CellState]) -> list[OriginalsTask]:
        """For every data set, the metrics that some cell lacks."""
        missing = {
            name: {metric for state in todo if state.cell.dataset == name for metric in state.missing}
            for name in self.study.datasets
        }
        return [
            OriginalsTask(job, name, tuple(metric for metric in self.runner.metrics if metric in lacking))
            for name, lacking in missing.items()
            if lacking
        ]

    def _plan_scores(self, job: Job, todo: Sequence[CellState]) -> list[ScoreTask]:
        """For every data set, the distributions that some cell without texts has; part by part."""
        pairs = dict.fromkeys((state.cell.dataset, state.cell.distribution) for state in todo if state.lacks_texts)
        sizes = {dataset: self.runner.prepared(dataset).description.texts for dataset, _ in pairs}
        return [
            ScoreTask(job, dataset, distribution, start, min(start + PART_TEXTS, sizes[dataset]))
            for dataset, distribution in pairs
            if not self.runner.distributor(distribution).data_independent
            for start in range(0, sizes[dataset], PART_TEXTS)
        ]

    def run(self, executor: Executor, *, retry_failed: bool = False, watcher: Watcher | None = None) -> list[CellState]:
        """Do what is left to do; the state of every cell afterwards.

        A cell that fails is kept as a failure, and the others go on.

        Args:
            executor: Where cells are worked on.
            retry_failed: Try again what failed before.
            watcher: Is told what is done.

        Raises:
            OutputExistsError: Another run works on this study now.
            TextveilError: A data set, a model or the bundle is not what the study says.
        """
        watcher = watcher or Watcher()
        with self.store.locked():
            plan = self.plan(executor, retry_failed=retry_failed)
            watcher.begin(plan)
            try:
                failed: dict[tuple[str, str], str] = {}
                for done in executor.map(prepare, plan.shared, give_up):
                    watcher.prepared(done)
                    if isinstance(done.task, ScoreTask) and done.reason is not None:
                        failed[done.task.dataset, done.task.distribution] = done.reason
                for finished in executor.map(finish, self._without(failed, plan.cells), self._give_up_cell):
                    watcher.finished(finished)
            finally:  # also of a run that is stopped
                states = self.look()
                write_results(self.file, self.store, states)
        return states

    def _without(self, failed: dict[tuple[str, str], str], tasks: Sequence[CellTask]) -> list[CellTask]:
        """The cells whose scores are there; those of others have failed with them."""
        kept = []
        for task in tasks:
            reason = failed.get((task.cell.dataset, task.cell.distribution))
            if task.obfuscate and reason is not None:
                failure = Failure(OBFUSCATION, f"Its scores could not be worked out. {reason}")
                self.store.write_failure(task.cell, TEXTS_KEY, failure)
            else:
                kept.append(task)
        return kept

    def _give_up_cell(self, task: CellTask) -> Finished:
        """A cell that kills every worker: what it could not go beyond has failed."""
        keys = self.runner.find_keys(self.runner.prepared(task.cell.dataset).description)
        state = look_at(self.store, task.cell, keys)
        next_metric = next((metric for metric in self.runner.metrics if metric in state.missing), OBFUSCATION)
        what = OBFUSCATION if state.texts is None else next_metric
        failure = Failure(what, WORKER_DIED)
        self.store.write_failure(task.cell, keys.get(what, TEXTS_KEY), failure)
        return Finished(task.cell, 0.0, obfuscated=False, measured=(), failures=(failure,))


def give_up(task: ScoreTask | OriginalsTask) -> Prepared:
    """Something that cells share kills every worker."""
    return Prepared(task, 0.0, WORKER_DIED)


def choose_threads(executor: Executor) -> int | None:
    """How many threads a worker may use, so that all of them together use the cores of a machine once."""
    if executor.name == "local":
        return None
    return 1 if executor.name == "ray" else max(1, usable_cores() // executor.workers)
