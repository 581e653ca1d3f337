"""The Evaluator, which applies metrics to obfuscations of one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from textveil.certificate import Certificate, Tally
from textveil.errors import InputError, MissingExtraError, ParameterError, ResourceError
from textveil.lab.metrics.base import Case, Measurement, Metric
from textveil.lab.metrics.dataset import Dataset
from textveil.lab.metrics.registry import METRICS
from textveil.progress import Progress, ignore_progress
from textveil.results import Obfuscation
from textveil.version import __version__

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measurements of an obfuscation, and the reasons for missing ones."""

    texts: int
    left_out: int
    """Skipped rows, whose original contains no word."""
    measurements: Mapping[str, Measurement]
    not_measured: Mapping[str, str]
    """The reason why a metric was not measured, by its name."""
    empty: int = 0
    """The number of empty obfuscated texts."""
    sampled_from: int | None = None
    """The number of texts that a sample was drawn from; ``None`` if all were measured."""

    def value(self, metric: str, name: str) -> float | None:
        """A value of a metric, by its name or an alias; ``None`` if it was not measured."""
        found = self.measurements.get(METRICS.resolve(metric))
        return None if found is None else found.values.get(name)

    def as_dict(self) -> dict[str, Any]:
        """The evaluation as a JSON object."""
        return {
            "evaluation": FORMAT_VERSION,
            "textveil": __version__,
            "texts": self.texts,
            "sampled_from": self.sampled_from,
            "left_out": self.left_out,
            "empty": self.empty,
            "metrics": {name: found.as_dict() for name, found in self.measurements.items()},
            "not_measured": dict(self.not_measured),
        }


@dataclass
class Evaluator:
    """Measures obfuscations of a data set. Models are loaded once, and originals are processed once.

    Args:
        dataset: The originals.
        metrics: The metrics to measure, as names or instances; by default all that can be measured here.
        options: The options of named metrics, by the name of the metric.
        progress: Receives progress reports.

    Raises:
        TextveilError: A requested metric lacks a package or a model.
    """

    dataset: Dataset
    metrics: Sequence[str | Metric] | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: Progress = ignore_progress

    def __post_init__(self) -> None:
        self._missing: dict[str, str] = {}
        self._metrics: dict[str, Metric] = {}
        options = _resolve_options(self.options)
        if isinstance(self.metrics, str):
            raise ParameterError("`metrics` must be a list of names or metrics. Got a single string instead.")
        wanted: Sequence[str | Metric] = list(METRICS) if self.metrics is None else self.metrics
        chosen: list[type[Metric] | Metric] = [METRICS.choose(metric) for metric in wanted]
        if unused := options.keys() - {metric.name for metric in chosen}:
            raise ParameterError(f"There are options for {', '.join(sorted(unused))}, which is not among `metrics`.")
        for metric in chosen:
            self._add(metric, options.get(metric.name))

    def _add(self, metric: type[Metric] | Metric, options: Mapping[str, Any] | None) -> None:
        try:
            self._metrics[metric.name] = METRICS.build(metric, **(options or {}))
        except (MissingExtraError, ResourceError) as error:  # by default, metrics that lack something are skipped
            if self.metrics is not None or options is not None:
                raise
            self._missing[metric.name] = str(error)

    def measure(
        self,
        obfuscated: Sequence[str | None],
        *,
        certificate: Certificate | None = None,
        obfuscations: Sequence[Obfuscation] | None = None,
    ) -> Evaluation:
        """Measure an obfuscation of the data set.

        Args:
            obfuscated: An obfuscated text for every original, in the same order.
            certificate: The certificate of the obfuscation: that of the file, or of one of the results.
            obfuscations: The results of :meth:`Obfuscator.obfuscate_all` for the originals.

        Raises:
            ParameterError: A requirement of a requested metric is missing.
            InputError: The classes of a requested metric cannot be learned, or the number of texts differs.
        """
        if certificate is not None and not isinstance(certificate, Certificate):
            raise ParameterError(
                f"`certificate` must be a Certificate. Got {type(certificate).__name__} instead. Load a file with "
                "Certificate.load."
            )
        texts = self.dataset.pair(obfuscated)
        if obfuscations is not None:
            if len(obfuscations) != self.dataset.size:
                raise ParameterError(
                    f"`obfuscations` must have a result for each of the {self.dataset.size:,} texts. Got "
                    f"{len(obfuscations):,} results instead."
                )
            certificate = _cover_all(certificate, obfuscations)
            obfuscations = [obfuscations[row] for row in self.dataset.rows]
        case = Case(self.dataset, texts, certificate, obfuscations, progress=self.progress)
        measured: dict[str, Measurement] = {}
        not_measured = dict(self._missing)
        for metric in sorted(self._metrics.values(), key=lambda metric: len(metric.after)):
            case = replace(case, measured=measured)
            reason = case.lacks(metric)
            if reason is None:
                measured[metric.name] = metric.measure(case)
            elif self.metrics is None:
                not_measured[metric.name] = reason
            else:
                kind = InputError if reason in self.dataset.problems.values() else ParameterError
                raise kind(f"The metric {metric.name!r} cannot be measured. {reason}")
        return Evaluation(
            len(texts),
            self.dataset.left_out,
            measured,
            not_measured,
            sum(not text.strip() for text in texts),
            self.dataset.sampled_from,
        )


def _resolve_options(given: object) -> dict[str, Mapping[str, Any]]:
    """The options of metrics by their names, which may be aliases."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"`options` must map the name of a metric to its options. Got {type(given).__name__} instead."
        )
    found: dict[str, Mapping[str, Any]] = {}
    for alias, options in given.items():
        chosen: type[Metric] | Metric = METRICS.choose(alias)
        if chosen.name in found:
            raise ParameterError(f"`options` name the metric {chosen.name!r} twice. Give its options once.")
        if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
            raise ParameterError(
                f"The `options` of {alias!r} must map names to values. Got {type(options).__name__} instead."
            )
        found[chosen.name] = options
    return found


def _cover_all(certificate: Certificate | None, obfuscations: Sequence[Obfuscation]) -> Certificate:
    """The certificate of all results: the given one if it covers them, otherwise one that adds up their counts."""
    tally = Tally.over(result.certificate.tally for result in obfuscations)
    if certificate is not None and certificate.tally.documents.total() >= tally.documents.total():
        return certificate
    return replace(certificate or obfuscations[0].certificate, tally=tally, _as_read=None)
