"""The estimated time of a run: from cells that were timed, or from a small trial. No transformer is trained for it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from textveil.distribution import DISTRIBUTORS
from textveil.evaluation import CLASSIFIERS
from textveil.experiments.cell_runner import CellRunner
from textveil.experiments.datasets import read_dataset
from textveil.experiments.experiment import Plan
from textveil.experiments.forecast import Forecast, Size, count_metric, forecast, measure_speed
from textveil.experiments.status import CellState, find_states
from textveil.experiments.store import OBFUSCATION, Store
from textveil.experiments.study import Sample, Study, choose_classifier
from textveil.experiments.tasks import CellTask, ScoreTask
from textveil.language.text import Document

TRIAL_TEXTS = 200
"""The number of texts of the trial's cells."""
TRIAL_SCORES = 16
"""The number of texts that every distribution scores in the trial."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated time of a run."""

    seconds: float
    basis: str
    """The source of the estimate."""
    forecasts: tuple[Forecast, ...] = ()
    """The time of every data set on a CPU and with a GPU, computed from the sizes of models."""


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
    sizes = find_sizes(runner)
    computed: dict[str, float] = {}
    if not timings.knows(steps):
        timings, basis = run_trial(runner), f"a trial with up to {TRIAL_TEXTS} texts"
        if trained := [name for name in list_trained(runner.study) if name in steps]:
            basis += (
                f" and the size of the model that {' and '.join(trained)} {'trains' if len(trained) == 1 else 'train'}"
            )
            computed = {name: _compute_training(runner.study, trained, size) for name, size in sizes.items()}
    seconds = sum(timings.sum(_list_steps(task), sizes[task.cell.dataset].texts) for task in plan.cells)
    seconds += sum(computed.get(task.cell.dataset, 0.0) for task in plan.cells)
    for task in scores:
        seconds += timings.sum([_name_scores(task.distribution)], task.stop - task.start)
    left = Counter(task.cell.dataset for task in plan.cells)
    return Estimate(seconds / workers, basis, tuple(forecast(runner.study, sizes, left)))


def find_sizes(runner: CellRunner) -> dict[str, Size]:
    """The sizes of the data sets, which were read before."""
    infos = {name: runner.study_dataset(name).info for name in runner.study.datasets}
    return {name: Size(info.texts, info.average_length) for name, info in infos.items()}


def list_trained(study: Study) -> list[str]:
    """The metrics that fine-tune a model, which is not tried."""
    chosen = {name: choose_classifier(name, options) for name, options in study.metrics.items()}
    return [name for name, each in chosen.items() if each and "epochs" in CLASSIFIERS.load(each).list_options()]


def _compute_training(study: Study, metrics: Iterable[str], size: Size) -> float:
    return sum(measure_speed().time(count_metric(study, name, size)) for name in metrics)


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
    level, wanted = next(iter(study.levels.items()))
    trained = list_trained(study)
    changes = {
        "metrics": {name: options for name, options in study.metrics.items() if name not in trained},
        "datasets": {name: source.model_copy(update={"sample": Sample(size=size)})},
        "levels": {level: wanted},
        "draws": 2,
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
