"""The quantities by which obfuscations are compared: declared columns, and the question that each answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.base import Reading as Reading  # noqa: PLC0414 # others compare quantities by it
from textveil.lab.metrics.columns import METRIC_COLUMNS, MetricColumn, Reference, find_reference
from textveil.lab.metrics.evaluator import Evaluation


class Side(StrEnum):
    """The question that a quantity answers."""

    PRIVACY = "privacy"
    """What an attacker still learns."""
    UTILITY = "utility"
    """What the texts are still useful for."""
    TRADE_OFF = "trade-off"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A declared column, or the worst of several ones. Direction, unit and references are those of the columns.

    Args:
        side: The question that it answers.
        columns: The columns. The worst of those that were measured is read.
        title: The name for readers. That of a single column is its declared one.
    """

    side: Side
    columns: tuple[MetricColumn, ...]
    title: str

    @classmethod
    def of(cls, side: Side, *names: str, title: str = "") -> Quantity:
        """The quantity of the columns with these names."""
        columns = tuple(METRIC_COLUMNS[name] for name in names)
        return cls(side, columns, title or columns[0].title)

    @property
    def key(self) -> str:
        """Its name in JSON, such as ``attribute.adaptive``."""
        return "|".join(f"{column.metric}.{column.value}" for column in self.columns)

    @property
    def better(self) -> Literal["higher", "lower"]:
        """The better direction."""
        return self.columns[0].better

    @property
    def percent(self) -> bool:
        """Whether it is shown in percent."""
        return self.columns[0].percent

    @property
    def logarithmic(self) -> bool:
        """Whether axes are logarithmic and differences are ratios."""
        return self.columns[0].logarithmic

    def find_column(self, evaluation: Evaluation) -> MetricColumn | None:
        """The column that is read, which has the worst value; ``None`` if nothing was measured."""
        values = {column: reading.value for column in self.columns if (reading := _read(evaluation, column))}
        worst = min if self.better == "higher" else max
        return worst(values, key=lambda column: values[column]) if values else None

    def read(self, evaluation: Evaluation) -> Reading | None:
        """The value of an evaluation; ``None`` if it was not measured."""
        return _read(evaluation, self.find_column(evaluation))

    def read_reference(self, evaluation: Evaluation, reference: Reference) -> Reading | None:
        """A value to compare with, of the column that is read; ``None`` if there is none."""
        column = self._find_measured(evaluation)
        if column is None:
            return None
        if reference is Reference.ORIGINALS and column.of_originals is not None:
            return Reading(column.of_originals, Interval(column.of_originals, column.of_originals))
        return _read(evaluation, find_reference(column, reference))

    def caveats(self, evaluation: Evaluation) -> tuple[str, ...]:
        """The reasons to draw no conclusion from it: those of the metric that is read."""
        column = self._find_measured(evaluation)
        return () if column is None else evaluation.measurements[column.metric].caveats

    def _find_measured(self, evaluation: Evaluation) -> MetricColumn | None:
        """The column that is read. If no metric gave a value, the first column whose metric was measured."""
        measured = (column for column in self.columns if column.metric in evaluation.measurements)
        return self.find_column(evaluation) or next(measured, None)

    def is_clearly_better(self, one: Reading, other: Reading) -> bool:
        """Whether one value is better than another, and their intervals do not overlap."""
        order = compare_readings(one, other)
        return order == (1 if self.better == "higher" else -1)

    def is_better(self, one: Reading, other: Reading) -> bool:
        """Whether one value is better than another, whatever their intervals are."""
        return one.value > other.value if self.better == "higher" else one.value < other.value

    def show(self, value: float) -> str:
        """A value, rounded for display as its column declares it.

        >>> ADAPTIVE.show(0.41234), PERPLEXITY.show(1497.2), IDENTIFIERS.show(0.5211)
        ('41.2%', '1,497', '52.11%')
        """
        return self.columns[0].show(value)

    def show_interval(self, interval: Interval) -> str:
        """An interval, rounded for display.

        >>> ADAPTIVE.show_interval(Interval(0.38, 0.4451)), GAIN.show_interval(Interval(-0.25, 0.125))
        ('38.0–44.5%', '-0.250 to 0.125')
        """
        low, high = self.columns[0].show_bare(interval.low), self.show(interval.high)
        return f"{low}{' to ' if interval.low < 0 else '–'}{high}"


def _read(evaluation: Evaluation, column: MetricColumn | None) -> Reading | None:
    found = None if column is None else evaluation.measurements.get(column.metric)
    if column is None or found is None or not math.isfinite(value := found.values.get(column.value, math.nan)):
        return None
    interval = found.intervals.get(column.value)
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


STRONGEST = Quantity.of(Side.PRIVACY, "adaptive_f1", "static_f1", "stylometry_adaptive", title="strongest attacker F1")
"""The best of the attackers that infer the attribute."""
ADAPTIVE = Quantity.of(Side.PRIVACY, "adaptive_f1")
STATIC = Quantity.of(Side.PRIVACY, "static_f1")
STYLE = Quantity.of(Side.PRIVACY, "stylometry_adaptive")
LINKAGE = Quantity.of(Side.PRIVACY, "linkage_top_1")
MEMBERSHIP = Quantity.of(Side.PRIVACY, "membership_auc")
INVERSION = Quantity.of(
    Side.PRIVACY, "inversion_top_1", "inversion_decoded", "inversion_repeated", title="recovered chunks"
)
"""The best of the attackers that invert the mechanism. It needs chunks, which a comparison does not have."""
BAYES = Quantity.of(Side.PRIVACY, "inversion_top_1")
DECODING = Quantity.of(Side.PRIVACY, "inversion_decoded")
DIRECT = Quantity.of(Side.PRIVACY, "identifiers_direct")
IDENTIFIERS = Quantity.of(Side.PRIVACY, "pi_remaining")
UNCHANGED = Quantity.of(Side.PRIVACY, "clear_text_unchanged")
RELEASED = Quantity.of(Side.PRIVACY, "clear_text_released")
OVERLAP = Quantity.of(Side.PRIVACY, "overlap_rouge_l")
TASK = Quantity.of(Side.UTILITY, "utility_f1")
SIMILARITY = Quantity.of(Side.UTILITY, "cosine_similarity")
TOKENS = Quantity.of(Side.UTILITY, "token_similarity_f1")
PERPLEXITY = Quantity.of(Side.UTILITY, "perplexity")
GAIN = Quantity.of(Side.TRADE_OFF, "relative_gain")

QUANTITIES = (
    *(ADAPTIVE, STATIC, STYLE, LINKAGE, MEMBERSHIP, DIRECT, IDENTIFIERS, UNCHANGED, RELEASED, OVERLAP),
    *(TASK, SIMILARITY, TOKENS, PERPLEXITY),
    GAIN,
)
"""The quantities of tables, in their order. A quantity that was not measured is not shown."""
ATTACKS = (STRONGEST, ADAPTIVE, STATIC, LINKAGE, DIRECT, IDENTIFIERS, UNCHANGED)
"""The quantities that figures of a comparison show against utility. The first that was measured is the main one."""
STUDY_ATTACKS = (ADAPTIVE, STATIC, BAYES, DECODING)
"""The attackers that figures of a study show against every utility."""
UTILITIES = (TASK, SIMILARITY, TOKENS, PERPLEXITY)
"""The utilities that figures show, the main one first."""
