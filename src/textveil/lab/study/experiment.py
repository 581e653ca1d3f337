"""An experiment: a study with its folder, which is checked, planned, run on an executor, and written as results."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from textveil.errors import ResourceError
from textveil.execution import Executor
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.lab.study.cell_runner import TEXTS_KEY, CellDone, CellRunner, describe_error
from textveil.lab.study.datasets import DatasetInfo, check_source, read_dataset
from textveil.lab.study.grid import Cell
from textveil.lab.study.records import write_results
from textveil.lab.study.status import CellState, find_dataset_infos, find_state, find_states, store_setup
from textveil.lab.study.store import OBFUSCATION, Failure, Store
from textveil.lab.study.study import REGISTRIES, Study, StudyFile, choose_classifier, find_model_option
from textveil.models.files import MODEL_SOURCES, ModelFiles
from textveil.registry import Method
from textveil.resources import RESOURCES, find
from textveil.text.identifiers import MODEL as ENTITY_MODEL
from textveil.threads import limit_threads

_DATA = {
    ("distributions", "ic"): ("wordnet", "wordnet-ic"),
    ("metrics", "identifiers"): (ENTITY_MODEL,),
}
"""The resources of methods that have no option for them."""
_HUB_NAME = re.compile(r"\w[\w.-]*/[\w.-]+")
"""The name of a model on Hugging Face: OWNER/NAME, and no folder, which begins with a dot."""
PART_TEXTS = 128
"""The number of texts that one task scores."""
WORKER_DIED = "Its worker was killed repeatedly, perhaps because memory ran out. Retry it with fewer workers."


@dataclass(frozen=True, slots=True)
class Job:
    """The part that all tasks of a run have in common.

    Args:
        folder: The folder of the study.
        study: The study as JSON.
        threads: The number of threads of a worker; ``None`` sets no limit.
    """

    folder: Path
    study: str
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class SharedTask:
    """Compute something that several cells use: the scores of a distribution, or else numbers of the originals."""

    job: Job
    dataset: str
    metrics: tuple[str, ...] = ()
    """The metrics that need numbers of the originals."""
    distribution: str | None = None
    start: int = 0
    """The first text to score."""
    stop: int = 0

    def __str__(self) -> str:
        if self.distribution is None:
            return f"originals of {self.dataset}"
        return f"scores of {self.distribution} for {self.dataset}, texts {self.start + 1:,} to {self.stop:,}"


@dataclass(frozen=True, slots=True)
class CellTask:
    """Make and measure the texts of a cell."""

    job: Job
    cell: Cell
    metrics: tuple[str, ...]
    obfuscate: bool


@dataclass(frozen=True, slots=True)
class SharedDone:
    """The result of a shared task."""

    task: SharedTask
    seconds: float
    reason: str | None
    """The reason for its failure, if it failed."""
    warnings: tuple[str, ...] = ()
    """Reasons to change the study before its cells are run."""


@lru_cache(maxsize=1)
def open_cell_runner(job: Job) -> CellRunner:
    """The cell runner of this process."""
    if job.threads is not None:
        limit_threads(job.threads)
    return CellRunner(Study.model_validate_json(job.study), Store(job.folder))


def run_shared(task: SharedTask) -> SharedDone:
    """Compute something that several cells use. A failure is returned, not raised."""
    started = time.monotonic()
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    try:
        runner = open_cell_runner(task.job)
        if task.distribution is None:
            warnings = runner.measure_originals(task.dataset, task.metrics)
        else:
            runner.score_texts(task.dataset, task.distribution, task.start, task.stop)
    except Exception as error:  # noqa: BLE001 # the other tasks continue
        reason = describe_error(error)
    return SharedDone(task, time.monotonic() - started, reason, warnings)


def run_cell(task: CellTask) -> CellDone:
    """Make and measure the texts of a cell."""
    return open_cell_runner(task.job).run(task.cell, task.metrics, obfuscate=task.obfuscate)


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of a run."""

    states: tuple[CellState, ...]
    """The state of every cell before the run."""
    shared: tuple[SharedTask, ...]
    """The tasks whose results several cells use."""
    cells: tuple[CellTask, ...]


class Watcher:
    """Receives the progress of a run. This one ignores it."""

    def begin(self, plan: Plan) -> None:
        """A run begins."""

    def shared_done(self, done: SharedDone) -> None:
        """A shared task ended."""

    def cell_done(self, done: CellDone) -> None:
        """The task of a cell ended."""


class Experiment:
    """A study and the folder with its results.

    Args:
        file: The study.
        folder: The folder for results; by default ``STUDY-results`` beside the file.
        cache: A folder for data sets, scores and numbers; by default the same folder.
    """

    def __init__(self, file: StudyFile, folder: Path | None = None, *, cache: Path | None = None) -> None:
        self.file = file
        self.study = file.study
        self.store = Store(folder or file.folder, cache)
        self.runner = CellRunner(self.study, self.store)

    def check(self) -> None:
        """Check the bundle, the methods, the metrics and the presence of the data sets. Nothing is written.

        Raises:
            TextveilError: One of them does not match the study.
        """
        if missing := find_missing(self.study):
            raise ResourceError(describe_missing(missing))
        _ = self.runner.environment
        _ = self.runner.metrics
        for name, source in self.study.datasets.items():
            check_source(name, source, self.store.datasets)

    def find_states(self) -> list[CellState]:
        """The state of every cell, as stored. A data set that was never read has no cells yet."""
        return find_states(self.runner, find_dataset_infos(self.runner))

    def read_datasets(self) -> dict[str, DatasetInfo]:
        """Read the data sets, or find those that were read before. Check that metrics can use them."""
        found = {}
        for name, source in self.study.datasets.items():
            found[name] = read_dataset(name, source, self.store.datasets, begun=self.store.begun).info
            self.runner.evaluation_dataset(name)
        return found

    @contextmanager
    def preview(self) -> Iterator[Experiment]:
        """The same study with a temporary cache. Its plan and its estimate change no file of the study's folder."""
        with TemporaryDirectory() as cache:
            previewed = Experiment(self.file, self.store.folder, cache=Path(cache))
            previewed.store.datasets.mkdir()
            if self.store.datasets.is_dir():
                shutil.copytree(self.store.datasets, previewed.store.datasets, dirs_exist_ok=True)
            yield previewed

    def plan(self, executor: Executor, *, retry_failed: bool = False) -> Plan:
        """The work that is left."""
        states = tuple(find_states(self.runner, self.read_datasets()))
        if retry_failed:
            states = tuple(state.retried() for state in states)
        todo = [state for state in states if state.to_do]
        job = Job(self.store.folder.resolve(), self.study.model_dump_json(), executor.threads)
        cells = tuple(CellTask(job, state.cell, state.missing, state.lacks_texts) for state in todo)
        return Plan(states, (*self._plan_originals(job, todo), *self._plan_scores(job, todo)), cells)

    def _plan_originals(self, job: Job, todo: Sequence[CellState]) -> Iterator[SharedTask]:
        """One task for every data set, with the metrics that some cell lacks."""
        for name in self.study.datasets:
            missing = {metric for state in todo if state.cell.dataset == name for metric in state.missing}
            if missing:
                yield SharedTask(job, name, tuple(metric for metric in self.runner.metrics if metric in missing))

    def _plan_scores(self, job: Job, todo: Sequence[CellState]) -> Iterator[SharedTask]:
        """The tasks for every pair of data set and distribution that a cell without texts has."""
        pairs = dict.fromkeys((state.cell.dataset, state.cell.distribution) for state in todo if state.lacks_texts)
        for dataset, name in pairs:
            if not self.runner.distributors[name].data_independent:
                texts = self.runner.study_dataset(dataset).info.texts
                for start in range(0, texts, PART_TEXTS):
                    stop = min(start + PART_TEXTS, texts)
                    yield SharedTask(job, dataset, distribution=name, start=start, stop=stop)

    def run(self, executor: Executor, *, retry_failed: bool = False, watcher: Watcher | None = None) -> list[CellState]:
        """Do the work that is left, and return the state of every cell afterwards.

        The failure of a cell is stored, and the run continues with the other cells.

        Args:
            executor: Runs the tasks.
            retry_failed: Retry what failed before.
            watcher: Receives the progress.

        Raises:
            OutputExistsError: Another run is writing to the same folder.
            TextveilError: A data set, a model or the bundle does not match the study.
        """
        watcher = watcher or Watcher()
        self.check()
        with self.store.locked():
            plan = self.plan(executor, retry_failed=retry_failed)
            store_setup(self.runner, find_dataset_infos(self.runner))  # status and report then need no model
            watcher.begin(plan)
            try:
                failed: dict[tuple[str, str], str] = {}
                for done in executor.map(run_shared, plan.shared, give_up_shared):
                    watcher.shared_done(done)
                    if done.task.distribution is not None and done.reason is not None:
                        failed[done.task.dataset, done.task.distribution] = done.reason
                for cell_done in executor.map(run_cell, self._without(failed, plan.cells), self._give_up_cell):
                    watcher.cell_done(cell_done)
            finally:  # also after an interruption
                states = self.find_states()
                write_results(self.file, self.store, states)
        return states

    def _without(self, failed: dict[tuple[str, str], str], tasks: Sequence[CellTask]) -> list[CellTask]:
        """The tasks of cells whose scores are available. The other cells are stored as failures."""
        kept = []
        for task in tasks:
            reason = failed.get((task.cell.dataset, task.cell.distribution))
            if reason is None or not task.obfuscate:
                kept.append(task)
            else:
                failure = Failure(OBFUSCATION, f"Its scores could not be computed. {reason}")
                self.store.write_failure(task.cell, TEXTS_KEY, failure)
        return kept

    def _give_up_cell(self, task: CellTask) -> CellDone:
        """The result of a cell that kills every worker: its first missing step has failed."""
        keys = self.runner.find_keys(self.runner.study_dataset(task.cell.dataset).info)
        state = find_state(self.store, task.cell, keys)
        what = OBFUSCATION if state.texts is None or not state.missing else state.missing[0]
        failure = Failure(what, WORKER_DIED)
        self.store.write_failure(task.cell, keys.get(what, TEXTS_KEY), failure)
        return CellDone(task.cell, 0.0, obfuscated=False, measured=(), failures=(failure,))


def give_up_shared(task: SharedTask) -> SharedDone:
    """The result of a shared task that kills every worker."""
    return SharedDone(task, 0.0, WORKER_DIED)


def list_models(study: Study) -> Iterator[tuple[str, str]]:
    """The name of every method that uses a model, with the model. Models of classifiers are included."""
    for key, registry in REGISTRIES.items():
        for name, options in getattr(study, key).items():
            method = registry.load(name)
            unused = method.list_unused(options) if registry is METRICS else ()
            found = [*_find_models(method, options, unused), *_DATA.get((key, name), ())]
            if (classifier := choose_classifier(method, options)) is not None:
                found += _find_models(CLASSIFIERS.load(classifier), options.get("classifier_options") or {})
            yield from ((name, model) for model in found)


def _find_models(method: type[Method], options: Mapping[str, Any], unused: Sequence[str] = ()) -> Sequence[str]:
    """The models of a method with some options, given or by default, except those of an unused option."""
    option = find_model_option(method)
    if option is None or option in unused:
        return ()
    value = options.get(option, method.list_options()[option].default)
    return [str(value)] if isinstance(value, str) else [str(each) for each in value or ()]


def find_missing(study: Study) -> dict[str, list[str]]:
    """The models and data that this machine lacks, each with the names of the methods that need it."""
    missing: dict[str, list[str]] = {}
    for method, model in list_models(study):
        try:
            _ = find(model) if model in RESOURCES else ModelFiles.find(model)
        except ResourceError:
            users = missing.setdefault(model, [])
            users += [] if method in users else [method]
    return missing


def describe_missing(missing: Mapping[str, list[str]]) -> str:
    """All missing models and data in one message, with the commands that get them."""
    resources = [model for model in missing if model in RESOURCES]
    downloads = [model for model in missing if model not in RESOURCES and _HUB_NAME.fullmatch(model)]
    unknown = [repr(model) for model in missing if model not in (*resources, *downloads)]
    listed = [f"{model} ({', '.join(users)})" for model, users in missing.items()]
    said = f"Not on this machine: {', '.join(listed)}."
    if unknown:
        said += f" There is no model {' and no '.join(unknown)}. A model is {MODEL_SOURCES}."
    commands = [f"textveil resources install {' '.join(resources)}"] if resources else []
    commands += [f"hf download {model}" for model in downloads]
    return f"{said} Get them with: {'; '.join(commands)}" if commands else said
