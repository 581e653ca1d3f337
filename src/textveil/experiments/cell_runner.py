"""What a process keeps loaded while it works on a study: the bundle, distributors, data sets and metrics."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from textveil.bundles.bundle import Bundle
from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS, Distributor
from textveil.distribution.caching import CachedDistributor
from textveil.errors import InputError, ParameterError, StudyError, TextveilError, describe_bug
from textveil.evaluation import METRICS, Case, Dataset, Measurement, Metric, Need
from textveil.experiments.datasets import Description, PreparedDataset, find_dataset
from textveil.experiments.grid import Cell, Environment
from textveil.experiments.store import OBFUSCATION, CellTexts, Failure, Store, Value
from textveil.experiments.study import Options, Study
from textveil.obfuscation import Obfuscator
from textveil.privacy.certificate import Certificate, Tally
from textveil.privacy.results import Obfuscation
from textveil.version import __version__

T = TypeVar("T")

TEXTS_KEY = "texts"
"""What tells one failure of obfuscation from another: nothing, since a cell is obfuscated in one way."""
IN_LABEL = ("model", "models", "bundle", "classifier", "classifier_options", "seeds", "batch_size", "device")
"""Options that the label of a metric has, or that change no value."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What was done for a cell."""

    cell: Cell
    seconds: float
    obfuscated: bool
    """Whether its texts were made now, and not found."""
    measured: tuple[str, ...]
    failures: tuple[Failure, ...]


class CellRunner:
    """Makes and measures the texts of cells. Everything is loaded when it is first needed, and kept.

    Args:
        study: The study.
        store: Where texts and values are kept.
    """

    def __init__(self, study: Study, store: Store) -> None:
        self.study = study
        self.store = store
        self._distributors: dict[str, Distributor] = {}
        self._prepared: dict[str, PreparedDataset] = {}
        self._datasets: dict[str, Dataset] = {}

    @cached_property
    def bundle(self) -> Bundle:
        """The bundle of the study."""
        return Bundle.load(self.study.bundle)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by their names, those that are worked out from others last."""
        made = {name: _make(METRICS.load(name), name, self._choose_options(name)) for name in self.study.metrics}
        return dict(sorted(made.items(), key=lambda item: len(item[1].after)))

    def _choose_options(self, metric: str) -> Options:
        options = self.study.choose_options(metric)
        return {**options, "bundle": self.bundle} if options.get("bundle") == self.study.bundle else options

    @cached_property
    def environment(self) -> Environment:
        """What texts depend on beside what the study names."""
        methods = {}
        for name in self.study.decompositions:
            self.bundle.vectors(DECOMPOSERS.load(name).name)  # which are better missed now than later
            methods[name] = _describe(DECOMPOSERS.load(name)(self.bundle))
        for name in self.study.distributions:
            methods[name] = _describe(self.distributor(name))
        return Environment(self.bundle.hash, methods)

    def distributor(self, name: str) -> Distributor:
        """A distributor of the study, with its scores kept; one whose scores cost nothing keeps none."""
        if name not in self._distributors:
            made = _make(DISTRIBUTORS.load(name), name, self.study.distributions[name])
            self._distributors[name] = made if made.data_independent else CachedDistributor(made, self.store.scores)
        return self._distributors[name]

    def prepared(self, name: str) -> PreparedDataset:
        """A data set that is prepared."""
        if name not in self._prepared:
            found = find_dataset(name, self.study.datasets[name], self.store.datasets)
            if found is None:
                raise InputError(f"The data set {name!r} is not prepared yet. Run the study first.")
            self._prepared[name] = found
        return self._prepared[name]

    def dataset(self, name: str) -> Dataset:
        """A data set as metrics use it; what they work out of its originals is kept."""
        if name not in self._datasets:
            found = self.prepared(name)
            self._datasets[name] = Dataset(
                found.texts, label=found.label, attribute=found.attribute, folder=self.store.numbers
            )
        return self._datasets[name]

    def find_keys(self, dataset: Description) -> dict[str, str]:
        """For every metric that a data set allows, what its values are found by: all they depend on but the texts."""
        given = {Need.LABEL: dataset.label_sha256, Need.ATTRIBUTE: dataset.attribute_sha256}
        keys: dict[str, str] = {}
        for name, metric in self.metrics.items():
            if any(given.get(need, "") is None for need in metric.needs) or any(m not in keys for m in metric.after):
                continue
            options = {option: value for option, value in self.study.metrics[name].items() if option not in IN_LABEL}
            classes = [given[need] for need in metric.needs if need in given]
            parts = [metric.identity, options, classes, [keys[other] for other in metric.after]]
            keys[name] = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]
        return keys

    def measure_originals(self, name: str, metrics: Sequence[str]) -> None:
        """Work out, and keep, what metrics need of the originals, so that processes do not do it side by side."""
        dataset = self.dataset(name)
        case = Case(dataset, dataset.originals)
        for metric in metrics:
            if Need.CERTIFICATE not in self.metrics[metric].needs and case.lacks(self.metrics[metric]) is None:
                self.metrics[metric].measure(case)

    def finish(self, cell: Cell, metrics: Sequence[str], *, obfuscate: bool) -> Finished:
        """Make the texts of a cell, unless they are there, and measure them; what fails is kept as a failure.

        Args:
            cell: The cell.
            metrics: What is to be measured.
            obfuscate: Whether its texts are to be made; those that are damaged are made anew in any case.
        """
        started = time.monotonic()
        made: list[Obfuscation] | None = None
        measured: list[str] = []
        failures: list[Failure] = []
        try:
            if obfuscate or not self._has_whole_texts(cell):
                made = self._make_texts(cell)
                self.store.forget_failure(cell, OBFUSCATION, TEXTS_KEY)
            for done in self._measure(cell, metrics, made):
                if isinstance(done, Failure):
                    failures.append(done)
                else:
                    measured.append(done)
        except Exception as error:  # noqa: BLE001 # the other cells go on
            failures.append(Failure(OBFUSCATION, describe(error)))
            self.store.write_failure(cell, TEXTS_KEY, failures[-1])
        return Finished(cell, time.monotonic() - started, made is not None, tuple(measured), tuple(failures))

    def _has_whole_texts(self, cell: Cell) -> bool:
        try:
            self.store.read_texts(cell)
        except InputError:
            return False
        return True

    def obfuscate(self, cell: Cell) -> list[Obfuscation]:
        """What becomes of every text of a cell."""
        obfuscator = Obfuscator(
            self.bundle,
            decomposition=cell.decomposition,
            distribution=self.distributor(cell.distribution),
            mechanism=cell.mechanism,
            profile=cell.profile,
            stopwords=self.study.stopwords,
            seed=cell.noise_seed,
        )
        return list(obfuscator.obfuscate_all(self.prepared(cell.dataset).texts, epsilon=cell.epsilon, first_document=0))

    def _make_texts(self, cell: Cell) -> list[Obfuscation]:
        started = time.monotonic()
        made = self.obfuscate(cell)
        tally = Tally.over(result.certificate.tally for result in made)
        average = self.prepared(cell.dataset).description.average_length
        certificate = Certificate(made[0].certificate.terms, cell.epsilon, tally, average)
        texts, outcomes = [result.text for result in made], [result.outcome.value for result in made]
        self.store.write_texts(cell, texts, outcomes, certificate, time.monotonic() - started)
        return made

    def _measure(
        self, cell: Cell, metrics: Sequence[str], made: Sequence[Obfuscation] | None
    ) -> Iterator[str | Failure]:
        """Measure what is wanted; the name of each metric, or why it could not be measured."""
        texts = self.store.find_texts(cell)
        if texts is None or not metrics:
            return
        keys = self.find_keys(self.prepared(cell.dataset).description)
        case = self._open_case(cell, texts, keys)
        for name in (name for name in self.metrics if name in metrics):
            self.store.forget_failure(cell, name, keys[name])
            started = time.monotonic()
            try:
                measurement = self._measure_one(cell, case, self.metrics[name], made)
            except Exception as error:  # noqa: BLE001 # the other metrics go on
                failure = Failure(name, describe(error))
                self.store.write_failure(cell, keys[name], failure)
                yield failure
                continue
            value = Value(measurement, texts.sha256, time.monotonic() - started)
            self.store.write_value(cell, name, keys[name], value)
            case = replace(case, measured={**case.measured, name: measurement})
            yield name

    def _open_case(self, cell: Cell, texts: CellTexts, keys: Mapping[str, str]) -> Case:
        """What metrics are given, with what was measured before."""
        dataset = self.dataset(cell.dataset)
        found = {name: self.store.find_value(cell, name, key, texts) for name, key in keys.items()}
        measured = {name: value.measurement for name, value in found.items() if value is not None}
        pairs = dataset.pair(self.store.read_texts(cell))
        return Case(dataset, pairs, texts.certificate, measured=measured)

    def _measure_one(self, cell: Cell, case: Case, metric: Metric, made: Sequence[Obfuscation] | None) -> Measurement:
        if Need.CHUNKS in metric.needs:
            case = replace(case, obfuscations=self._find_chunks(cell, case, made))
        if reason := case.lacks(metric):
            raise ParameterError(reason)
        return metric.measure(case)

    def _find_chunks(self, cell: Cell, case: Case, made: Sequence[Obfuscation] | None) -> list[Obfuscation]:
        """What became of every chunk: known while texts are made, and found again where a seed repeats the noise."""
        if made is None and cell.seed is None:
            raise ParameterError("It needs what became of every chunk, which without a seed is known only at once.")
        found = self.obfuscate(cell) if made is None else made
        kept = [found[row] for row in case.dataset.rows]
        if [result.text for result in kept] != list(case.obfuscated):
            raise InputError("Other software repeats the noise of this cell in another way. Begin with a new --folder.")
        return kept


def _make(kind: Callable[..., T], name: str, options: Options) -> T:
    """A metric or a distributor with its options, which a file may have written wrongly."""
    try:
        return kind(**options)
    except TypeError as error:
        given = ", ".join(f"{option}: {value!r}" for option, value in options.items() if option != "bundle")
        raise StudyError(f"{name!r} does not take these options: {given}. Mend them in the study.") from error
    except ParameterError as error:
        raise StudyError(f"{name!r} in the study: {error}") from error


def describe(error: Exception) -> str:
    """Why something failed; an unexpected exception says where it happened, and not what, which may be a text."""
    return str(error) if isinstance(error, TextveilError) else f"{describe_bug(error)} (a bug in textveil)"


def _describe(method: Any) -> str:
    """A method with its options, models and versions."""
    return json.dumps([method.description, {"textveil": __version__, **method.versions}], sort_keys=True)
