import pytest

from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.results import ALIASES, CELL, IN_CLEAR, RESPONSES, WORDS, canonical_column
from textveil.outcomes import Outcome


def test_aliases_lead_to_columns_that_exist_and_hide_none():
    known = {*CELL, "epsilon", *METRIC_COLUMNS}
    assert set(ALIASES.values()) <= known
    assert not set(ALIASES) & known


@pytest.mark.parametrize(
    ("name", "column"),
    [("privacy_level", "level"), (" Data Set ", "dataset"), ("Utility F1", "utility_f1"), ("unheard_of", "unheard_of")],
)
def test_names_of_columns(name, column):
    assert canonical_column(name) == column


def test_every_outcome_has_a_column_and_two_are_in_clear():
    assert set(WORDS) == set(Outcome) - {Outcome.REDACTED}  # studies redact nothing
    assert IN_CLEAR == ("words_kept_unknown", "words_kept_no_share")


def test_a_metric_says_which_way_is_better():
    assert [name for name in RESPONSES if name in METRIC_COLUMNS and METRIC_COLUMNS[name].sign == 1] == [
        "utility_f1",
        "downstream_retained",
        "cosine_similarity",
        "token_similarity_f1",
        "token_similarity_precision",
        "token_similarity_recall",
        "relative_gain",
    ]
