"""The cell runner: makes and measures the texts of cells, and keeps bundle, models and data sets loaded."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.certificate import Certificate, Tally
from textveil.errors import InputError, ParameterError, StudyError, TextveilError, describe_bug
from textveil.lab.metrics import METRICS, Case, Dataset, Measurement, Metric, Need
from textveil.lab.metrics.classification import Classification, find_weakness
from textveil.lab.study.datasets import DatasetInfo, StudyDataset, find_dataset
from textveil.lab.study.grid import Cell, Environment
from textveil.lab.study.store import OBFUSCATION, Failure, Store, Value
from textveil.lab.study.study import CalibratedLevel, Level, Study
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.methods.distribution.caching import CachedDistributor
from textveil.methods.mechanisms import MECHANISMS
from textveil.obfuscator import Obfuscator
from textveil.profiles import PAPER, load_profile
from textveil.results import Obfuscation
from textveil.text.documents import Document
from textveil.version import __version__

STORED_TEXTS = 8
"""The number of texts whose scores are stored together. After an interruption, at most these are scored again."""
MEDIAN = "0.5"
"""The quantile of the distance between two typical words, as bundles spell it."""


def find_epsilons(study: Study, bundle: Bundle) -> dict[str, dict[str, dict[str, float]]]:
    """The epsilon per word of calibrated levels: by level, by decomposition and by mechanism.

    It depends on nothing else. The figures of the bundle cache what is simulated, so only the first time is slow.

    Raises:
        StudyError: Two levels have the same epsilon per word for a decomposition and a mechanism.
    """
    found: dict[str, dict[str, dict[str, float]]] = {
        name: {} for name, level in study.levels.items() if isinstance(level, CalibratedLevel)
    }
    for decomposition, split in study.decompositions.items() if found else ():
        for mechanism, options in study.mechanisms.items():
            obfuscator = Obfuscator(
                bundle,
                decomposition=decomposition,
                decomposition_options=split,
                mechanism=mechanism,
                mechanism_options=options,
                profile=PAPER.name,  # takes all mechanisms, and needs no largest share
            )
            names: dict[float, str] = {}
            for name, level in study.levels.items():
                epsilon = find_epsilon(level, obfuscator)
                if (same := names.setdefault(epsilon, name)) != name:
                    raise StudyError(
                        f"With {decomposition} and {mechanism}, the levels {same!r} and {name!r} have the same epsilon "
                        f"per word, {epsilon:g}. Remove one of them, or set them farther apart."
                    )
                if name in found:
                    found[name].setdefault(decomposition, {})[mechanism] = epsilon
    return found


def find_epsilon(level: Level, obfuscator: Obfuscator) -> float:
    """The epsilon per word of a level, for the mechanism and the vectors of an obfuscator."""
    if not isinstance(level, CalibratedLevel):
        return level
    if level.unchanged is not None:
        return obfuscator.find_share(level.unchanged)
    typical = float(obfuscator.terms.distance["pairs"].get(MEDIAN, 0.0))
    return float(level.bound or 0.0) / (typical or 1.0)  # all entries may be at the same place


TEXTS_KEY = "texts"
"""The key of a failed obfuscation. It is a constant, since a cell is obfuscated in one way only."""


@dataclass(frozen=True, slots=True)
class CellDone:
    """The result of a cell's task."""

    cell: Cell
    seconds: float
    obfuscated: bool
    """Whether its texts were made now, rather than found."""
    measured: tuple[str, ...]
    failures: tuple[Failure, ...]


class CellRunner:
    """Makes and measures the texts of cells. Everything is loaded on first use, and stays loaded.

    Args:
        study: The study.
        store: The folder of texts and values.
    """

    def __init__(self, study: Study, store: Store) -> None:
        self.study = study
        self.store = store
        self._study_datasets: dict[str, StudyDataset] = {}
        self._evaluation_datasets: dict[str, Dataset] = {}

    @cached_property
    def bundle(self) -> Bundle:
        """The bundle of the study."""
        return Bundle.load(self.study.bundle)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name. Those that are computed from other metrics come last."""
        built: dict[str, Metric] = {}
        for name in self.study.metrics:
            options = self.study.choose_options(name)
            options |= {"bundle": self.bundle} if options.get("bundle") == self.study.bundle else {}
            built[name] = METRICS.load(name)(**options)
        return dict(sorted(built.items(), key=lambda item: len(item[1].after)))

    @cached_property
    def environment(self) -> Environment:
        """Everything that texts depend on besides the study: the bundle, and methods with models and versions."""
        decompositions = {}
        for name, options in self.study.decompositions.items():
            decomposer = DECOMPOSERS.load(name)(self.bundle, **options)
            vectors, prior = self.bundle.vectors(decomposer.name), self.bundle.prior(decomposer.name)  # or an error now
            decompositions[name] = _describe(decomposer)
        distributions = {name: _describe(built) for name, built in self.distributors.items()}
        mechanisms = {
            name: _describe(kind(vectors, *([prior] if kind.uses_prior else []), **options))
            for name, options in self.study.mechanisms.items()
            if (kind := MECHANISMS.load(name)).uses_prior or options  # else its name says everything
        }
        levels = find_epsilons(self.study, self.bundle)
        return Environment(self.bundle.hash, decompositions, distributions, mechanisms, levels)

    @cached_property
    def distributors(self) -> dict[str, Distributor]:
        """The distributors of the study by name."""
        return {name: DISTRIBUTORS.load(name)(**options) for name, options in self.study.distributions.items()}

    @cached_property
    def cached_distributors(self) -> dict[str, Distributor]:
        """The same, where those whose scores depend on the text store them. It creates the folder of scores."""
        return {
            name: built if built.data_independent else CachedDistributor(built, self.store.scores)
            for name, built in self.distributors.items()
        }

    def score_texts(self, dataset: str, distribution: str, start: int, stop: int) -> None:
        """Score some texts of a data set. Scores are stored after every few texts."""
        texts = self.study_dataset(dataset).texts
        for first in range(start, stop, STORED_TEXTS):
            documents = [Document.parse(text) for text in texts[first : min(first + STORED_TEXTS, stop)]]
            self.cached_distributors[distribution].score(documents)

    def study_dataset(self, name: str) -> StudyDataset:
        """A data set of the study, which was read before."""
        if name not in self._study_datasets:
            found = find_dataset(name, self.study.datasets[name], self.store.datasets)
            if found is None:
                raise InputError(f"The data set {name!r} was not read yet. Run the study first.")
            self._study_datasets[name] = found
        return self._study_datasets[name]

    def evaluation_dataset(self, name: str) -> Dataset:
        """A data set in the form that metrics use. The numbers of its originals are cached."""
        if name not in self._evaluation_datasets:
            found = self.study_dataset(name)
            self._evaluation_datasets[name] = Dataset(
                found.texts, label=found.label, attribute=found.attribute, folder=self.store.numbers
            )
        return self._evaluation_datasets[name]

    def find_keys(self, dataset: DatasetInfo) -> dict[str, str]:
        """The keys of stored values, by metric. A key covers everything that a value depends on, except the texts.

        A metric that the data set does not allow has none.
        """
        given = {Need.LABEL: dataset.label_sha256, Need.ATTRIBUTE: dataset.attribute_sha256}
        keys: dict[str, str] = {}
        for name, metric in self.metrics.items():
            if any(given.get(need, "") is None for need in metric.needs) or any(m not in keys for m in metric.after):
                continue
            classes = [given[need] for need in (*metric.needs, *metric.uses) if need in given]
            inputs = [keys[other] for other in dict.fromkeys((*metric.after, *metric.reads)) if other in keys]
            parts = [metric.identity, classes, inputs]
            keys[name] = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]
        return keys

    def measure_originals(self, name: str, metrics: Sequence[str]) -> tuple[str, ...]:
        """Compute and cache the numbers that metrics need of the originals, so that cells need not repeat it.

        Returns:
            Warnings of classes that cannot be learned, and of classifiers that have learned too little.
        """
        dataset = self.evaluation_dataset(name)
        case = Case(dataset, dataset.originals)
        problems = self.study_dataset(name).info.problems
        warnings = [f"The metrics that need the {role} are not measured. {said}" for role, said in problems.items()]
        for metric in (self.metrics[metric] for metric in metrics):
            if Need.CERTIFICATE not in metric.needs and case.lacks(metric) is None:
                metric.measure(case)
                if isinstance(metric, Classification):
                    warnings += find_weakness(metric, case)
        return tuple(warnings)

    def run(self, cell: Cell, metrics: Sequence[str], *, obfuscate: bool) -> CellDone:
        """Make the texts of a cell if they do not exist, and measure them. Failures are stored.

        Args:
            cell: The cell.
            metrics: The metrics to measure.
            obfuscate: Whether to make its texts. Damaged texts are made again in any case.
        """
        started = time.monotonic()
        made: list[Obfuscation] | None = None
        measured: list[str] = []
        failures: list[Failure] = []
        with self._storing_failures(cell, OBFUSCATION, TEXTS_KEY, failures):
            written = None if obfuscate else self._read_whole_texts(cell)
            if written is None:
                made = self._make_texts(cell)
                written = [result.text for result in made]
            if metrics:
                measured = self._measure(cell, metrics, written, made, failures)
        return CellDone(cell, time.monotonic() - started, made is not None, tuple(measured), tuple(failures))

    @contextmanager
    def _storing_failures(self, cell: Cell, what: str, key: str, failures: list[Failure]) -> Iterator[None]:
        """Store and list the failure of a step, so that other steps and other cells continue."""
        self.store.forget_failure(cell, what, key)
        try:
            yield
        except Exception as error:  # noqa: BLE001 # see above
            failures.append(Failure(what, describe_error(error)))
            self.store.write_failure(cell, key, failures[-1])

    def _read_whole_texts(self, cell: Cell) -> list[str] | None:
        """The texts of a cell; ``None`` if they are missing or damaged."""
        try:
            return self.store.read_texts(cell)
        except InputError:
            return None

    def obfuscate(self, cell: Cell) -> list[Obfuscation]:
        """Obfuscate every text of a cell."""
        settings = self.study.choose_settings(self.bundle, load_profile(cell.profile)).replace(
            decomposition=cell.decomposition,
            decomposition_options=self.study.decompositions[cell.decomposition],
            distribution=self.cached_distributors[cell.distribution],
            mechanism=cell.mechanism,
            mechanism_options=self.study.mechanisms[cell.mechanism],
            seed=cell.noise_seed,
            epsilon_per_word=cell.epsilon_per_word,
            length=cell.length,
        )
        texts = self.study_dataset(cell.dataset).texts
        return list(Obfuscator(settings).obfuscate_all(texts, first_document=0))

    def _make_texts(self, cell: Cell) -> list[Obfuscation]:
        started = time.monotonic()
        made = self.obfuscate(cell)
        tally = Tally.over(result.certificate.tally for result in made)
        certificate = Certificate(made[0].certificate.terms, made[0].certificate.budget, tally)
        texts, outcomes = [result.text for result in made], [result.outcome.value for result in made]
        self.store.write_texts(cell, texts, outcomes, certificate, time.monotonic() - started)
        return made

    def _measure(
        self,
        cell: Cell,
        metrics: Sequence[str],
        written: Sequence[str],
        made: Sequence[Obfuscation] | None,
        failures: list[Failure],
    ) -> list[str]:
        """Measure the metrics, and return the names of those that did not fail."""
        measured: list[str] = []
        texts = self.store.find_texts(cell)
        if texts is None:
            return measured
        keys = self.find_keys(self.study_dataset(cell.dataset).info)
        known = {name: value.measurement for name, value in self.store.find_values(cell, keys, texts).items()}
        dataset = self.evaluation_dataset(cell.dataset)
        case = Case(dataset, dataset.pair(written), texts.certificate, measured=known)
        for name in self._add_dependent(metrics, keys):
            with self._storing_failures(cell, name, keys[name], failures):
                started = time.monotonic()
                measurement = self._measure_one(cell, case, self.metrics[name], made)
                value = Value(measurement, texts.sha256, time.monotonic() - started)
                self.store.write_value(cell, name, keys[name], value)
                case = replace(case, measured={**case.measured, name: measurement})
                measured.append(name)
        return measured

    def _add_dependent(self, metrics: Sequence[str], keys: Mapping[str, str]) -> list[str]:
        """The metrics to measure, and those that read one of them, in the order of measurement."""
        found: list[str] = []
        for name, metric in self.metrics.items():
            if name in metrics or (name in keys and set(found) & {*metric.after, *metric.reads}):
                found.append(name)
        return found

    def _measure_one(self, cell: Cell, case: Case, metric: Metric, made: Sequence[Obfuscation] | None) -> Measurement:
        if Need.CHUNKS in metric.needs:
            case = replace(case, obfuscations=self._find_chunks(cell, case, made))
        if reason := case.lacks(metric):
            raise ParameterError(reason)
        return metric.measure(case)

    def _find_chunks(self, cell: Cell, case: Case, made: Sequence[Obfuscation] | None) -> list[Obfuscation]:
        """The chunks of every text: those just made, or the same ones made again with the seed of the cell."""
        if made is None and cell.seed is None:
            raise ParameterError(
                "It needs the chunks of every text. Without a `seed` they are available only while texts are made. "
                "Set a seed in the study file."
            )
        found = self.obfuscate(cell) if made is None else made
        kept = [found[row] for row in case.dataset.rows]
        if [result.text for result in kept] != list(case.obfuscated):
            raise InputError(
                "With the software of this machine, the seed gives other texts than the stored ones. Run the study in "
                "another `folder`."
            )
        return kept


def describe_error(error: Exception) -> str:
    """The reason for a failure. Of an unexpected exception only the place is told: its message may quote a text."""
    return str(error) if isinstance(error, TextveilError) else f"{describe_bug(error)} (a bug in textveil)"


def _describe(method: Any) -> str:
    """A method with its options, model and versions, as JSON."""
    return json.dumps([method.description, {"textveil": __version__, **method.software}], sort_keys=True)
