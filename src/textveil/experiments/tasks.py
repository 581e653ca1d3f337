"""The tasks of a run. A worker keeps its cell runner, with all models, from task to task."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from textveil.experiments.cell_runner import CellDone, CellRunner, describe_error
from textveil.experiments.grid import Cell
from textveil.experiments.store import Store
from textveil.experiments.study import Study
from textveil.language.text import Document
from textveil.threads import limit_threads

STORED_TEXTS = 8
"""The number of texts whose scores are stored together. After an interruption, at most these are scored again."""


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
class ScoreTask:
    """Score some texts of a data set with a distribution."""

    job: Job
    dataset: str
    distribution: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class OriginalsTask:
    """Compute the numbers that metrics need of a data set's originals."""

    job: Job
    dataset: str
    metrics: tuple[str, ...]


SharedTask: TypeAlias = ScoreTask | OriginalsTask
"""A task whose result several cells use."""


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
        if isinstance(task, ScoreTask):
            score_texts(runner, task)
        else:
            warnings = runner.measure_originals(task.dataset, task.metrics)
    except Exception as error:  # noqa: BLE001 # the other tasks continue
        reason = describe_error(error)
    return SharedDone(task, time.monotonic() - started, reason, warnings)


def score_texts(runner: CellRunner, task: ScoreTask) -> None:
    """Score the texts of a task. Scores are stored after every few texts."""
    texts = runner.study_dataset(task.dataset).texts
    distributor = runner.cached_distributor(task.distribution)
    for start in range(task.start, task.stop, STORED_TEXTS):
        distributor.score([Document.parse(text) for text in texts[start : min(start + STORED_TEXTS, task.stop)]])


def run_cell(task: CellTask) -> CellDone:
    """Make and measure the texts of a cell."""
    return open_cell_runner(task.job).run(task.cell, task.metrics, obfuscate=task.obfuscate)
