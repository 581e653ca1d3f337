"""The glossary of a report, for readers who do not know the paper."""

from __future__ import annotations

from textveil.analysis.columns import RELATIVE_GAIN
from textveil.analysis.references import list_titles
from textveil.analysis.results import Results
from textveil.evaluation.columns import METRIC_COLUMNS, Reference
from textveil.privacy.profiles import PAPER, STRICT

_METRICS = {
    RELATIVE_GAIN.name: (
        "U / U_original - P / P_original, the relative utility minus the relative exposure. U is the mean of utility "
        "F1 and similarity. P is the mean of surviving identifiers and the F1 of both attackers. Above 0, more utility "
        "than exposure is left."
    ),
    "utility_f1": "the F1 of a classifier that learns a task from obfuscated texts and is tested on obfuscated texts.",
    "cosine_similarity": "the cosine of the sentence embeddings of a text and its original. Identical texts have 1.",
    "perplexity": "how unexpected the words of a text are for a language model. Fluent texts have a low perplexity.",
    "pi_remaining": "the share of names, places, dates, numbers and other identifiers that survive.",
    "identifiers_direct": "the share of people, email addresses, phone and account numbers that survive.",
    "static_f1": "the F1 of an attacker trained on original texts who infers the attribute.",
    "adaptive_f1": "the F1 of an attacker trained on obfuscated texts who infers the attribute.",
    "inversion_top_1": "the share of replaced chunks that an attacker who knows the mechanism recovers, one by one.",
    "inversion_decoded": "the share of replaced chunks that an attacker who also knows the language recovers.",
    "clear_text_unchanged": "the share of words that are the same in an original and its obfuscated text.",
    "overlap_rouge_l": (
        "the overlap of a text with its original, by the longest sequence of words that both have in the same order. "
        "Identical texts have 1."
    ),
    "token_similarity_f1": (
        "how well the tokens of a text and its original match in context, in the manner of BERTScore. Identical texts "
        "have 1."
    ),
    "linkage_top_1": "the share of obfuscated texts whose original an attacker who has all originals names first.",
    "stylometry_adaptive": (
        "the F1 of an attacker who infers the attribute from function words, punctuation and lengths alone."
    ),
    "membership_auc": (
        "how well an attacker who asks a model trained on obfuscated texts tells their originals from other texts. 0.5 "
        "is chance."
    ),
}
"""The meaning of every metric that tables show, by its column."""
_REFERENCES = {
    Reference.ORIGINALS: "the value of the original texts, without obfuscation.",
    Reference.CHANCE: "the value of an attacker or classifier that has learned nothing.",
    Reference.MAJORITY: "the value of the majority baseline, which always predicts the most frequent class.",
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
_DRAWS = {
    "draw": "one obfuscation of the texts of a cell. Draws differ in nothing but their noise.",
    "noise within cells": "the variation between draws. The residual is that of means over draws.",
}


def explain_terms(results: Results) -> list[tuple[str, str]]:
    """The terms of a report of these results, each with its meaning."""
    shown = {metric.name for metric in results.metrics}
    references = list_titles(results.frame, results.metrics)
    return [
        *((METRIC_COLUMNS[name].title, meaning) for name, meaning in _METRICS.items() if name in shown),
        *((reference.value, _REFERENCES[reference]) for reference in references),
        *((f"profile {name}", _PROFILES[name]) for name in results.values("profile") if name in _PROFILES),
        *_TESTS.items(),
        *(_DRAWS.items() if results.draws > 1 else ()),
    ]
