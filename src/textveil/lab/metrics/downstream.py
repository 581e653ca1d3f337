"""Downstream utility: how well a task can be learned from obfuscated texts."""

from __future__ import annotations

from typing import ClassVar

from textveil.lab.metrics.base import Case, Measurement, Need, Reading
from textveil.lab.metrics.classification import Classification, Scenario, Scores


class Downstream(Classification):
    """The macro F1 of a classifier trained and tested on obfuscated texts, compared with originals and chance."""

    name = "downstream"
    target = Need.LABEL
    needs: ClassVar[tuple[Need, ...]] = (Need.LABEL,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the classifier."""
        obfuscated, original = self.predict(case, Scenario.ADAPTIVE), self.predict(case, Scenario.BASELINE)
        scores = Scores.of({"f1": obfuscated, "original": original})
        line = f"A classifier trained on obfuscated texts predicts the label with F1 {scores.show('f1', first=True)}"
        more = {}
        if original.f1 > 0:
            more["retained"] = Reading(obfuscated.f1 / original.f1, obfuscated.find_ratio(original))
            line += f"; that is {more['retained'].show('.1%')} of the F1 without obfuscation"
        return self.report_scores(case, f"{line}.", scores, originals="original", seeds=obfuscated.by_seed, **more)
