"""The findings of an analysis: tests, means and recommendations, for every setting and overall."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import chain, count
from typing import Any

from textveil.analysis.anova import Anova, Effect, compare_alone, compare_datasets, compare_factors
from textveil.analysis.clear import Advantage, ClearEffect, measure_advantages, measure_clear_effect
from textveil.analysis.columns import RELATIVE_GAIN
from textveil.analysis.frontier import Frontier
from textveil.analysis.recommendations import Recommendation, recommend
from textveil.analysis.results import Results, find_obstacle
from textveil.analysis.study_curves import find_frontiers
from textveil.analysis.summaries import Gap, average_combinations, measure_gap
from textveil.analysis.tukey import Comparisons, compare_pairs, name_combination
from textveil.evaluation.columns import MetricColumn


@dataclass(frozen=True)
class SettingFindings:
    """The findings for one setting: the analysis of the paper."""

    name: str
    """The values of factors that vary besides those of combinations, such as the profile; otherwise empty."""
    file_part: str
    """The unique suffix of its file names; empty if there is only one setting."""
    results: Results
    anova: Anova
    by_dataset: Anova | None
    """The test with the interactions of factors and data sets, if there are several data sets."""
    one_way: tuple[Effect, ...]
    gaps: tuple[Gap, ...]
    comparisons: Comparisons
    recommendations: tuple[Recommendation, ...]
    clear_effect: ClearEffect | None
    obstacle: str = ""
    """The reason why tests were impossible; empty if they were possible."""

    @property
    def tested(self) -> bool:
        """Whether tests were possible: not with one data set at one level, for example."""
        return not self.obstacle

    @property
    def prefix(self) -> str:
        """The beginning of a sentence about it."""
        return f"{self.name}: ".capitalize() if self.name else ""

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        means = average_combinations(self.results)
        return {
            "setting": self.name,
            "tested": self.tested,
            "obstacle": self.obstacle,
            "anova": asdict(self.anova),
            "anova_by_dataset": None if self.by_dataset is None else asdict(self.by_dataset),
            "one_way": [asdict(effect) for effect in self.one_way],
            "gaps": [asdict(gap) for gap in self.gaps],
            "pairs": len(self.comparisons.pairs),
            "significant_pairs": [asdict(pair) for pair in self.comparisons.significant],
            "recommendations": [_describe(found) for found in self.recommendations],
            "combinations": {name_combination(*names): dict(row.dropna()) for names, row in means.iterrows()},
            "clear_effect": None if self.clear_effect is None else asdict(self.clear_effect),
        }


def _describe(found: Recommendation) -> dict[str, Any]:
    return {
        "purpose": found.purpose,
        "combination": None if found.best is None else found.best.combination,
        "score": None if found.best is None else found.best.score,
        "clear_share": None if found.best is None else found.best.clear_share,
        "evident": found.evident,
        "reason": found.reason,
        "sentence": found.sentence,
    }


@dataclass(frozen=True)
class Findings:
    """The findings of an analysis."""

    results: Results
    response: MetricColumn
    settings: tuple[SettingFindings, ...]
    overall: Anova | None
    """The test over all settings, with all varying factors, if there are several."""
    advantages: tuple[Advantage, ...]
    frontiers: tuple[Frontier, ...] = ()
    """The curves of attack against utility, as far as the results have both."""

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        return {
            "response": self.response.name,
            "cells": len(self.results.rows),
            "draws": self.results.draws,
            "groups": [asdict(group) for group in self.results.groups],
            "left_out": [asdict(group) for group in self.results.left_out],
            "missing": [
                {"metric": each.metric.name, **asdict(each.group), "cells": each.cells, "of": each.of}
                for each in self.results.missing
            ],
            "settings": [setting.as_dict() for setting in self.settings],
            "overall": None if self.overall is None else asdict(self.overall),
            "advantages": [asdict(advantage) for advantage in self.advantages],
            "curves": [frontier.as_dict() for frontier in self.frontiers],
        }


def analyze(results: Results, *, response: str = RELATIVE_GAIN.name, against: str | None = None) -> Findings:
    """Analyze the effect of the factors on a response. A setting that cannot be tested says why.

    Data sets and levels that lack the response are excluded. ``results.missing`` of the findings lists them. Curves of
    attack against utility do not depend on the response, and use all data sets that have both.

    Args:
        results: The results.
        response: The metric to explain.
        against: The setting that curves are compared with, such as ``madlib with words + uniform``; by default the
            first with ``madlib``, or the first one.

    Raises:
        UnknownNameError: The results do not have the response, or the setting.
        InputError: No data set and level has the response in all cells.
    """
    metric = results.choose_metric(response)
    frontiers = find_frontiers(results, against)
    results = results.without(results.list_lacking(metric)) or results
    parts = results.split()
    ends = _name_files(parts)
    settings = tuple(_analyze_setting(name, ends[name], part, metric) for name, part in parts.items())
    overall = compare_factors(results, metric) if len(parts) > 1 and not find_obstacle(results, metric) else None
    tests = {setting.name: setting.anova for setting in settings if setting.tested}
    return Findings(results, metric, settings, overall, measure_advantages(parts, metric, tests), frontiers)


def _name_files(names: Iterable[str]) -> dict[str, str]:
    """The suffix of every setting's file names. A number makes equal ones unique."""
    ends: dict[str, str] = {}
    for name in names:
        plain = "".join(f"_{word}" for word in re.findall(r"\w+", name))
        numbered = (f"{plain}_{number}" for number in count(2))
        ends[name] = next(end for end in chain([plain], numbered) if end not in ends.values())
    return ends


def _analyze_setting(name: str, file_part: str, results: Results, response: MetricColumn) -> SettingFindings:
    obstacle = find_obstacle(results, response)
    testable = not obstacle
    comparisons = compare_pairs(results, response) if testable else Comparisons(())
    return SettingFindings(
        name,
        file_part,
        results,
        anova=compare_factors(results, response) if testable else Anova(response.name, ()),
        by_dataset=compare_datasets(results, response) if testable else None,
        one_way=compare_alone(results, response) if testable else (),
        gaps=tuple(measure_gap(results, factor, response) for factor in results.varying),
        comparisons=comparisons,
        recommendations=recommend(results, response, comparisons),
        clear_effect=measure_clear_effect(results, response) if testable else None,
        obstacle=obstacle,
    )
