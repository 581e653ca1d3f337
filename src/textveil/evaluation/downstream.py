"""Downstream utility: how well a task can be learned from obfuscated texts."""

from __future__ import annotations

from typing import ClassVar

from textveil.evaluation.base import Case, Measurement, Need
from textveil.evaluation.classification import Classification, Scenario, majority_f1, summarize


class Downstream(Classification):
    """The macro F1 of a classifier trained and tested on obfuscated texts, compared with the F1 on originals."""

    name = "downstream"
    target = Need.LABEL
    needs: ClassVar[tuple[Need, ...]] = (Need.LABEL,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the classifier."""
        scores = {"f1": self.score(case, Scenario.ADAPTIVE), "original": self.score(case, Scenario.BASELINE)}
        classes = case.classes(self.target)
        values = {**summarize(scores), "majority": majority_f1(classes, self.split_seeds)}
        line = (
            f"A classifier trained on obfuscated texts predicts the label with F1 {values['f1']:.3f}. With originals "
            f"the F1 is {values['original']:.3f}. The majority baseline over {len(classes.names)} classes is "
            f"{values['majority']:.3f}."
        )
        return self.report(line, values, seeds=dict(zip(map(str, self.seeds), scores["f1"], strict=True)))
