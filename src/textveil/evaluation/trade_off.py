"""Relative gain: the trade-off between privacy gained and utility lost."""

from __future__ import annotations

from typing import ClassVar

from textveil.errors import InputError
from textveil.evaluation.base import Case, Measurement, Metric


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
    """Relative gain, computed from the other metrics."""

    name = "trade_off"
    after: ClassVar[tuple[str, ...]] = ("identifiers", "attribute", "downstream", "similarity")

    def measure(self, case: Case) -> Measurement:
        """Compute the relative gain."""
        identifiers, attribute, downstream, similarity = (case.measured[name].values for name in self.after)
        if not identifiers["found"]:
            raise InputError(
                "The originals contain no identifiers, so there is no relative gain. Remove trade_off from `metrics`."
            )
        gain = relative_gain(
            downstream=downstream["f1"],
            similarity=similarity["cosine"],
            identifiers=identifiers["remaining"],
            static=attribute["static"],
            adaptive=attribute["adaptive"],
            original_downstream=downstream["original"],
            original_attacker=attribute["baseline"],
        )
        verdict = "exceeds" if gain > 0 else "does not exceed"
        line = f"The relative gain is {gain:+.3f}: the privacy gained {verdict} the utility lost."
        return self.report(line, {"relative_gain": gain})
