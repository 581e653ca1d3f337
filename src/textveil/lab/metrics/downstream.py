"""Downstream utility: how well a task can be learned from obfuscated texts."""

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


class Downstream(Classification):
    """The macro F1 of a classifier trained and tested on obfuscated texts, compared with originals and chance."""

    name = "downstream"
    target = Need.LABEL
    needs: ClassVar[tuple[Need, ...]] = (Need.LABEL,)

    def measure(self, case: Case) -> Measurement:
        """Train and test the classifier."""
        obfuscated, original = self.predict(case, Scenario.ADAPTIVE), self.predict(case, Scenario.BASELINE)
        predicted = {"f1": obfuscated, "original": original}
        levels = {name: Chance.of(found) for name, found in predicted.items()}
        classes, chance = case.classes(self.target), Chance.highest(levels.values())
        intervals = {name: found.find_interval() for name, found in predicted.items()}
        values = {**summarize(predicted), "chance": chance.level, "majority": majority_f1(classes, self.split_seeds)}
        kept = ""
        if original.f1 > 0:
            values["retained"], intervals["retained"] = obfuscated.f1 / original.f1, obfuscated.find_ratio(original)
            kept = f" Obfuscated texts keep {values['retained']:.1%}{show_bounds(intervals['retained'], '.1%')} of it."
        line = (
            f"A classifier trained on obfuscated texts predicts the label with F1 {values['f1']:.1%}"
            f"{show_interval(intervals['f1'], '.1%')}. {describe_chance({'this': values['f1']}, chance)} "
            f"With originals the F1 is {values['original']:.1%}{show_bounds(intervals['original'], '.1%')}.{kept} "
            f"The majority baseline over {len(classes.names)} classes is {values['majority']:.1%}. "
            f"There were {original.texts:,} test texts."
        )
        return self.report(
            line,
            values,
            intervals={**intervals, "chance": chance.interval},
            caveats=(
                *find_caveats(original, intervals["original"], levels["original"], name="label"),
                *find_weakness(self, case),
            ),
            seeds=dict(zip(map(str, self.seeds), obfuscated.by_seed, strict=True)),
            chance={name: level.as_dict() for name, level in levels.items()},
            **count_tests(original),
        )
