"""Everything that is found in results: tests, means and recommendations, for every setting and over all."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from textveil.analysis.anova import Anova, Effect, compare_alone, compare_factors
from textveil.analysis.clear import Advantage, ClearEffect, measure_advantages, measure_clear_effect
from textveil.analysis.columns import RELATIVE_GAIN, MetricColumn
from textveil.analysis.recommendations import Recommendation, recommend
from textveil.analysis.results import Results
from textveil.analysis.summaries import COMBINATION, Gap, average_combinations, measure_gap
from textveil.analysis.tukey import Comparisons, compare_pairs, name_combination


@dataclass(frozen=True)
class SettingFindings:
    """What is found in one setting: the paper's analysis of it."""

    name: str
    """Mechanism and profile, as far as they vary; empty where neither does."""
    results: Results
    anova: Anova
    one_way: tuple[Effect, ...]
    gaps: tuple[Gap, ...]
    comparisons: Comparisons
    recommendations: tuple[Recommendation, ...]
    clear_effect: ClearEffect | None

    @property
    def file_part(self) -> str:
        """What the names of its files end in; empty where there is one setting only."""
        return "".join(f"_{word}" for word in re.findall(r"\w+", self.name))

    @property
    def prefix(self) -> str:
        """What a sentence about it begins with."""
        return f"{self.name}: ".capitalize() if self.name else ""

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        means = average_combinations(self.results)
        return {
            "setting": self.name,
            "anova": asdict(self.anova),
            "one_way": [asdict(effect) for effect in self.one_way],
            "gaps": [asdict(gap) for gap in self.gaps],
            "pairs": len(self.comparisons.pairs),
            "significant_pairs": [asdict(pair) for pair in self.comparisons.significant],
            "recommendations": [{**asdict(found), "sentence": found.sentence} for found in self.recommendations],
            "combinations": {name_combination(*names): dict(row) for names, row in means.iterrows()},
            "clear_effect": None if self.clear_effect is None else asdict(self.clear_effect),
        }


@dataclass(frozen=True)
class Findings:
    """What is found in results."""

    results: Results
    response: MetricColumn
    settings: tuple[SettingFindings, ...]
    overall: Anova | None
    """Over all settings, with mechanism and profile as factors, where they vary."""
    advantages: tuple[Advantage, ...]

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "response": self.response.name,
            "cells": len(self.results.frame),
            "groups": [asdict(group) for group in self.results.groups],
            "left_out": [asdict(group) for group in self.results.left_out],
            "settings": [setting.as_dict() for setting in self.settings],
            "overall": None if self.overall is None else asdict(self.overall),
            "advantages": [asdict(advantage) for advantage in self.advantages],
        }


def analyze(results: Results, *, response: str = RELATIVE_GAIN.name) -> Findings:
    """Find what results have to say of a response.

    Raises:
        UnknownNameError: The results do not have the response.
        ParameterError: There is nothing to compare.
    """
    metric = results.choose_metric(response)
    parts = results.split()
    settings = tuple(_analyze_setting(name, part, metric) for name, part in parts.items())
    overall = compare_factors(results, metric) if len(parts) > 1 else None
    return Findings(results, metric, settings, overall, measure_advantages(parts, metric))


def _analyze_setting(name: str, results: Results, response: MetricColumn) -> SettingFindings:
    anova = compare_factors(results, response)
    comparisons = compare_pairs(results, response)
    return SettingFindings(
        name,
        results,
        anova=anova,
        one_way=compare_alone(results, response),
        gaps=tuple(measure_gap(results, factor, response) for factor in COMBINATION if factor in results.varying),
        comparisons=comparisons,
        recommendations=recommend(results, response, comparisons),
        clear_effect=measure_clear_effect(results, response),
    )
