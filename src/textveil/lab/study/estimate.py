"""The estimated time of a run: from cells that were timed, or from a trial with a few texts of every data set."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

import numpy as np

from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classification import build_classifier
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.lab.metrics.dataset import Classes, Texts
from textveil.lab.study.cell_runner import CellRunner
from textveil.lab.study.datasets import DatasetInfo, read_dataset
from textveil.lab.study.experiment import Plan
from textveil.lab.study.status import CellState, find_states
from textveil.lab.study.store import OBFUSCATION, Store
from textveil.lab.study.study import Sample, Study, choose_classifier
from textveil.methods.distribution import DISTRIBUTORS
from textveil.text.documents import Document

TRIAL_TEXTS = 100
"""The number of texts of the trial's cells."""
TRIAL_SCORES = 16
"""The number of texts that every distribution scores in the trial."""
TRIAL_TRAINING = (8, 24)
"""The numbers of texts that a transformer is trained with in the trial. The difference is free of its loading time."""
CHUNKS_PER_WORD = 0.5
"""About half of the words are kept stopwords or parts of longer chunks."""

Step = tuple[str, str]
"""A data set and the name of a step: obfuscation, a metric, or a distribution, whose scores are computed once."""
Timings: TypeAlias = defaultdict[Step, list[float]]
"""Seconds per text of every step."""


class Estimate(NamedTuple):
    """The estimated time of a run, in seconds."""

    seconds: float
    low: float
    """The time if every step is as fast as in the fastest cell that was timed."""
    high: float
    """The time if every step is as slow as in the slowest one."""
    basis: str
    """The source of the estimate."""


def time_cells(study: Study, infos: Mapping[str, DatasetInfo], states: Iterable[CellState]) -> Timings:
    """The times of cells that have texts."""
    timings: Timings = defaultdict(list)
    for state in states:
        if state.texts is not None:
            info = infos[state.cell.dataset]
            timings[info.name, OBFUSCATION].append(state.texts.seconds / info.texts)
            for metric, value in state.values.items():
                timings[info.name, metric].append(value.seconds / count_read(study, metric, info))
    return timings


def count_read(study: Study, metric: str, info: DatasetInfo) -> float:
    """The number of texts that a metric reads: all of them, or its sample."""
    declared = METRICS.load(metric).list_options().get("sample")
    sample = study.choose_options(metric).get("sample", declared.default if declared else None) or math.inf
    if metric == "inversion":  # its sample is one of chunks
        sample /= max(1.0, CHUNKS_PER_WORD * info.average_length)
    return min(info.texts, sample)


def estimate(runner: CellRunner, plan: Plan, workers: int) -> Estimate:
    """Estimate the time of a run. A trial is run if the study has no times for some step."""
    infos = {name: runner.study_dataset(name).info for name in runner.study.datasets}
    timings = time_cells(runner.study, infos, plan.states)
    work = list(_list_work(runner.study, plan, infos))
    basis = f"{sum(state.texts is not None for state in plan.states):,} cells with known times"
    if not all(step in timings for step, _ in work):
        timings, basis = run_trial(runner, plan), f"a trial with up to {TRIAL_TEXTS} texts of every data set"
        for task in plan.shared:  # the originals of timed cells were measured before; they take about as long as a cell
            work += _list_metrics(runner.study, task.metrics, infos[task.dataset])

    def add_up(choose: Callable[[list[float]], float]) -> float:
        return sum(texts * choose(timings.get(step, [0.0])) for step, texts in work) / workers

    return Estimate(add_up(fmean), add_up(min), add_up(max), basis)


def _list_work(study: Study, plan: Plan, infos: Mapping[str, DatasetInfo]) -> Iterator[tuple[Step, float]]:
    """The steps of all cells and of distributions, with the number of texts that each of them reads."""
    for cell in plan.cells:
        info = infos[cell.cell.dataset]
        if cell.obfuscate:
            yield (info.name, OBFUSCATION), info.texts
        yield from _list_metrics(study, cell.metrics, info)
    for task in plan.shared:
        if task.distribution is not None:
            yield (task.dataset, task.distribution), task.stop - task.start


def _list_metrics(study: Study, metrics: Iterable[str], info: DatasetInfo) -> Iterator[tuple[Step, float]]:
    return (((info.name, metric), count_read(study, metric, info)) for metric in metrics)


def _list_trained(study: Study) -> list[str]:
    """The metrics that fine-tune a model."""
    chosen = {name: choose_classifier(METRICS.load(name), options) for name, options in study.metrics.items()}
    return [name for name, each in chosen.items() if each and "epochs" in CLASSIFIERS.load(each).list_options()]


def run_trial(runner: CellRunner, plan: Plan) -> Timings:
    """Time small cells of every data set in a temporary folder, and the scores and the training of a few texts.

    Every decomposition and mechanism is tried, with as many threads as a worker has.
    """
    from threadpoolctl import ThreadpoolController

    with TemporaryDirectory() as folder, ThreadpoolController().limit(limits=plan.cells[0].job.threads):
        trial = CellRunner(_shrink(runner), Store(Path(folder)))
        with trial.store.locked():
            sources = trial.study.datasets.items()
            infos = {name: read_dataset(name, source, trial.store.datasets).info for name, source in sources}
            states = find_states(trial, infos)
            trial.run(states[0].cell, states[0].missing, obfuscate=True)  # loads all models; its times are replaced
            for name in infos:
                _run_cells(trial, [state for state in states if state.cell.dataset == name])
            timings = time_cells(trial.study, infos, find_states(trial, infos))
        for name in infos:
            _time_methods(runner.study, name, trial.study_dataset(name).texts, timings)
    return timings


def _run_cells(trial: CellRunner, states: list[CellState]) -> None:
    """Obfuscate every cell of a data set, and measure the first and the last of them."""
    trial.measure_originals(states[0].cell.dataset, states[0].missing)
    for state in states:
        measured = state in (states[0], states[-1])
        trial.run(state.cell, state.missing if measured else (), obfuscate=True)


def _shrink(runner: CellRunner) -> Study:
    """A study of a few texts with all decompositions and mechanisms."""
    study, trained = runner.study, _list_trained(runner.study)
    sizes = {name: min(TRIAL_TEXTS, runner.study_dataset(name).info.texts) for name in study.datasets}
    changes = {
        "metrics": {name: options for name, options in study.metrics.items() if name not in trained},
        "datasets": {
            name: source.model_copy(update={"sample": Sample(size=sizes[name])})
            for name, source in study.datasets.items()
        },
        "levels": dict(list(study.levels.items())[:1]),
        "draws": 1,
        "distributions": {"uniform": {}},  # the cells of others find their scores, which are timed separately
        "profiles": study.profiles[:1],
    }
    return study.model_copy(update=changes)


def _time_methods(study: Study, dataset: str, texts: list[str], timings: Timings) -> None:
    """Time the scores of distributions and the training of transformers, without the time to load them."""
    documents = [Document.parse(text) for text in texts[:TRIAL_SCORES]]
    for name, options in study.distributions.items():
        distributor = DISTRIBUTORS.load(name)(**options)
        if not distributor.data_independent:
            distributor.score(documents[:1])
            timings[dataset, name].append(_measure_time(partial(distributor.score, documents)) / len(documents))
    few, more = (min(number, len(texts)) for number in TRIAL_TRAINING)
    classes = Classes("trial", ("one", "other"), np.arange(more) % 2)  # the classes do not change the time
    for name in _list_trained(study):
        options = study.choose_options(name)
        classifier = build_classifier(options["classifier"], options.get("classifier_options"))
        _, short, long = (
            _measure_time(partial(classifier.fit, Texts(texts[:more]), np.arange(number), classes, seed=0))
            for number in (few, few, more)
        )
        timings[dataset, name].append(len(study.seeds) * max(0.0, long - short) / max(1, more - few))


def _measure_time(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
