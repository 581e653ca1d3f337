"""The columns of results: those that identify a cell, metrics, and aliases."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from textveil.privacy.outcomes import Outcome

FACTORS = ("decomposition", "distribution", "mechanism", "profile")
"""The choices that are compared."""
SETTING = ("mechanism", "profile")
"""The factors besides decomposition and distribution. Results are shown for each combination of them."""
CONTROLS = ("dataset", "level")
"""Columns that are not a choice. Their effect is removed before factors are compared."""
SPELLED = {"dataset": "data set"}
"""The name of a column in prose, if it differs."""
REQUIRED = ("dataset", "decomposition", "distribution")
CELL = ("dataset", "level", *FACTORS)
"""The columns that identify a cell."""
LONG = ("metric", "value")
"""The columns of results with a row per cell and metric."""
STD = "_std"
"""The suffix of the column with a metric's standard deviation."""
CLEAR_SHARE = "clear_share"
"""The share of words released in clear, without stopwords. It is computed from the counts of words."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A metric in results, and its display."""

    name: str
    title: str
    short: str
    """A short title."""
    better: Literal["higher", "lower"]
    percent: bool = False
    """Whether it is shown in percent. It is stored as a fraction, and read as either."""
    decimals: int = 3

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better."""
        return 1 if self.better == "higher" else -1

    def show(self, value: float) -> str:
        """The value, rounded for display.

        >>> METRIC_COLUMNS["utility_f1"].show(0.7612), METRIC_COLUMNS["perplexity"].show(1497.2)
        ('76.1%', '1,497')
        """
        return f"{self.show_bare(value)}%" if self.percent else self.show_bare(value)

    def show_bare(self, value: float) -> str:
        """The value without its unit."""
        return f"{100 * value if self.percent else value:,.{self.decimals}f}"


_ALL = (
    MetricColumn("utility_f1", "utility F1", "F1", "higher", percent=True, decimals=1),
    MetricColumn("cosine_similarity", "similarity", "similar", "higher"),
    MetricColumn("perplexity", "perplexity", "perplex.", "lower", decimals=0),
    MetricColumn("pi_remaining", "surviving identifiers", "identif.", "lower", percent=True, decimals=2),
    MetricColumn("static_f1", "static attacker F1", "static", "lower", percent=True, decimals=1),
    MetricColumn("adaptive_f1", "adaptive attacker F1", "adaptive", "lower", percent=True, decimals=1),
    MetricColumn("relative_gain", "relative gain", "gain", "higher"),
)
METRIC_COLUMNS = {metric.name: metric for metric in _ALL}
"""Every metric that results may have, by name. To add one, add a line above."""
RELATIVE_GAIN = METRIC_COLUMNS["relative_gain"]
F1_SCORES = ("utility_f1", "static_f1", "adaptive_f1")
"""The metrics that show whether a file uses percent or fractions."""

UTILITY = MetricColumn("utility", "utility", "utility", "higher")
"""The mean of UTILITY_PARTS: the U of relative gain."""
UTILITY_PARTS = ("utility_f1", "cosine_similarity")
EXPOSURE = MetricColumn("exposure", "exposure", "exposure", "lower")
"""The mean of EXPOSURE_PARTS: the P of relative gain. Lower is better protected."""
EXPOSURE_PARTS = ("pi_remaining", "static_f1", "adaptive_f1")

WORDS = {outcome: f"words_{outcome.value}" for outcome in Outcome}
"""The columns with counts of words, by outcome."""
IN_CLEAR = tuple(WORDS[outcome] for outcome in Outcome if outcome.in_clear and outcome is not Outcome.KEPT_STOPWORD)

ALIASES = {
    "data_set": "dataset",
    "privacy_level": "level",
    "budget": "epsilon",
    "eps": "epsilon",
    "downstream_f1": "utility_f1",
    "similarity": "cosine_similarity",
    "pi_masking": "pi_remaining",
    "identifiers": "pi_remaining",
    "static_attacker_f1": "static_f1",
    "adaptive_attacker_f1": "adaptive_f1",
    "tradeoff": "relative_gain",
}


def canonical_column(name: str) -> str:
    """The column for a name in a file.

    >>> canonical_column("Privacy Level"), canonical_column("utility-F1")
    ('level', 'utility_f1')
    """
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    return ALIASES.get(plain, plain)
