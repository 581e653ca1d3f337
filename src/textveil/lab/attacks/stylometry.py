"""Stylometry: how well an attacker who reads only style infers an attribute, such as the author."""

from __future__ import annotations

from typing import ClassVar

from textveil.errors import ParameterError
from textveil.lab.metrics.base import Case, Measurement, Need
from textveil.lab.metrics.classification import Chance, Classification, Scenario, count_tests, majority_f1, summarize
from textveil.lab.metrics.classifiers import Classifier
from textveil.lab.metrics.uncertainty import show_bounds, show_interval
from textveil.lab.metrics.verdicts import describe_chance, find_caveats
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
        predicted = {scenario.value: self.predict(case, scenario) for scenario in scenarios}
        classes, baseline = case.classes(self.target), predicted[Scenario.BASELINE.value]
        levels = {name: Chance.of(found) for name, found in predicted.items()}
        chance = Chance.highest(levels.values())
        intervals = {name: found.find_interval() for name, found in predicted.items()}
        values = {**summarize(predicted), "chance": chance.level, "majority": majority_f1(classes, self.split_seeds)}
        line = (
            "An attacker who reads only function words, punctuation and lengths infers the attribute with F1 "
            f"{values['adaptive']:.1%}{show_interval(intervals['adaptive'], '.1%')}. "
            f"{describe_chance({'it': values['adaptive']}, chance)} Without obfuscation the F1 is "
            f"{values['baseline']:.1%}{show_bounds(intervals['baseline'], '.1%')}. The majority baseline over "
            f"{len(classes.names)} classes is {values['majority']:.1%}. There were {baseline.texts:,} test texts."
        )
        return self.report(
            line,
            values,
            intervals={**intervals, "chance": chance.interval},
            caveats=find_caveats(baseline, intervals["baseline"], levels["baseline"], name="attribute"),
            seeds=dict(zip(map(str, self.seeds), predicted["adaptive"].by_seed, strict=True)),
            chance={name: level.as_dict() for name, level in levels.items()},
            **count_tests(baseline),
        )
