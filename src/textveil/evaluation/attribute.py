"""Attribute inference: how well attackers predict an attribute, such as the author, from obfuscated texts."""

from __future__ import annotations

from typing import ClassVar

from textveil.evaluation.base import Case, Measurement, Need
from textveil.evaluation.classification import Classification, Scenario, majority_f1, summarize


class AttributeInference(Classification):
    """The macro F1 of a static and of an adaptive attacker, compared with the F1 on originals.

    The static attacker is trained on originals. The adaptive attacker is trained on texts that it has obfuscated in the
    same way. Both are tested on obfuscated texts. The baseline is trained and tested on originals.
    """

    name = "attribute"
    target = Need.ATTRIBUTE
    needs: ClassVar[tuple[Need, ...]] = (Need.ATTRIBUTE,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the attackers."""
        scores = {scenario.value: self.score(case, scenario) for scenario in Scenario}
        classes = case.classes(self.target)
        values = {**summarize(scores), "majority": majority_f1(classes, self.split_seeds)}
        line = (
            f"An attacker trained on originals infers the attribute with F1 {values['static']:.3f}, one trained on "
            f"obfuscated texts with F1 {values['adaptive']:.3f}. Without obfuscation the F1 is "
            f"{values['baseline']:.3f}. The majority baseline over {len(classes.names)} classes is "
            f"{values['majority']:.3f}."
        )
        by_seed = dict(zip(map(str, self.seeds), zip(*scores.values(), strict=True), strict=True))
        return self.report(line, values, seeds=by_seed)
