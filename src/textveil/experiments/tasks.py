"""What workers are asked to do; each keeps its runner, with all models, for the tasks to come."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from textveil.experiments.cell_runner import CellRunner, Finished, describe
from textveil.experiments.grid import Cell
from textveil.experiments.store import Store
from textveil.experiments.study import Study
from textveil.language.text import Document
from textveil.threads import limit_threads


@dataclass(frozen=True, slots=True)
class Job:
    """What all tasks of a run have in common.

    Args:
        folder: The folder of the study.
        study: The study as JSON.
        threads: How many threads a worker may use; ``None`` leaves it as it is.
    """

    folder: Path
    study: str
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreTask:
    """Some texts of a data set, to be scored by a distribution."""

    job: Job
    dataset: str
    distribution: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class OriginalsTask:
    """The originals of a data set, to be prepared for metrics."""

    job: Job
    dataset: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellTask:
    """A cell, with what is to be done for it."""

    job: Job
    cell: Cell
    metrics: tuple[str, ...]
    obfuscate: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of a task that prepares cells."""

    task: ScoreTask | OriginalsTask
    seconds: float
    reason: str | None
    """Why it failed, if it did."""


@lru_cache(maxsize=1)
def open_cell_runner(job: Job) -> CellRunner:
    """The runner of this process."""
    if job.threads is not None:
        limit_threads(job.threads)
    return CellRunner(Study.model_validate_json(job.study), Store(job.folder))


def prepare(task: ScoreTask | OriginalsTask) -> Prepared:
    """Work out what cells share. What fails is told; the cells that need it say so."""
    started = time.monotonic()
    reason = None
    try:
        runner = open_cell_runner(task.job)
        if isinstance(task, ScoreTask):
            texts = runner.prepared(task.dataset).texts[task.start : task.stop]
            runner.distributor(task.distribution).score([Document.parse(text) for text in texts])
        else:
            runner.measure_originals(task.dataset, task.metrics)
    except Exception as error:  # noqa: BLE001 # what does not need it goes on
        reason = describe(error)
    return Prepared(task, time.monotonic() - started, reason)


def finish(task: CellTask) -> Finished:
    """Make and measure the texts of a cell."""
    return open_cell_runner(task.job).finish(task.cell, task.metrics, obfuscate=task.obfuscate)
