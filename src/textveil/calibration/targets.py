"""Targets: what a calibration can aim at, and the metrics that measure it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from textveil.errors import ParameterError
from textveil.evaluation.base import Measurement
from textveil.registry import unknown_name


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


LOG_RATIO = "log-ratio"
UTILITY = "utility"
TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target("unchanged", "words that are unchanged", "overlap", ("unchanged",)),
        Target("unchanged-content", "words that are unchanged, without stopwords", "overlap", ("unchanged_content",)),
        Target("inversion", "chunks that an attacker guesses", "inversion", ("top_1", "decoded"), tests="texts"),
        Target("adaptive", "F1 of an adaptive attacker", "attribute", ("adaptive",), tests="test_texts"),
        Target(
            UTILITY,
            "share of the F1 with originals",
            "downstream",
            ("retained",),
            floor=True,
            tests="test_texts",
        ),
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
    for given, level in wanted.items():
        name = given.replace("_", "-")
        if name not in TARGETS:
            raise unknown_name("target", given, TARGETS)
        highest = math.inf if name == LOG_RATIO else 1.0
        if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < highest:
            limit = "positive and finite" if name == LOG_RATIO else "between 0 and 1"
            raise ParameterError(f"The target {name} must be {limit}. Got {level!r} instead.")
        found[TARGETS[name]] = float(level)
    return found


def parse_targets(written: Sequence[str]) -> dict[str, float]:
    """Targets from words such as ``unchanged=0.2``.

    >>> parse_targets(["unchanged=0.2", "similarity = 0.5"])
    {'unchanged': 0.2, 'similarity': 0.5}
    """
    found: dict[str, float] = {}
    for word in written:
        name, separator, level = (part.strip() for part in word.partition("="))
        name = name.replace("_", "-")
        try:
            value = float(level)
        except ValueError:
            value = math.nan
        if not separator or math.isnan(value):
            raise ParameterError(f"A target is a name and a number, such as {name or 'unchanged'}=0.2.")
        if name in found:
            raise ParameterError(f"The target {name} was given twice. Give it once.")
        found[name] = value
    return found
