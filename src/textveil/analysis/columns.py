"""The columns of results besides metrics: those that identify a cell, counts of words, and aliases."""

from __future__ import annotations

import re
from functools import lru_cache

from textveil.evaluation.columns import METRIC_COLUMNS, MetricColumn
from textveil.evaluation.columns import RESPONSES as METRIC_RESPONSES
from textveil.privacy.outcomes import Outcome

FACTORS = ("decomposition", "distribution", "mechanism", "profile")
"""The choices that are compared."""
CONTROLS = ("dataset", "level")
"""Columns that are not a choice. Their effect is removed before factors are compared."""
SPELLED = {"dataset": "data set"}
"""The name of a column in prose, if it differs."""
REQUIRED = ("dataset", "decomposition", "distribution")
CELL = ("dataset", "level", *FACTORS)
"""The columns that identify a cell."""
DRAW = "draw"
"""The number of the draw of noise. Rows that differ in nothing else of the cell are repetitions."""
DRAWS = "draws"
"""The number of draws that a value is a mean of."""
TARGET = "level_target"
"""The meaning of a calibrated level, such as a share of unchanged words. Its epsilon depends on the methods."""
OWN_EPSILON = "own_epsilon"
"""The epsilon of a cell, if cells of its level differ in it."""
LONG = ("metric", "value")
"""The columns of results with a row per cell and metric."""
STD = "_std"
"""The suffix of the column with a metric's standard deviation."""
LOW, HIGH = "_low", "_high"
"""The suffixes of the columns with the bounds of a metric's 95 % interval."""
SPREAD = (STD, LOW, HIGH)
"""The suffixes of columns with numbers about a metric."""
NOISE_STD, NOISE_LOW, NOISE_HIGH = "_noise_std", "_noise_low", "_noise_high"
"""The suffixes of a mean's standard deviation over draws of noise, and of the bounds of its 95 % interval."""
CAVEATS = "_caveats"
"""The suffix of the column with the reasons to draw no conclusion from a metric."""

RELATIVE_GAIN = METRIC_COLUMNS["relative_gain"]
F1_SCORES = ("utility_f1", "static_f1", "adaptive_f1")
"""The metrics that show whether a file uses percent or fractions."""

UTILITY = MetricColumn("", "", "utility", "utility", "higher", column="utility", lowest=-1.0)
"""The mean of UTILITY_PARTS: the U of relative gain."""
UTILITY_PARTS = ("utility_f1", "cosine_similarity")
EXPOSURE = MetricColumn("", "", "exposure", "exposure", "lower", column="exposure")
"""The mean of EXPOSURE_PARTS: the P of relative gain. Lower is better protected."""
EXPOSURE_PARTS = ("pi_remaining", "static_f1", "adaptive_f1")
PARTS = {
    UTILITY.name: UTILITY_PARTS,
    EXPOSURE.name: EXPOSURE_PARTS,
    RELATIVE_GAIN.name: (*UTILITY_PARTS, *EXPOSURE_PARTS),
}
"""The columns that a column is computed from."""
CLEAR = MetricColumn("", "", "words in clear", "clear", "lower", column="clear_share", percent=True)
"""The share of words released in clear, without stopwords. It is computed from the counts of words."""
CLEAR_SHARE = CLEAR.name
RESPONSES = (*METRIC_RESPONSES, CLEAR.name)
"""The columns that an analysis can explain, if results have them."""

WORDS = {outcome: f"words_{outcome.value}" for outcome in Outcome if outcome is not Outcome.REDACTED}
"""The columns with counts of words, by outcome."""
IN_CLEAR = tuple(WORDS[outcome] for outcome in WORDS if outcome.in_clear and outcome is not Outcome.KEPT_STOPWORD)

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
    "attribute_guess": "attribute_majority",
    "downstream_guess": "downstream_majority",
}


@lru_cache(maxsize=1000)  # every row of a file has the same names
def canonical_column(name: str) -> str:
    """The column for a name in a file.

    >>> canonical_column("Privacy Level"), canonical_column("utility-F1")
    ('level', 'utility_f1')
    """
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    return ALIASES.get(plain, plain)
