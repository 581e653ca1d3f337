"""The Evaluator: metrics, applied to obfuscations of one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from textveil.errors import MissingExtraError, ParameterError, ResourceError
from textveil.evaluation.base import Case, Measurement, Metric
from textveil.evaluation.dataset import Dataset
from textveil.evaluation.metrics import METRICS
from textveil.privacy.certificate import Certificate
from textveil.privacy.results import Obfuscation
from textveil.progress import Progress, ignore_progress
from textveil.version import __version__

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured of an obfuscation, and what was not."""

    texts: int
    left_out: int
    """Rows whose original has no word in it."""
    measurements: Mapping[str, Measurement]
    not_measured: Mapping[str, str]
    """Why a metric was not measured, by its name."""
    empty: int = 0
    """Obfuscated texts that are empty."""

    def value(self, metric: str, name: str) -> float | None:
        """A value of a metric; ``None`` if it was not measured."""
        found = self.measurements.get(metric)
        return None if found is None else found.values.get(name)

    def as_dict(self) -> dict[str, Any]:
        """The evaluation as JSON can hold it."""
        return {
            "evaluation": FORMAT_VERSION,
            "textveil": __version__,
            "texts": self.texts,
            "left_out": self.left_out,
            "empty": self.empty,
            "metrics": {name: found.as_dict() for name, found in self.measurements.items()},
            "not_measured": dict(self.not_measured),
        }


@dataclass
class Evaluator:
    """Measures obfuscations of a data set; models, and all that concerns the originals alone, are prepared once.

    Args:
        dataset: The originals.
        metrics: The metrics to measure, by name or made already; by default all that can be measured here.
        options: What a metric that is named lets choose, by its name.
        progress: Is told how far the work is.

    Raises:
        TextveilError: A metric that was asked for lacks a package or a model.
    """

    dataset: Dataset
    metrics: Sequence[str | Metric] | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: Progress = ignore_progress

    def __post_init__(self) -> None:
        self._missing: dict[str, str] = {}
        self._metrics: dict[str, Metric] = {}
        wanted = list(METRICS) if self.metrics is None else self.metrics
        names = {metric.name if isinstance(metric, Metric) else METRICS.load(metric).name for metric in wanted}
        if unused := [name for name in self.options if METRICS.load(name).name not in names]:
            raise ParameterError(f"There are options for {', '.join(unused)}, which is not to be measured.")
        for metric in wanted:
            self._add(metric)

    def _add(self, metric: str | Metric) -> None:
        if isinstance(metric, Metric):
            self._metrics[metric.name] = metric
            return
        chosen = METRICS.load(metric)
        try:
            self._metrics[chosen.name] = chosen(**self.options.get(chosen.name, {}))
        except (MissingExtraError, ResourceError) as error:  # what is not installed is left out, unless asked for
            if self.metrics is not None or chosen.name in self.options:
                raise
            self._missing[chosen.name] = str(error)

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
            certificate: The certificate of the obfuscation.
            obfuscations: What :meth:`Obfuscator.obfuscate_all` gave for the originals.

        Raises:
            ParameterError: A metric that was asked for lacks what it needs.
        """
        texts = self.dataset.pair(obfuscated)
        if obfuscations is not None:
            if len(obfuscations) != self.dataset.size:
                raise ParameterError(f"There are {self.dataset.size:,} texts, and {len(obfuscations):,} obfuscations.")
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
                raise ParameterError(f"The metric {metric.name!r} cannot be measured. {reason}")
        return Evaluation(
            len(texts), self.dataset.left_out, measured, not_measured, sum(not text.strip() for text in texts)
        )
