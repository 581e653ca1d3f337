"""Stylometry: how well an attacker who reads only style infers an attribute, such as the author."""

from __future__ import annotations

from typing import ClassVar

from textveil.errors import ParameterError
from textveil.lab.metrics.base import Case, Measurement, Need
from textveil.lab.metrics.classification import Classification, Scenario, Scores
from textveil.lab.metrics.classifiers import Classifier
from textveil.registry import Option

STYLOMETRY = "stylometry"


class StylometryInference(Classification):
    """The macro F1 of an adaptive attacker who reads only function words, punctuation and lengths.

    The attacker is trained and tested on obfuscated texts. The baseline is trained and tested on originals. What it
    infers is not in the content words, so replacing these does not remove it.
    """

    name = "stylometry"
    target = Need.ATTRIBUTE
    needs: ClassVar[tuple[Need, ...]] = (Need.ATTRIBUTE,)
    compares_with_linear = False

    options = (Option("classifier", object, STYLOMETRY, "The classifier: stylometry.", changes_results=False),)

    @classmethod
    def check_classifier(cls, classifier: Classifier | type[Classifier]) -> None:
        """Refuse a classifier that reads more than style."""
        if classifier.name != STYLOMETRY:
            raise ParameterError("`classifier` of stylometry must be stylometry. For others, measure attribute.")

    def measure(self, case: Case) -> Measurement:
        """Train and test the attacker."""
        scenarios = (Scenario.ADAPTIVE, Scenario.BASELINE)
        scores = Scores.of({scenario.value: self.predict(case, scenario) for scenario in scenarios})
        line = (
            "An attacker who reads only function words, punctuation and lengths infers the attribute with F1 "
            f"{scores.show('adaptive', first=True)}."
        )
        by_seed = scores.predicted["adaptive"].by_seed
        return self.report_scores(case, line, scores, originals="baseline", seeds=by_seed)
