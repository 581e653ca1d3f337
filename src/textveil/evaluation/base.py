"""The contract of a metric: what it needs, what it is given, and what it says."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Integral
from typing import Any, ClassVar

from textveil.errors import ParameterError
from textveil.evaluation.dataset import Classes, Dataset
from textveil.evaluation.texts import Texts
from textveil.privacy.certificate import Certificate
from textveil.privacy.results import Obfuscation
from textveil.progress import Progress, ignore_progress
from textveil.registry import Method
from textveil.version import __version__

EXTRA = "evaluate"


class Need(StrEnum):
    """What a metric may need besides pairs of texts; the value says how to give it."""

    LABEL = "the label of a task: --label COLUMN"
    ATTRIBUTE = "an attribute to protect: --attribute COLUMN"
    CERTIFICATE = "the certificate of the obfuscation: --certificate FILE"
    CHUNKS = "what became of every chunk, which textveil works out again from --certificate FILE"


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured: originals with an obfuscated text for each, and what else is known of the obfuscation.

    Args:
        dataset: The originals, with label and attribute.
        obfuscated: An obfuscated text for every original.
        certificate: The certificate of the obfuscation.
        obfuscations: What became of the chunks of every original.
        measured: What was measured before, by the name of the metric.
        progress: Is told how far the work is.
    """

    dataset: Dataset
    obfuscated: Texts
    certificate: Certificate | None = None
    obfuscations: Sequence[Obfuscation] | None = None
    measured: Mapping[str, Measurement] = field(default_factory=dict)
    progress: Progress = ignore_progress

    @property
    def originals(self) -> Texts:
        """The original texts."""
        return self.dataset.originals

    def classes(self, need: Need) -> Classes:
        """The classes of the label, or of the attribute."""
        classes = self.dataset.label if need is Need.LABEL else self.dataset.attribute
        if classes is None:
            raise ParameterError(f"This needs {need.value}.")
        return classes

    def lacks(self, metric: Metric) -> str | None:
        """Why a metric cannot be measured here; ``None`` if it can."""
        given = {
            Need.LABEL: self.dataset.label,
            Need.ATTRIBUTE: self.dataset.attribute,
            Need.CERTIFICATE: self.certificate,
            Need.CHUNKS: self.obfuscations,
        }
        for need in metric.needs:
            if given[need] is None:
                return f"It needs {need.value}."
        if lacking := [name for name in metric.after if name not in self.measured]:
            return f"It is worked out from {' and '.join(lacking)}, which was not measured."
        return None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a metric says."""

    metric: str
    description: str
    """The metric with the models and options that make its values."""
    values: Mapping[str, float]
    """Numbers by their names; of a share, 1 is all."""
    line: str
    """The same in plain language."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What JSON shows besides."""
    versions: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The measurement as JSON can hold it."""
        return {
            "description": self.description,
            "values": dict(self.values),
            "line": self.line,
            "details": dict(self.details),
            "versions": dict(self.versions),
        }


class Metric(Method):
    """Measures one thing of an obfuscation. Models are loaded when they are first needed, and once."""

    kind = "metric"
    needs: ClassVar[tuple[Need, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ()
    """The metrics from whose measurements it is worked out."""

    @property
    def identity(self) -> dict[str, object]:
        """All that the values depend on, besides the texts: what kept values are found by."""
        return identify(self.description, self.versions)

    @abstractmethod
    def measure(self, case: Case) -> Measurement:
        """Measure it."""

    def say(self, line: str, values: Mapping[str, float], **details: Any) -> Measurement:
        """A measurement of this metric."""
        return Measurement(self.name, self.description, values, line, details, self.versions)


def identify(description: str, versions: Mapping[str, str]) -> dict[str, object]:
    """All that kept numbers depend on, besides the texts."""
    return {"scores": description, "versions": {"textveil": __version__, **versions}}


def check_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """The seeds, if they are whole numbers and there is one."""
    if not seeds or any(isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0 for seed in seeds):
        raise ParameterError(f"The seeds must be whole numbers from 0, at least one. Got {list(seeds)!r} instead.")
    return tuple(dict.fromkeys(map(int, seeds)))
