"""The values by which obfuscations are compared: their direction, their references and their display."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

from textveil.evaluation.base import Interval, Measurement
from textveil.evaluation.evaluator import Evaluation


class Side(StrEnum):
    """The question that a quantity answers."""

    PRIVACY = "privacy"
    """What an attacker still learns."""
    UTILITY = "utility"
    """What the texts are still useful for."""
    TRADE_OFF = "trade-off"


class Reference(StrEnum):
    """A value to compare with."""

    ORIGINALS = "originals"
    """The value on the original texts."""
    CHANCE = "chance"
    """The value of an attacker or classifier that has learned nothing."""
    MAJORITY = "majority baseline"
    """The value of a constant prediction of the most frequent class."""


class Reading(NamedTuple):
    """A value with its 95 % interval, if it has one."""

    value: float
    interval: Interval | None = None

    def as_dict(self) -> dict[str, object]:
        """The reading as a JSON object."""
        return {"value": self.value, "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value of a metric, or the worst of several values.

    Args:
        metric: The name of the metric.
        values: The names of its values. The worst of them is read.
        title: The name for readers.
        better: The better direction.
        side: The question that it answers.
        original: The value on originals: a number, or the name of a value.
        chance: The name of the value of chance.
        percent: Whether it is shown in percent.
        decimals: The decimals that are shown.
        rivals: Values of other metrics, of which the worst is read, too. Each metric has its own references under the
            same names.
    """

    metric: str
    values: tuple[str, ...]
    title: str
    better: Literal["higher", "lower"]
    side: Side
    original: str | float | None = None
    chance: str = "chance"
    percent: bool = False
    decimals: int = 3
    rivals: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """Its name in JSON, such as ``attribute.adaptive``."""
        return f"{self.metric}.{'|'.join(self.values)}"

    def find_source(self, evaluation: Evaluation) -> tuple[str, str] | None:
        """The metric and the name of the value that is read; ``None`` if nothing was measured."""
        named = [*((self.metric, name) for name in self.values), *self.rivals]
        found = {(metric, name): _read(evaluation.measurements.get(metric), name) for metric, name in named}
        values = {source: reading.value for source, reading in found.items() if reading is not None}
        worst = min if self.better == "higher" else max
        return worst(values, key=lambda source: values[source]) if values else None

    def read(self, evaluation: Evaluation) -> Reading | None:
        """The value of an evaluation; ``None`` if it was not measured."""
        source = self.find_source(evaluation)
        return None if source is None else _read(evaluation.measurements[source[0]], source[1])

    def read_reference(self, evaluation: Evaluation, reference: Reference) -> Reading | None:
        """A value to compare with, of the metric that is read; ``None`` if there is none."""
        found = self._find_measurement(evaluation)
        if reference is Reference.ORIGINALS and isinstance(self.original, float):
            return None if found is None else Reading(self.original, Interval(self.original, self.original))
        names = {Reference.ORIGINALS: self.original, Reference.CHANCE: self.chance, Reference.MAJORITY: "majority"}
        return _read(found, str(names[reference]))

    def caveats(self, evaluation: Evaluation) -> tuple[str, ...]:
        """The reasons to draw no conclusion from it: those of the metric that is read."""
        found = self._find_measurement(evaluation)
        return () if found is None else found.caveats

    def _find_measurement(self, evaluation: Evaluation) -> Measurement | None:
        metric, _ = self.find_source(evaluation) or (self.metric, "")
        return evaluation.measurements.get(metric)

    def is_clearly_better(self, one: Reading, other: Reading) -> bool:
        """Whether one value is better than another, and their intervals do not overlap."""
        order = compare_readings(one, other)
        return order == (1 if self.better == "higher" else -1)

    def is_better(self, one: Reading, other: Reading) -> bool:
        """Whether one value is better than another, whatever their intervals are."""
        return one.value > other.value if self.better == "higher" else one.value < other.value

    def show(self, value: float) -> str:
        """A value, rounded for display.

        >>> ADAPTIVE.show(0.41234), PERPLEXITY.show(1497.2), IDENTIFIERS.show(0.5211)
        ('0.412', '1,497', '52.1%')
        """
        return f"{value:.1%}" if self.percent else f"{value:,.{self.decimals}f}"

    def show_interval(self, interval: Interval) -> str:
        """An interval, rounded for display.

        >>> ADAPTIVE.show_interval(Interval(0.38, 0.4451)), GAIN.show_interval(Interval(-0.25, 0.125))
        ('0.380–0.445', '-0.250 to 0.125')
        """
        low, high = map(self.show, interval)
        return f"{low.removesuffix('%')}{' to ' if interval.low < 0 else '–'}{high}"


def _read(found: Measurement | None, name: str) -> Reading | None:
    value = None if found is None else found.values.get(name)
    if found is None or value is None or not math.isfinite(value):
        return None
    interval = found.intervals.get(name)
    return Reading(float(value), None if interval is None else Interval(*interval))


def compare_readings(one: Reading, other: Reading) -> int | None:
    """1 if one value is clearly higher than the other, -1 if clearly lower, 0 if intervals overlap, ``None`` without.

    >>> low, high = Reading(0.2, Interval(0.1, 0.3)), Reading(0.5, Interval(0.4, 0.6))
    >>> compare_readings(high, low), compare_readings(low, low), compare_readings(low, Reading(0.9))
    (1, 0, None)
    """
    if one.interval is None or other.interval is None:
        return None
    return int(one.interval.low > other.interval.high) - int(one.interval.high < other.interval.low)


def is_chance(own: Reading, chance: Reading) -> bool:
    """Whether a value cannot be told from chance: the interval of chance, or its own one, reaches the other value.

    >>> is_chance(Reading(0.12), Reading(0.1, Interval(0.07, 0.13))), is_chance(Reading(0.12), Reading(0.1))
    (True, False)
    """
    if chance.interval is not None:
        return own.value <= chance.interval.high
    return own.interval is not None and own.interval.low <= chance.value  # the level of chance is known exactly


def join_readings(readings: Iterable[Reading]) -> Reading | None:
    """The mean of several readings of one reference, with an interval that covers all of theirs."""
    found = list(readings)
    if not found:
        return None
    intervals = [reading.interval for reading in found if reading.interval is not None]
    covered = None
    if len(intervals) == len(found):
        covered = Interval(min(each.low for each in intervals), max(each.high for each in intervals))
    return Reading(math.fsum(reading.value for reading in found) / len(found), covered)


STRONGEST = Quantity(
    "attribute",
    ("adaptive", "static"),
    "strongest attacker F1",
    "lower",
    Side.PRIVACY,
    original="baseline",
    rivals=(("stylometry", "adaptive"),),
)
"""The best of the attackers that infer the attribute."""
ADAPTIVE = Quantity("attribute", ("adaptive",), "adaptive attacker F1", "lower", Side.PRIVACY, original="baseline")
STATIC = Quantity("attribute", ("static",), "static attacker F1", "lower", Side.PRIVACY, original="baseline")
STYLE = Quantity("stylometry", ("adaptive",), "style attacker F1", "lower", Side.PRIVACY, original="baseline")
LINKAGE = Quantity(
    "linkage",
    ("top_1",),
    "linked texts",
    "lower",
    Side.PRIVACY,
    original=1.0,
    chance="chance_top_1",
    percent=True,
)
MEMBERSHIP = Quantity("membership", ("auc",), "membership AUC", "lower", Side.PRIVACY, original="baseline")
INVERSION = Quantity(
    "inversion",
    ("top_1", "decoded", "repeated"),
    "recovered chunks",
    "lower",
    Side.PRIVACY,
    chance="prior_top_1",
    percent=True,
)
"""The best of the attackers that invert the mechanism. It needs chunks, which a comparison does not have."""
IDENTIFIERS = Quantity(
    "identifiers", ("remaining",), "surviving identifiers", "lower", Side.PRIVACY, original=1.0, percent=True
)
DIRECT = Quantity(
    "identifiers", ("direct",), "surviving direct identifiers", "lower", Side.PRIVACY, original=1.0, percent=True
)
UNCHANGED = Quantity("clear_text", ("unchanged",), "unchanged words", "lower", Side.PRIVACY, original=1.0, percent=True)
RELEASED = Quantity(
    "clear_text", ("released",), "words released in clear", "lower", Side.PRIVACY, original=1.0, percent=True
)
TASK = Quantity("downstream", ("f1",), "utility F1", "higher", Side.UTILITY, original="original")
SIMILARITY = Quantity("similarity", ("cosine",), "similarity", "higher", Side.UTILITY, original=1.0)
TOKENS = Quantity(
    "token_similarity", ("f1",), "token similarity", "higher", Side.UTILITY, original=1.0, chance="unrelated"
)
PERPLEXITY = Quantity(
    "perplexity", ("median",), "median perplexity", "lower", Side.UTILITY, original="original_median", decimals=0
)
GAIN = Quantity("trade_off", ("relative_gain",), "relative gain", "higher", Side.TRADE_OFF, original=0.0)

QUANTITIES = (
    *(ADAPTIVE, STATIC, STYLE, LINKAGE, MEMBERSHIP, DIRECT, IDENTIFIERS, UNCHANGED, RELEASED),
    *(TASK, SIMILARITY, TOKENS, PERPLEXITY),
    GAIN,
)
"""The quantities of tables, in their order. A quantity that was not measured is not shown."""
ATTACKS = (STRONGEST, LINKAGE, DIRECT, IDENTIFIERS, UNCHANGED)
"""The quantities that figures show against utility. The first that was measured is the main one."""
UTILITIES = (TASK, SIMILARITY, TOKENS)
