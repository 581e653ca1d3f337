"""The time of a study before anything is loaded or trained: computed from numbers of texts and sizes of models.

A forecast counts floating-point operations: two per weight and token that a model reads, and six per weight and token
that it learns from. It needs no model, and is right within a factor of about three.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from textveil.errors import ResourceError
from textveil.evaluation import CLASSIFIERS, METRICS
from textveil.evaluation.dataset import TEST_SHARE
from textveil.experiments.requirements import find_models
from textveil.experiments.study import REGISTRIES, Study, choose_classifier
from textveil.models.files import ModelFiles
from textveil.resources import RESOURCES

GPU_SPEED = 1e13
"""The operations per second that models reach on the GPU of a forecast: 10 trillion, as on a card of a data center."""
CPU_SHARE = 0.5
"""The share of the speed of large matrix products that models reach on a CPU."""
TOKENS_PER_WORD = 1.3
BYTES_PER_WEIGHT = 4
UNKNOWN_MODEL = 440_000_000
"""The bytes of a model whose size is not known: those of BERT."""
READING, LEARNING = 2.0, 6.0
"""Operations per weight and token."""
SECONDS_PER_WORD = {"ic": 1e-3, "yake": 1e-3, "identifiers": 3e-4, "linear": 1e-4}
"""The time of steps without a model, on one core."""
SEARCH = 2.0 * 27_000 * 300
"""Operations of the nearest-neighbor search for a word, in the vocabulary of the shipped bundle."""


class Work(NamedTuple):
    """The work of a step: operations of models, operations that only a CPU does, and seconds on one core."""

    models: float = 0.0
    search: float = 0.0
    seconds: float = 0.0

    def times(self, number: float) -> Work:
        """The same work several times."""
        return Work(*(number * part for part in self))

    def plus(self, other: Work) -> Work:
        """Both works."""
        return Work(*map(sum, zip(self, other, strict=True)))


class Speed(NamedTuple):
    """The speed of a machine in operations per second."""

    models: float
    search: float

    def time(self, work: Work) -> float:
        """The seconds that a work takes."""
        return work.models / self.models + work.search / self.search + work.seconds


@dataclass(frozen=True, slots=True)
class Forecast:
    """The time of a data set's cells on the CPU of this machine, and with a GPU."""

    dataset: str
    cells: int
    texts: int
    cpu: float
    gpu: float


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a data set: its number of texts, and their average number of words."""

    texts: int
    words: float

    def tokens(self, longest: float = math.inf) -> float:
        """The number of tokens that a model reads of all texts."""
        return self.texts * min(TOKENS_PER_WORD * self.words, longest)


def forecast(study: Study, sizes: Mapping[str, Size], cells: Mapping[str, int] | None = None) -> list[Forecast]:
    """The time of every data set.

    Args:
        study: The study.
        sizes: The sizes of its data sets.
        cells: The number of cells to run for each data set; by default all of them.
    """
    all_cells = study.size // len(study.datasets)
    cpu = measure_speed()
    gpu = Speed(max(GPU_SPEED, cpu.models), cpu.search)
    found = []
    for name, size in sizes.items():
        number = all_cells if cells is None else cells.get(name, 0)
        work = _count_shared(study, size).plus(_count_cell(study, size).times(number)) if number else Work()
        found.append(Forecast(name, number, size.texts, cpu.time(work), gpu.time(work)))
    return found


@cache
def measure_speed() -> Speed:
    """The speed of this machine's CPU, from a few products of matrices."""
    matrix = np.ones((1024, 1024), dtype=np.float32)
    _ = matrix @ matrix  # starts the threads
    started = time.perf_counter()
    for _ in range(3):
        _ = matrix @ matrix
    speed = 3 * 2 * 1024**3 / max(1e-6, time.perf_counter() - started)
    return Speed(CPU_SHARE * speed, speed)


def _count_shared(study: Study, size: Size) -> Work:
    """The scores of distributions, and the numbers of originals."""
    work = Work()
    for name, options in study.distributions.items():
        method = REGISTRIES["distributions"].load(name)
        reading = _count_reading(method, options, size.tokens())
        times = 3.0 * method.check_options(options)["steps"] if name == "gradients" else 1.0  # gradients at every step
        work = work.plus(reading.times(times)).plus(_count_words(name, size))
    for name in study.metrics:
        work = work.plus(count_metric(study, name, size)).plus(_count_words(name, size))
    return work


def _count_cell(study: Study, size: Size) -> Work:
    """The texts of a cell, and its metrics."""
    work = Work(search=SEARCH * size.texts * size.words)
    for name in study.metrics:
        work = work.plus(count_metric(study, name, size))
    return work


def count_metric(study: Study, name: str, size: Size) -> Work:
    """The work of a metric for one list of texts."""
    options = study.choose_options(name)
    metric = METRICS.load(name)
    declared = metric.list_options()
    if (classifier := choose_classifier(name, options)) is not None:
        return _count_training(CLASSIFIERS.load(classifier), options, size).times(len(study.seeds))
    texts = min(size.texts, options.get("sample") or size.texts)
    longest = options.get("tokens", declared["tokens"].default) if "tokens" in declared else math.inf
    return _count_reading(metric, options, Size(texts, size.words).tokens(longest), metric.list_unused(options))


def _count_training(classifier: Any, options: Mapping[str, Any], size: Size) -> Work:
    given = {option.name: option.default for option in classifier.list_options().values()}
    given |= options.get("classifier_options") or {}
    if "epochs" not in given:
        return _count_words("linear", size)
    tokens = size.tokens(given.get("longest") or math.inf)
    learned = (1 - TEST_SHARE) * given["epochs"] * LEARNING / READING
    return _count_reading(classifier, given, tokens).times(learned + TEST_SHARE)


def _count_reading(method: Any, options: Mapping[str, Any], tokens: float, unused: Sequence[str] = ()) -> Work:
    return Work(models=sum(READING * _count_weights(model) * tokens for model in find_models(method, options, unused)))


def _count_words(name: str, size: Size) -> Work:
    return Work(seconds=SECONDS_PER_WORD.get(name, 0.0) * size.texts * size.words)


@cache
def _count_weights(model: str) -> float:
    """The number of weights of a model, from its files or from the list of resources."""
    try:
        folder = ModelFiles.find(model).folder
        found = sum(path.stat().st_size for path in [*folder.glob("*.safetensors"), *folder.glob("*.gguf")])
    except ResourceError:
        found = RESOURCES[model].size if model in RESOURCES else 0
    return (found or UNKNOWN_MODEL) / BYTES_PER_WEIGHT
