"""Attribute inference: how well attackers predict an attribute, such as the author, from obfuscated texts."""

from __future__ import annotations

from typing import ClassVar

from textveil.lab.metrics.base import Case, Measurement, Need
from textveil.lab.metrics.classification import (
    Chance,
    Classification,
    Scenario,
    count_tests,
    find_weakness,
    majority_f1,
    summarize,
)
from textveil.lab.metrics.uncertainty import show_bounds, show_interval
from textveil.lab.metrics.verdicts import describe_chance, find_caveats


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
        predicted = {scenario.value: self.predict(case, scenario) for scenario in Scenario}
        classes, baseline = case.classes(self.target), predicted[Scenario.BASELINE.value]
        levels = {name: Chance.of(found) for name, found in predicted.items()}
        chance = Chance.highest(levels.values())
        intervals = {name: found.find_interval() for name, found in predicted.items()}
        values = {**summarize(predicted), "chance": chance.level, "majority": majority_f1(classes, self.split_seeds)}
        attackers = {"the first": values["static"], "the second": values["adaptive"]}
        line = (
            f"An attacker trained on originals infers the attribute with F1 {values['static']:.1%}"
            f"{show_interval(intervals['static'], '.1%')}, one trained on obfuscated texts with F1 "
            f"{values['adaptive']:.1%}{show_bounds(intervals['adaptive'], '.1%')}. "
            f"{describe_chance(attackers, chance)} Without obfuscation the F1 is "
            f"{values['baseline']:.1%}{show_bounds(intervals['baseline'], '.1%')}. "
            f"The majority baseline over {len(classes.names)} classes is {values['majority']:.1%}. "
            f"There were {baseline.texts:,} test texts."
        )
        scores = zip(*(found.by_seed for found in predicted.values()), strict=True)
        return self.report(
            line,
            values,
            intervals={**intervals, "chance": chance.interval},
            caveats=(
                *find_caveats(baseline, intervals["baseline"], levels["baseline"], name="attribute"),
                *find_weakness(self, case),
            ),
            seeds=dict(zip(map(str, self.seeds), scores, strict=True)),
            chance={name: level.as_dict() for name, level in levels.items()},
            **count_tests(baseline),
        )
