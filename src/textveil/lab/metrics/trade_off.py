"""Relative gain: the trade-off between privacy gained and utility lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textveil.lab.metrics.base import Case, Interval, Measurement, Metric, Reading
from textveil.lab.metrics.leaks import LEAKING, Leak, list_leaks
from textveil.lab.metrics.overlap import Alignment
from textveil.lab.metrics.uncertainty import describe_few

MUCH = 0.5
"""From this share on, what still stands is much."""


def relative_gain(
    *,
    downstream: float,
    similarity: float,
    identifiers: float,
    static: float,
    adaptive: float,
    original_downstream: float,
    original_attacker: float,
) -> float:
    """The relative gain RG = U_p/U_o - P_p/P_o (the paper's section 4). All arguments lie between 0 and 1.

    U is the mean of downstream F1 and similarity. P is the mean of the surviving identifiers and of the F1 of both
    attackers. The index p stands for obfuscated texts, o for originals. For originals, the similarity and the share of
    identifiers are 1, and both attackers have the F1 of a classifier trained and tested on originals.

    >>> relative_gain(
    ...     downstream=0.9, similarity=1, identifiers=1, static=0.8, adaptive=0.8,
    ...     original_downstream=0.9, original_attacker=0.8,
    ... )
    0.0
    """
    utility = (downstream + similarity) / (original_downstream + 1)
    privacy = (identifiers + static + adaptive) / (1 + 2 * original_attacker)
    return utility - privacy


class TradeOff(Metric):
    """Relative gain, computed from the other metrics, and a verdict that names the worst of what still stands.

    If the other metrics allow no conclusion, there is no relative gain, and the caveats say why.
    """

    name = "trade_off"
    after: ClassVar[tuple[str, ...]] = ("identifiers", "attribute", "downstream", "similarity")
    reads: ClassVar[tuple[str, ...]] = LEAKING

    def measure(self, case: Case) -> Measurement:
        """Compute the relative gain, and judge it."""
        if caveats := collect_caveats(case.measured):
            line = " ".join(["No relative gain is computed, and no conclusion is drawn.", *caveats])
            return self.report(line, {}, caveats=caveats)
        gain = relative_gain(**{part: case.measured[metric].values[name] for part, (metric, name) in PARTS.items()})
        reading = Reading(gain, find_interval(gain, case.measured))
        words = Measurement("clear_text", "", {"unchanged": Alignment.of(case).share.value}, "")
        leaks = list_leaks({"clear_text": words, **case.measured})
        return self.report(judge(reading, leaks), {"relative_gain": reading})


PARTS = {
    "downstream": ("downstream", "f1"),
    "similarity": ("similarity", "cosine"),
    "identifiers": ("identifiers", "remaining"),
    "static": ("attribute", "static"),
    "adaptive": ("attribute", "adaptive"),
    "original_downstream": ("downstream", "original"),
    "original_attacker": ("attribute", "baseline"),
}
"""The value of a metric for every part of relative gain."""


def collect_caveats(measured: Mapping[str, Measurement]) -> list[str]:
    """The reasons why the other metrics allow no relative gain, each once."""
    caveats = [caveat for name in ("attribute", "downstream", "similarity") for caveat in measured[name].caveats]
    identifiers = measured["identifiers"].values
    if not identifiers["found"]:
        caveats.append("The originals contain no identifiers.")
    else:
        caveats += describe_few(int(identifiers["pairs"]), "texts with an identifier")
    return list(dict.fromkeys(caveats))


def find_interval(gain: float, measured: Mapping[str, Measurement]) -> Interval | None:
    """The 95 % interval of relative gain from those of its parts; ``None`` if the parts have none.

    The errors of the parts are propagated to first order. Those of the two attackers are added, since both are tested
    on the same texts. The others are taken as independent. This makes the interval rather too wide than too narrow:
    the F1 on originals, which has the opposite sign, usually errs in the same direction.
    """
    values = {part: measured[metric].values[name] for part, (metric, name) in PARTS.items()}
    bounds = {part: measured[metric].intervals.get(name) for part, (metric, name) in PARTS.items()}
    errors: dict[str, float] = {}
    for part, interval in bounds.items():
        if interval is not None:
            half = (interval.high - interval.low) / 2
            errors[part] = abs(relative_gain(**{**values, part: values[part] + half}) - gain)
    if not errors:
        return None
    attackers = errors.pop("static", 0.0) + errors.pop("adaptive", 0.0)
    half = math.hypot(attackers, *errors.values())
    return Interval(gain - half, gain + half)


def judge(gain: Reading, leaks: Sequence[Leak]) -> str:
    """The verdict on a trade-off. It names the worst of what still stands, and all of it that is much.

    Args:
        gain: The relative gain.
        leaks: Everything that was measured and still stands, the most first.
    """
    much = [each.sentence for each in leaks if each.share >= MUCH]
    verdict = f"{'more' if gain.value > 0 else 'less'} privacy was gained than utility was lost"
    if much and gain.value > 0:
        verdict = "the formula counts a gain"
    if gain.interval is not None and gain.interval.low <= 0 <= gain.interval.high:
        verdict = "it cannot be told from 0, where as much privacy is gained as utility is lost"
    line = f"The relative gain is {gain.show('+.3f', first=True)}: {verdict}."
    if much:
        return f"{line} But much still stands: {'; '.join(much)}."
    return f"{line} The worst of what still stands: {leaks[0].sentence}." if leaks else line
