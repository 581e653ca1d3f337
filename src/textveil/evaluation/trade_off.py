"""Whether the privacy that was gained outweighs the utility that was lost: relative gain."""

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
    """The relative gain RG = U_p/U_o - P_p/P_o (the paper's section 4), of shares between 0 and 1.

    U is the mean of downstream F1 and similarity, P the mean of the identifiers still present and of the F1 of both
    attackers, for the obfuscated (p) and the original texts (o). Of the originals, the similarity is 1, all
    identifiers are present, and both attackers have the F1 that one trained and tested on originals has.

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
    """Relative gain, from what the other metrics measured."""

    name = "trade_off"
    after: ClassVar[tuple[str, ...]] = ("identifiers", "attribute", "downstream", "similarity")

    def measure(self, case: Case) -> Measurement:
        """Weigh utility that is left against information that is left to an attacker."""
        identifiers, attribute, downstream, similarity = (case.measured[name].values for name in self.after)
        if not identifiers["found"]:
            raise InputError(
                "There are no identifiers in the originals, so there is no relative gain. Leave out trade_off."
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
        verdict = (
            "more privacy was gained than utility lost" if gain > 0 else "no more privacy was gained than utility lost"
        )
        return self.say(f"{gain:+.3f}: relative to the originals, {verdict}.", {"relative_gain": gain})
