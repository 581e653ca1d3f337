"""The columns of results: what identifies a cell, what was measured in it, and under which other names they come."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from textveil.privacy.outcomes import Outcome

FACTORS = ("decomposition", "distribution", "mechanism", "profile")
"""What is compared: choices of whoever obfuscates."""
SETTING = ("mechanism", "profile")
"""The factors beside the paper's two; results are shown side by side for each combination of them."""
CONTROLS = ("dataset", "level")
"""What is not chosen: its effect is taken out before factors are compared."""
SPELLED = {"dataset": "data set"}
"""How a column is called in prose, where its name is not the word."""
REQUIRED = ("dataset", "decomposition", "distribution")
CELL = ("dataset", "level", *FACTORS)
"""The columns that tell one cell from another."""
LONG = ("metric", "value")
"""The columns of results with a row per cell and metric."""
STD = "_std"
"""What follows the name of a metric in the column of its standard deviation."""
CLEAR_SHARE = "clear_share"
"""The share of words, stopwords left aside, that were released in clear; computed from the counts of words."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """How a metric is read and shown."""

    name: str
    title: str
    short: str
    """The title where there is little room."""
    better: Literal["higher", "lower"]
    percent: bool = False
    """Kept as a fraction; read as fraction or percent; shown as percent."""
    decimals: int = 3

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return 1 if self.better == "higher" else -1

    def show(self, value: float) -> str:
        """The value as a person reads it.

        >>> METRIC_COLUMNS["utility_f1"].show(0.7612), METRIC_COLUMNS["perplexity"].show(1497.2)
        ('76.1%', '1,497')
        """
        return f"{self.show_bare(value)}%" if self.percent else self.show_bare(value)

    def show_bare(self, value: float) -> str:
        """The value without its unit, as in a table whose head has it."""
        return f"{100 * value if self.percent else value:,.{self.decimals}f}"


_ALL = (
    MetricColumn("utility_f1", "utility F1", "F1", "higher", percent=True, decimals=1),
    MetricColumn("cosine_similarity", "similarity", "similar", "higher"),
    MetricColumn("perplexity", "perplexity", "perplex.", "lower", decimals=0),
    MetricColumn("pi_remaining", "identifiers left", "identif.", "lower", percent=True, decimals=2),
    MetricColumn("static_f1", "static attacker F1", "static", "lower", percent=True, decimals=1),
    MetricColumn("adaptive_f1", "adaptive attacker F1", "adaptive", "lower", percent=True, decimals=1),
    MetricColumn("relative_gain", "relative gain", "gain", "higher"),
)
METRIC_COLUMNS = {metric.name: metric for metric in _ALL}
"""Every metric that results may have; a new one is one line above."""
RELATIVE_GAIN = METRIC_COLUMNS["relative_gain"]
F1_SCORES = ("utility_f1", "static_f1", "adaptive_f1")
"""Whatever a file says of these tells whether it has percent or fractions."""

UTILITY = MetricColumn("utility", "utility", "utility", "higher")
"""The mean of UTILITY_PARTS: the U of relative gain."""
UTILITY_PARTS = ("utility_f1", "cosine_similarity")
EXPOSURE = MetricColumn("exposure", "exposure", "exposure", "lower")
"""The mean of EXPOSURE_PARTS: the P of relative gain, which is less the better the texts are protected."""
EXPOSURE_PARTS = ("pi_remaining", "static_f1", "adaptive_f1")

WORDS = {outcome: f"words_{outcome.value}" for outcome in Outcome}
"""The columns with counts of words, by what became of them."""
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
    """The column that a name in a file stands for.

    >>> canonical_column("Privacy Level"), canonical_column("utility-F1")
    ('level', 'utility_f1')
    """
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    return ALIASES.get(plain, plain)
