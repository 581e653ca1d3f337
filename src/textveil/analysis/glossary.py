"""The glossary of a report, for readers who do not know the paper."""

from __future__ import annotations

from textveil.analysis.columns import RELATIVE_GAIN
from textveil.analysis.results import Results
from textveil.evaluation.columns import METRIC_COLUMNS
from textveil.privacy.profiles import PAPER, STRICT

_METRICS = {
    RELATIVE_GAIN.title: (
        "U / U_original - P / P_original, the relative utility minus the relative exposure. U is the mean of utility "
        "F1 and similarity. P is the mean of surviving identifiers and the F1 of both attackers. Above 0, more utility "
        "than exposure is left."
    ),
    METRIC_COLUMNS["static_f1"].title: "the F1 of an attacker trained on original texts who infers the attribute.",
    METRIC_COLUMNS["adaptive_f1"].title: "the F1 of an attacker trained on obfuscated texts who infers the attribute.",
}
_PROFILES = {
    STRICT.name: "the mechanism chooses every word except kept stopwords, so no other word is released in clear.",
    PAPER.name: "as in the paper, a word that is not in the vocabulary or gets no budget is released in clear.",
}
_TESTS = {
    "p": "the probability of a difference at least as large by chance alone. Below 0.05 it is significant.",
    "partial eta squared (eta sq)": (
        "the size of an effect, from 0 to 1: its share of the variance that no other effect explains."
    ),
}


def explain_terms(results: Results) -> list[tuple[str, str]]:
    """The terms of a report of these results, each with its meaning."""
    titles = {metric.title for metric in results.metrics}
    return [
        *((title, meaning) for title, meaning in _METRICS.items() if title in titles),
        *((f"profile {name}", _PROFILES[name]) for name in results.values("profile") if name in _PROFILES),
        *_TESTS.items(),
    ]
