"""What obfuscated texts are still good for: a task that is learnt from them."""

from __future__ import annotations

from typing import ClassVar

from textveil.evaluation.base import Case, Measurement, Need
from textveil.evaluation.classification import Classification, Scenario, guess_f1, summarise


class Downstream(Classification):
    """The macro F1 of a classifier that is trained and tested on obfuscated texts; beside that with originals."""

    name = "downstream"
    target = Need.LABEL
    needs: ClassVar[tuple[Need, ...]] = (Need.LABEL,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the classifier."""
        scores = {"f1": self.score(case, Scenario.ADAPTIVE), "original": self.score(case, Scenario.BASELINE)}
        classes = case.classes(self.target)
        values = {**summarise(scores), "guess": guess_f1(classes, self.seeds)}
        line = (
            f"The label can be learnt from the obfuscated texts with F1 {values['f1']:.3f}. With the originals it is "
            f"{values['original']:.3f}; always guessing the most frequent of {len(classes.names)} has "
            f"{values['guess']:.3f}."
        )
        return self.say(line, values, seeds=dict(zip(map(str, self.seeds), scores["f1"], strict=True)))
