"""What an attacker can infer from obfuscated texts: an attribute, such as the author."""

from __future__ import annotations

from typing import ClassVar

from textveil.evaluation.base import Case, Measurement, Need
from textveil.evaluation.classification import Classification, Scenario, guess_f1, summarise


class AttributeInference(Classification):
    """The macro F1 of a static and of an adaptive attacker, beside that of the baseline.

    The static one has learnt the attribute from originals, the adaptive one from texts that it has obfuscated in the
    same way. The baseline learns from originals and attacks originals.
    """

    name = "attribute"
    target = Need.ATTRIBUTE
    needs: ClassVar[tuple[Need, ...]] = (Need.ATTRIBUTE,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the attackers."""
        scores = {scenario.value: self.score(case, scenario) for scenario in Scenario}
        classes = case.classes(self.target)
        values = {**summarise(scores), "guess": guess_f1(classes, self.seeds)}
        line = (
            f"An attacker who learns from originals infers the attribute with F1 {values['static']:.3f}, one who "
            f"learns from obfuscated texts with {values['adaptive']:.3f}. Without obfuscation it is "
            f"{values['baseline']:.3f}; always guessing the most frequent of {len(classes.names)} has "
            f"{values['guess']:.3f}."
        )
        return self.say(
            line, values, seeds=dict(zip(map(str, self.seeds), zip(*scores.values(), strict=True), strict=True))
        )
