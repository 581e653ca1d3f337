import pytest

from textveil.outcomes import DocumentOutcome, Outcome

P, D, R, S, U, N = Outcome


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], DocumentOutcome.NO_WORDS),
        ([S, S], DocumentOutcome.ONLY_STOPWORDS),
        ([S, P], DocumentOutcome.OBFUSCATED),
        ([D], DocumentOutcome.OBFUSCATED),
        ([R, S], DocumentOutcome.OBFUSCATED),
        ([P, U], DocumentOutcome.PARTLY_IN_CLEAR),
        ([N, S], DocumentOutcome.PARTLY_IN_CLEAR),
    ],
)
def test_the_outcome_of_a_document_follows_from_its_chunks(outcomes, expected):
    assert DocumentOutcome.of(outcomes) is expected


def test_what_stands_in_the_output_in_clear():
    assert [outcome.in_clear for outcome in Outcome] == [False, False, False, True, True, True]
    assert [outcome for outcome in Outcome if outcome.is_chosen] == [P, D]


def test_a_document_that_came_back_says_so():
    changed = [Outcome.PERTURBED, Outcome.KEPT_STOPWORD]
    assert DocumentOutcome.of(changed) is DocumentOutcome.OBFUSCATED
    assert DocumentOutcome.of(changed, unchanged=True) is DocumentOutcome.RETURNED
    assert DocumentOutcome.of([Outcome.KEPT_STOPWORD], unchanged=True) is DocumentOutcome.ONLY_STOPWORDS
    assert DocumentOutcome.of([], unchanged=True) is DocumentOutcome.NO_WORDS
    assert DocumentOutcome.of([Outcome.DRAWN, Outcome.KEPT_UNKNOWN], unchanged=True) is DocumentOutcome.RETURNED
