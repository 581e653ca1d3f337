"""The glossary explains the terms of the results at hand, and no others."""

from __future__ import annotations

from tests.report.conftest import make_records
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.results import Results
from textveil.lab.report.wording import explain_terms

TESTS = ["p", "partial eta squared (eta sq)"]


def list_terms(results: Results) -> list[str]:
    return [term for term, _ in explain_terms(results)]


def test_terms_of_results_with_one_metric(records):
    assert list_terms(Results.from_records(records)) == ["relative gain", "originals", *TESTS]


def test_a_term_for_every_metric_reference_and_profile(example):
    titles = {metric.title for metric in example.results.metrics}
    terms = list_terms(example.results)
    assert titles <= set(terms)
    assert terms[len(titles) :] == ["originals", "chance", "profile strict", "profile paper", *TESTS]


def test_every_metric_that_tables_show_has_a_meaning(records):
    shown = [column for column in METRIC_COLUMNS.values() if not column.reference_of and not column.detail]
    rows = [{**row, **{column.name: 0.5 for column in shown}} for row in records]
    assert {column.title for column in shown} <= set(list_terms(Results.from_records(rows)))


def test_metrics_that_results_lack_are_not_explained(records):
    attacked = [{**row, "static_f1": 0.5} for row in records]
    assert list_terms(Results.from_records(attacked)) == ["relative gain", "static attacker F1", "originals", *TESTS]


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
