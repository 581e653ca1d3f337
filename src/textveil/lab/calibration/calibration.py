"""The calibration: the epsilon that was found for targets, with its settings and its curve, as a JSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from textveil.certificate import Terms
from textveil.errors import ParameterError
from textveil.lab.metrics.base import Measurement
from textveil.registry import unknown_name
from textveil.storage.atomic import writing
from textveil.storage.records import dump_record, load_record, reading_record

FORMAT = 1
LOG_RATIO = "log-ratio"
UTILITY = "utility"
GIVEN = "given"
EXACT = "none: the bound follows from the mechanism"
"""The origin of texts where none are needed."""


@dataclass(frozen=True, slots=True)
class Target:
    """A quantity to aim at.

    Args:
        name: The name.
        title: The quantity in a few words.
        metric: The metric that measures it; ``None`` if it follows from the mechanism.
        values: The values of the metric. The largest of them counts.
        floor: Whether the quantity must be at least the target, as a utility. Otherwise at most.
        tests: The detail of the measurement with the number of texts that the value was computed from; by default, all
            texts were used.
    """

    name: str
    title: str
    metric: str | None
    values: tuple[str, ...] = ()
    floor: bool = False
    tests: str | None = None

    def read(self, measurement: Measurement) -> tuple[float, float | None]:
        """The value of a measurement, and the end of its 95 % interval on the unsafe side."""
        known = [name for name in self.values if name in measurement.values]
        ends = [measurement.intervals[name] for name in known if name in measurement.intervals]
        value = max(measurement.values[name] for name in known)
        if len(ends) < len(known):
            return value, None
        return value, min(end.low for end in ends) if self.floor else max(end.high for end in ends)


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target("unchanged", "words that are unchanged", "overlap", ("unchanged",)),
        Target("unchanged-content", "words that are unchanged, without stopwords", "overlap", ("unchanged_content",)),
        Target("inversion", "chunks that an attacker guesses", "inversion", ("top_1", "decoded"), tests="texts"),
        Target("adaptive", "F1 of an adaptive attacker", "attribute", ("adaptive",), tests="test_texts"),
        Target(UTILITY, "share of the F1 with originals", "downstream", ("retained",), True, "test_texts"),
        Target("similarity", "cosine similarity", "similarity", ("cosine",), floor=True),
        Target(LOG_RATIO, "log-ratio for any two words", None),
    )
}
"""All targets by name."""


def check_targets(wanted: Mapping[str, float]) -> dict[Target, float]:
    """The targets by name, with their levels.

    Raises:
        UnknownNameError: There is no such target.
        ParameterError: There is none, or a level is out of range.
    """
    if not wanted:
        raise ParameterError(f"A target is missing, such as unchanged-content=0.2. Choose from: {', '.join(TARGETS)}.")
    found: dict[Target, float] = {}
    for name, level in wanted.items():
        target = TARGETS.get(name.replace("_", "-"))
        if target is None:
            raise unknown_name("target", name, TARGETS)
        is_exact = target.metric is None
        if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < (math.inf if is_exact else 1):
            limit = "positive and finite" if is_exact else "between 0 and 1"
            raise ParameterError(f"The target {target.name} must be {limit}. Got {level!r} instead.")
        found[target] = float(level)
    return found


def parse_targets(written: Sequence[str]) -> dict[str, float]:
    """Targets from words such as ``unchanged=0.2``.

    >>> parse_targets(["unchanged=0.2", "similarity = 0.5"])
    {'unchanged': 0.2, 'similarity': 0.5}
    """
    found: dict[str, float] = {}
    for word in written:
        name, _, level = (part.strip() for part in word.partition("="))
        name = name.replace("_", "-")
        if name in found:
            raise ParameterError(f"The target {name} was given twice. Give it once.")
        try:
            found[name] = float(level)
        except ValueError:
            raise ParameterError(f"A target is a name and a number, such as {name or 'unchanged'}=0.2.") from None
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """A quantity at an epsilon."""

    value: float
    bound: float
    """The confidence bound on the unsafe side."""
    met: bool
    """Whether the bound meets the target."""


@dataclass(frozen=True, slots=True)
class Point:
    """An epsilon per word that was tried, with the readings of all targets by name."""

    epsilon_per_word: float
    readings: Mapping[str, Reading]


@dataclass(frozen=True, slots=True)
class Sample:
    """The texts of a calibration."""

    origin: str
    """``given``, or the name of the texts that ship with textveil."""
    texts: int

    @property
    def data_dependent(self) -> bool:
        """Whether the epsilon depends on texts of the user."""
        return self.origin == GIVEN


@dataclass(frozen=True, slots=True)
class Calibration:
    """The epsilon per word that meets some targets with a stated confidence. It holds no text.

    Args:
        targets: The targets: levels by name.
        epsilon_per_word: The epsilon that was found.
        largest_share: The largest share of a chunk; ``None`` without a limit.
        confidence: The probability that all targets are met on other texts of the same kind.
        settings: The profile, the methods and the bundle.
        sample: The texts.
        curve: Everything that was tried, by epsilon.
        caveats: Reasons to doubt the result.
    """

    targets: Mapping[str, float]
    epsilon_per_word: float
    largest_share: float | None
    confidence: float
    settings: Mapping[str, Any]
    sample: Sample
    curve: tuple[Point, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def point(self) -> Point | None:
        """The point of the curve that was chosen."""
        return next((each for each in self.curve if each.epsilon_per_word == self.epsilon_per_word), None)

    def check(self, terms: Terms) -> None:
        """Refuse an obfuscator with another bundle, profile or method.

        Raises:
            ParameterError: It lists everything that differs.
        """
        found = describe_settings(terms)
        used = {"form": terms.profile.earlier_form, **self.settings}  # calibrations of earlier versions have no form
        changes = [
            f"{name} (was {_show(used.get(name))}, now {_show(value)})"
            for name, value in found.items()
            if used.get(name) != value
        ]
        if changes:
            raise ParameterError(
                f"The calibration was made with other settings: {', '.join(changes)}. Use the same ones, or calibrate "
                "again."
            )
        if (terms.largest_share or math.inf) > (self.largest_share or math.inf):
            raise ParameterError(f"Set `largest_share` to {self.largest_share!r}, as in the calibration.")

    @property
    def summary(self) -> dict[str, Any]:
        """What a certificate says of the calibration."""
        return {"targets": dict(self.targets), "data_dependent": self.sample.data_dependent}

    def as_dict(self) -> dict[str, Any]:
        """The calibration as JSON can hold it."""
        described = asdict(self)
        texts = described.pop("sample") | {"data_dependent": self.sample.data_dependent}
        ends = {name: list(described.pop(name)) for name in ("curve", "caveats")}
        return {"calibration": FORMAT, **described, "texts": texts, **ends}

    def to_json(self) -> str:
        """The calibration as indented JSON."""
        return dump_record(self.as_dict())

    def write(self, path: Path, *, like: Path | None = None) -> None:
        """Write the calibration to a file that is never more readable than the file ``like``."""
        with writing(path, like=like) as stream:
            stream.write(self.to_json().encode())

    @classmethod
    def load(cls, path: str | Path) -> Calibration:
        """Read a calibration from a JSON file.

        Raises:
            InputError: The file is not a calibration, or is one of another format.
        """
        return load_record(path, cls._read)

    @classmethod
    def _read(cls, values: Any) -> Calibration:
        with reading_record(values, "calibration", FORMAT):
            return cls._parse(values)

    @classmethod
    def _parse(cls, values: Mapping[str, Any]) -> Calibration:
        limit = values["largest_share"]
        return cls(
            targets={str(name): _read_number(level) for name, level in values["targets"].items()},
            epsilon_per_word=_read_number(values["epsilon_per_word"]),
            largest_share=None if limit is None else _read_number(limit),
            confidence=_read_number(values["confidence"]),
            settings=dict(values["settings"]),
            sample=Sample(str(values["texts"]["origin"]), int(values["texts"]["texts"])),
            curve=tuple(map(_read_point, values["curve"])),
            caveats=tuple(map(str, values["caveats"])),
        )


def describe_settings(terms: Terms) -> dict[str, Any]:
    """Everything that a calibration depends on besides its texts, as JSON gives it back."""
    described = terms.describe()
    for name in ("allocation", "largest_share", "identifiers"):
        del described[name]
    read: dict[str, Any] = json.loads(json.dumps(described))
    return read


def _read_point(values: Mapping[str, Any]) -> Point:
    readings = {
        str(name): Reading(float(each["value"]), float(each["bound"]), bool(each["met"]))
        for name, each in values["readings"].items()
    }
    return Point(_read_number(values["epsilon_per_word"]), readings)


def _show(setting: Any) -> str:
    """A setting in a few words: a method with its options, a bundle with its version."""
    if not isinstance(setting, dict):
        return str(setting)
    options = [f"{name} {value}" for name, value in (setting.get("options") or {}).items() if value is not None]
    details = [setting["version"], str(setting.get("sha256", ""))[:12]] if "version" in setting else options
    return f"{setting.get('name')} {' '.join(details)}".strip()


def _read_number(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < math.inf:
        raise ValueError
    return float(value)
