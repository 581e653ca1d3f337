"""The contract of a metric: its requirements, its input and its result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

from textveil.certificate import Certificate
from textveil.errors import InputError, ParameterError
from textveil.extras import require_version
from textveil.lab.metrics.dataset import Classes, Dataset, Texts
from textveil.models.files import EXTRA as NEURAL
from textveil.models.files import ModelFiles
from textveil.progress import Progress, ignore_progress
from textveil.registry import Method, Option
from textveil.results import Obfuscation
from textveil.version import __version__

EXTRA = "evaluate"
REVISION = 4
"""The revision of measurements. Stored ones of earlier revisions are measured again. Revision 2 added intervals.
Revision 3 states F1 in percent, and corrects the chance of linkage for the choice of the best attacker.
Revision 4 adds the share of the F1 that a task keeps."""


class Need(StrEnum):
    """A requirement of a metric besides pairs of texts. The value names the parameter that provides it."""

    LABEL = "the label of a task (`label`)"
    ATTRIBUTE = "an attribute to protect (`attribute`)"
    CERTIFICATE = "the certificate of the obfuscation (`certificate`)"
    CHUNKS = "the outcome of every chunk (`obfuscations`)"

    @property
    def column(self) -> str:
        """The name of the parameter."""
        return self.value.split("`")[1]


@dataclass(frozen=True, slots=True)
class Case:
    """The input of a metric: originals, their obfuscated texts, and further facts about the obfuscation.

    Args:
        dataset: The originals, with label and attribute.
        obfuscated: An obfuscated text for every original.
        certificate: The certificate of the obfuscation.
        obfuscations: The full result for every original, with its chunks.
        measured: Earlier measurements, by the name of the metric.
        progress: Receives progress reports.
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
        if problem := self.dataset.problems.get(need.column):
            raise InputError(problem)
        if classes is None:
            raise ParameterError(f"This needs {need.value}.")
        return classes

    def lacks(self, metric: Metric) -> str | None:
        """The reason why a metric cannot be measured here; ``None`` if it can."""
        given = {
            Need.LABEL: self.dataset.label,
            Need.ATTRIBUTE: self.dataset.attribute,
            Need.CERTIFICATE: self.certificate,
            Need.CHUNKS: self.obfuscations,
        }
        for need in metric.needs:
            if given[need] is None:
                return self.dataset.problems.get(need.column, f"It needs {need.value}.")
        if lacking := [name for name in metric.after if name not in self.measured]:
            return f"It is computed from other metrics that were not measured: {', '.join(lacking)}."
        return None


class Interval(NamedTuple):
    """The bounds of an interval."""

    low: float
    high: float


class Reading(NamedTuple):
    """A value with its 95 % interval, if it has one."""

    value: float
    interval: Interval | None = None

    def as_dict(self) -> dict[str, object]:
        """The reading as a JSON object."""
        return {"value": self.value, "interval": None if self.interval is None else list(self.interval)}

    def show(self, form: str, *, first: bool = False) -> str:
        """The value with its interval in parentheses, which the first one of a text explains.

        >>> Reading(0.104, Interval(0.06, 0.15)).show(".1%", first=True)
        '10.4% (95 % interval 6.0% to 15.0%)'
        """
        if self.interval is None:
            return f"{self.value:{form}}"
        low, high = (f"{bound:{form}}" for bound in self.interval)
        return f"{self.value:{form}} ({'95 % interval ' if first else ''}{low} to {high})"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result of a metric."""

    metric: str
    description: str
    """The metric with the models and options that its values depend on."""
    values: Mapping[str, float]
    """Numbers by name. Shares lie between 0 and 1."""
    line: str
    """The values in plain language."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further results, which JSON output includes."""
    versions: Mapping[str, str] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """The 95 % interval of a value, by its name: over test texts, and over draws of noise if there are several."""
    caveats: tuple[str, ...] = ()
    """Reasons to draw no conclusion from the values, in plain language."""

    def as_dict(self) -> dict[str, Any]:
        """The measurement as a JSON object."""
        return {
            "description": self.description,
            "values": dict(self.values),
            "line": self.line,
            "details": dict(self.details),
            "versions": dict(self.versions),
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "caveats": list(self.caveats),
        }


class Metric(Method):
    """A measure of an obfuscation. It loads its models once, on first use."""

    kind = "metric"
    needs: ClassVar[tuple[Need, ...]] = ()
    uses: ClassVar[tuple[Need, ...]] = ()
    """What it reads if it is given, so its values depend on it, too."""
    after: ClassVar[tuple[str, ...]] = ()
    """The metrics whose measurements it is computed from."""
    reads: ClassVar[tuple[str, ...]] = ()
    """Further metrics whose measurements it reads if there are any, so its result depends on them, too."""

    @classmethod
    def list_unused(cls, options: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003 # a subclass may need them
        """The options that have no effect beside the given ones, such as a model that is not loaded."""
        return ()

    @property
    def identity(self) -> dict[str, object]:
        """Everything that its values depend on besides the texts: the key of cached values."""
        return identify(self.name, self.software, method=self.as_dict(), revision=REVISION)

    @abstractmethod
    def measure(self, case: Case) -> Measurement:
        """Measure an obfuscation."""

    def report(
        self, line: str, values: Mapping[str, float | Reading], *, caveats: Sequence[str] = (), **details: Any
    ) -> Measurement:
        """Build a measurement of this metric.

        Args:
            line: The values in plain language.
            values: Numbers by name, with their intervals or without.
            caveats: Reasons to draw no conclusion.
            details: Further results.
        """
        readings = {name: each if isinstance(each, Reading) else Reading(each) for name, each in values.items()}
        numbers = {name: each.value for name, each in readings.items()}
        intervals = {name: each.interval for name, each in readings.items() if each.interval is not None}
        return Measurement(
            self.name, self.description, numbers, line, details, self.software, intervals, tuple(caveats)
        )


class ModelMetric(Metric):
    """A metric with one pretrained model, which its option ``model`` names."""

    packages: ClassVar[tuple[str, ...]]
    """The packages that run the model."""
    model: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        read_versions(self.packages)
        self.files = ModelFiles.find(self.model)

    @property
    def model_used(self) -> Mapping[str, str]:
        """The files of the model."""
        return self.files.as_dict()

    @property
    def versions(self) -> dict[str, str]:
        """The packages that run the model."""
        return read_versions(self.packages)


def read_versions(packages: Sequence[str]) -> dict[str, str]:
    """The versions of packages of neural models.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    return {package: require_version(package, extra=NEURAL) for package in packages}


def identify(scores: str, versions: Mapping[str, str], **parts: object) -> dict[str, object]:
    """The identity of cached numbers: everything that they depend on besides the texts.

    Args:
        scores: The name of the numbers, such as ``cosine``.
        versions: The software that computes them.
        parts: The models and options that they depend on.
    """
    return {"scores": scores, **parts, "versions": {"textveil": __version__, **versions}}


def add_constants(record: Mapping[str, Any], **constants: Any) -> dict[str, Any]:
    """Add constants of an implementation to its record, since values depend on them as they do on options."""
    return {**record, "options": {**record["options"], **constants}}


SAMPLE_OPTION = Option(
    "sample", int, None, "Number of pairs to read, always the same ones. By default all pairs are read.", least=1
)
"""The option of slow metrics that can read a part of the pairs."""


def check_seeds(seeds: object) -> tuple[int, ...]:
    """The distinct seeds of a sequence of at least one non-negative integer."""
    if not isinstance(seeds, Sequence) or isinstance(seeds, str) or not seeds or not all(map(_is_seed, seeds)):
        shown = list(seeds) if isinstance(seeds, Sequence) and not isinstance(seeds, str) else seeds
        raise ParameterError(f"`seeds` must be a list of at least one non-negative integer. Got {shown!r} instead.")
    return tuple(dict.fromkeys(map(int, seeds)))


def _is_seed(seed: object) -> bool:
    return isinstance(seed, Integral) and not isinstance(seed, bool) and int(seed) >= 0
