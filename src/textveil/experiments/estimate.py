"""How long what is left of a study will take: from cells that were timed, or from a small one that is timed now."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from textveil.distribution import DISTRIBUTORS
from textveil.experiments.cell_runner import CellRunner
from textveil.experiments.datasets import prepare_dataset
from textveil.experiments.experiment import Plan
from textveil.experiments.status import CellState, look
from textveil.experiments.store import OBFUSCATION, Store
from textveil.experiments.study import Sample, Study
from textveil.experiments.tasks import CellTask, ScoreTask
from textveil.language.text import Document

TRIAL_TEXTS = 200
"""Texts of the small cell."""
TRIAL_SCORES = 16
"""Texts that every distribution scores to be timed."""
_NEARLY_THE_SAME = 1.01


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a run will take, about."""

    seconds: float
    basis: str
    """What it was worked out from."""


class Timings:
    """Seconds per text: of obfuscation, of metrics, and of the scores of distributions."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}

    def add(self, step: str, seconds: float, texts: int) -> None:
        """A step was timed."""
        self._seconds.setdefault(step, []).append(seconds / texts)

    def add_cells(self, states: Iterable[CellState]) -> int:
        """Take the times of cells that are done, or in part; how many there are."""
        timed = 0
        for state in states:
            if state.texts is not None:
                timed += 1
                texts = state.texts.certificate.tally.documents.total()
                self.add(OBFUSCATION, state.texts.seconds, texts)
                for metric, value in state.values.items():
                    self.add(metric, value.seconds, texts)
        return timed

    def knows(self, steps: Iterable[str]) -> bool:
        """Whether all of these were timed."""
        return all(step in self._seconds for step in steps)

    def sum(self, steps: Iterable[str], texts: int) -> float:
        """How long these take together for so many texts; what was not timed counts nothing."""
        return sum(texts * fmean(self._seconds[step]) for step in steps if step in self._seconds)


def estimate(runner: CellRunner, plan: Plan, workers: int) -> Estimate:
    """How long a run will take with so many workers; a small cell is timed where none of the study has been."""
    timings = Timings()
    timed = timings.add_cells(plan.states)
    scores = [task for task in plan.shared if isinstance(task, ScoreTask)]
    steps = {step for task in plan.cells for step in _list_steps(task)} | {
        _name_scores(task.distribution) for task in scores
    }
    basis = f"{timed:,} cells that were timed"
    if not timings.knows(steps):
        timings, basis = time_small_cell(runner), f"a cell of at most {TRIAL_TEXTS} texts, timed now"
    sizes = {name: runner.prepared(name).description.texts for name in runner.study.datasets}
    seconds = sum(timings.sum(_list_steps(task), sizes[task.cell.dataset]) for task in plan.cells)
    for task in scores:
        seconds += timings.sum([_name_scores(task.distribution)], task.stop - task.start)
    return Estimate(seconds / workers, basis)


def _list_steps(task: CellTask) -> list[str]:
    return [*([OBFUSCATION] if task.obfuscate else []), *task.metrics]


def _name_scores(distribution: str) -> str:
    return f"scores of {distribution}"


def time_small_cell(runner: CellRunner) -> Timings:
    """Time a small cell of the first data set, in a folder of its own, and every distribution on a few texts."""
    timings = Timings()
    with TemporaryDirectory() as folder:
        trial = CellRunner(_shrink(runner), Store(Path(folder)))
        ((name, source),) = trial.study.datasets.items()
        with trial.store.locked():
            description = prepare_dataset(name, source, trial.store.datasets).description
            for state in look(trial, {name: description}):  # the first one loads all models
                trial.finish(state.cell, state.missing, obfuscate=True)
            timings.add_cells(look(trial, {name: description})[1:])
        documents = [Document.parse(text) for text in trial.prepared(name).texts[:TRIAL_SCORES]]
    _time_scores(runner.study, documents, timings)
    return timings


def _shrink(runner: CellRunner) -> Study:
    """A study of two cells of a few texts."""
    study = runner.study
    name, source = next(iter(study.datasets.items()))
    size = min(TRIAL_TEXTS, runner.prepared(name).description.texts)
    level, epsilon = next(iter(study.levels.items()))
    changes = {
        "datasets": {name: source.model_copy(update={"sample": Sample(size=size)})},
        "levels": {level: epsilon, f"{level}-again": _NEARLY_THE_SAME * epsilon},
        "decompositions": study.decompositions[-1:],
        "distributions": dict([next(iter(study.distributions.items()))]),
        "mechanisms": study.mechanisms[:1],
        "profiles": study.profiles[:1],
    }
    return study.model_copy(update=changes)


def _time_scores(study: Study, documents: list[Document], timings: Timings) -> None:
    for name, options in study.distributions.items():
        distributor = DISTRIBUTORS.load(name)(**options)
        if not distributor.data_independent:
            distributor.score(documents[:1])  # loads its model
            started = time.monotonic()
            distributor.score(documents)
            timings.add(_name_scores(name), time.monotonic() - started, len(documents))
