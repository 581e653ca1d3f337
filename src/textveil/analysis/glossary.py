"""What the words of a report mean, for readers who do not know the paper."""

from __future__ import annotations

from textveil.analysis.columns import METRIC_COLUMNS, RELATIVE_GAIN
from textveil.analysis.results import Results
from textveil.privacy.profiles import PAPER, STRICT

_METRICS = {
    RELATIVE_GAIN.title: (
        "U / U_original - P / P_original: what is kept of utility minus what is kept of exposure. U is the mean of "
        "utility F1 and similarity, P the mean of identifiers left and both attackers' F1. Above 0, more is kept of "
        "utility than of what an attacker can find."
    ),
    METRIC_COLUMNS["static_f1"].title: "how well an attacker trained on original texts finds the attribute.",
    METRIC_COLUMNS["adaptive_f1"].title: ("how well an attacker trained on obfuscated texts finds the attribute."),
}
_PROFILES = {
    STRICT.name: "every word that is not a kept stopword is chosen by the mechanism, and none is released in clear.",
    PAPER.name: "as in the paper, a word that the vocabulary does not know or that gets no budget stays in clear.",
}
_TESTS = {
    "p": "how often chance alone would give a difference as large; below 0.05 it is called significant.",
    "partial eta squared (eta sq)": (
        "how large an effect is: of what varies and no other effect explains, the part that goes with this one, from 0 "
        "to 1."
    ),
}


def explain_terms(results: Results) -> list[tuple[str, str]]:
    """Every term that a report of these results uses, with its meaning."""
    labels = {metric.title for metric in results.metrics}
    return [
        *((label, meaning) for label, meaning in _METRICS.items() if label in labels),
        *((f"profile {name}", _PROFILES[name]) for name in results.values("profile") if name in _PROFILES),
        *_TESTS.items(),
    ]
