"""The glossary explains the terms of the results at hand, and no others."""

from __future__ import annotations

from tests.analysis.conftest import make_records
from textveil.analysis import Results
from textveil.analysis.glossary import explain_terms
from textveil.evaluation import METRIC_COLUMNS

TESTS = ["p", "partial eta squared (eta sq)"]


def list_terms(results: Results) -> list[str]:
    return [term for term, _ in explain_terms(results)]


def test_terms_of_results_with_one_metric(records):
    assert list_terms(Results.from_records(records)) == ["relative gain", *TESTS]


def test_a_term_for_every_metric_and_profile_that_needs_one(example):
    metrics = ["relative gain", "static attacker F1", "adaptive attacker F1"]
    assert list_terms(example.results) == [*metrics, "profile strict", "profile paper", *TESTS]


def test_metrics_that_results_lack_are_not_explained(records):
    attacked = [{**row, "static_f1": 0.5} for row in records]
    assert list_terms(Results.from_records(attacked)) == ["relative gain", "static attacker F1", *TESTS]


def test_a_profile_without_an_explanation_is_skipped():
    records = make_records(lambda *place: sum(place), profile=("proven", "strict"))
    assert "profile proven" not in list_terms(Results.from_records(records))
    assert "profile strict" in list_terms(Results.from_records(records))


def test_meanings_are_sentences_that_use_the_titles_of_metrics(example):
    meanings = dict(explain_terms(example.results))
    assert all(meaning.endswith(".") for meaning in meanings.values())
    for metric in ("utility_f1", "cosine_similarity", "pi_remaining"):
        assert METRIC_COLUMNS[metric].title in meanings["relative gain"]
    assert "released in clear" in meanings["profile paper"]
