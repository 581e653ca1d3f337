"""The estimated time of a run: from cells that were timed, or from a small trial."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from textveil.distribution import DISTRIBUTORS
from textveil.experiments.cell_runner import CellRunner
from textveil.experiments.datasets import read_dataset
from textveil.experiments.experiment import Plan
from textveil.experiments.status import CellState, find_states
from textveil.experiments.store import OBFUSCATION, Store
from textveil.experiments.study import Sample, Study
from textveil.experiments.tasks import CellTask, ScoreTask
from textveil.language.text import Document

TRIAL_TEXTS = 200
"""The number of texts of the trial's cells."""
TRIAL_SCORES = 16
"""The number of texts that every distribution scores in the trial."""
_NEARLY_THE_SAME = 1.01


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated time of a run."""

    seconds: float
    basis: str
    """The source of the estimate."""


class Timings:
    """Seconds per text of every step: obfuscation, metrics, and scores of distributions."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}

    def add(self, step: str, seconds: float, texts: int) -> None:
        """Add the time of a step."""
        self._seconds.setdefault(step, []).append(seconds / texts)

    def add_cells(self, states: Iterable[CellState]) -> int:
        """Add the times of cells that have texts, and return their number."""
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
        """Whether all steps were timed."""
        return all(step in self._seconds for step in steps)

    def sum(self, steps: Iterable[str], texts: int) -> float:
        """The total time of steps for a number of texts. A step that was not timed counts as zero."""
        return sum(texts * fmean(self._seconds[step]) for step in steps if step in self._seconds)


def estimate(runner: CellRunner, plan: Plan, workers: int) -> Estimate:
    """Estimate the time of a run. A trial is run if the study has no times for some step."""
    timings = Timings()
    timed = timings.add_cells(plan.states)
    scores = [task for task in plan.shared if isinstance(task, ScoreTask)]
    steps = {step for task in plan.cells for step in _list_steps(task)} | {
        _name_scores(task.distribution) for task in scores
    }
    basis = f"{timed:,} cells with known times"
    if not timings.knows(steps):
        timings, basis = run_trial(runner), f"a trial with up to {TRIAL_TEXTS} texts"
    sizes = {name: runner.study_dataset(name).info.texts for name in runner.study.datasets}
    seconds = sum(timings.sum(_list_steps(task), sizes[task.cell.dataset]) for task in plan.cells)
    for task in scores:
        seconds += timings.sum([_name_scores(task.distribution)], task.stop - task.start)
    return Estimate(seconds / workers, basis)


def _list_steps(task: CellTask) -> list[str]:
    return [*([OBFUSCATION] if task.obfuscate else []), *task.metrics]


def _name_scores(distribution: str) -> str:
    return f"scores of {distribution}"


def run_trial(runner: CellRunner) -> Timings:
    """Time a small cell of the first data set in a temporary folder, and every distribution on a few texts."""
    timings = Timings()
    with TemporaryDirectory() as folder:
        trial = CellRunner(_shrink(runner), Store(Path(folder)))
        ((name, source),) = trial.study.datasets.items()
        with trial.store.locked():
            info = read_dataset(name, source, trial.store.datasets).info
            for state in find_states(trial, {name: info}):  # the first one loads all models, and is not timed
                trial.run(state.cell, state.missing, obfuscate=True)
            timings.add_cells(find_states(trial, {name: info})[1:])
        documents = [Document.parse(text) for text in trial.study_dataset(name).texts[:TRIAL_SCORES]]
    _time_scores(runner.study, documents, timings)
    return timings


def _shrink(runner: CellRunner) -> Study:
    """A study of two cells of a few texts."""
    study = runner.study
    name, source = next(iter(study.datasets.items()))
    size = min(TRIAL_TEXTS, runner.study_dataset(name).info.texts)
    level, epsilon = next(iter(study.levels.items()))
    changes = {
        "datasets": {name: source.model_copy(update={"sample": Sample(size=size)})},
        "levels": {level: epsilon, f"{level}-again": _NEARLY_THE_SAME * epsilon},
        "decompositions": dict(list(study.decompositions.items())[-1:]),
        "distributions": dict(list(study.distributions.items())[:1]),
        "mechanisms": dict(list(study.mechanisms.items())[:1]),
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
