"""Attribute inference: how well attackers predict an attribute, such as the author, from obfuscated texts."""

from __future__ import annotations

from typing import ClassVar

from textveil.lab.metrics.base import Case, Measurement, Need
from textveil.lab.metrics.classification import Classification, Scenario, Scores


class AttributeInference(Classification):
    """The macro F1 of a static and of an adaptive attacker, compared with the F1 on originals and with chance.

    The static attacker is trained on originals. The adaptive attacker is trained on texts that it has obfuscated in the
    same way. Both are tested on obfuscated texts. The baseline is trained and tested on originals.
    """

    name = "attribute"
    target = Need.ATTRIBUTE
    needs: ClassVar[tuple[Need, ...]] = (Need.ATTRIBUTE,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the attackers."""
        scores = Scores.of({scenario.value: self.predict(case, scenario) for scenario in Scenario})
        line = (
            f"An attacker trained on originals infers the attribute with F1 {scores.show('static', first=True)}; one "
            f"trained on obfuscated texts with F1 {scores.show('adaptive')}."
        )
        by_seed = list(zip(*(found.by_seed for found in scores.predicted.values()), strict=True))
        return self.report_scores(case, line, scores, originals="baseline", seeds=by_seed)
