"""The audit finds the published flaws, and does not accuse what is correct."""

import math

import pytest

from tests.audit.flaws import (
    CusText,
    PrivateAllocation,
    RandomizedResponse,
    Rantext,
    UnknownInClear,
    VickreyWithoutInput,
    WordByWord,
)
from textveil.lab.audit import Pair, audit, choose_pairs, claim_by_distance, claim_per_word

DRAWS = 1200


@pytest.fixture(scope="module")
def vectors(tiny):
    return tiny.vectors("words")


@pytest.fixture(scope="module")
def pairs(vectors):
    """Pairs whose texts are words with spaces between them."""
    kinds = {
        "near words",
        "far words",
        "known and unknown word",
        "two unknown words",
        "name and no name",
        "one word of four",
        "repeated word and two words",
    }
    chosen = [pair for pair in choose_pairs(vectors) if pair.kind in kinds]
    assert len(chosen) == len(kinds)
    return chosen


def find_violated(auditee, pairs, claims, draws=DRAWS):
    return {finding.pair.kind for finding in audit(auditee, pairs, claims, draws=draws).violations}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_a_correct_transcription_is_not_accused(epsilon, vectors, pairs):
    auditee = WordByWord(vectors, epsilon)
    assert find_violated(auditee, pairs, claim_by_distance(vectors, epsilon), draws=600) == set()


def test_unknown_words_in_clear_are_found(vectors, pairs):
    violated = find_violated(UnknownInClear(vectors, 0.5), pairs, claim_by_distance(vectors, 0.5))
    assert violated == {"known and unknown word", "two unknown words"}


def test_groups_of_words_with_outputs_of_their_own_are_found(vectors, pairs):
    violated = find_violated(CusText(vectors, 1.0), pairs, claim_per_word(1.0))
    assert {"far words", "one word of four"} <= violated


def test_a_random_list_of_neighbors_is_found(vectors, pairs):
    far = [pair for pair in pairs if pair.kind == "far words"]
    assert find_violated(Rantext(vectors, 4.0), far, claim_per_word(4.0), draws=2000) == {"far words"}


def test_a_word_that_never_becomes_itself_is_found(vectors, pairs):
    far = [pair for pair in pairs if pair.kind == "far words"]
    auditee = VickreyWithoutInput(vectors, 0.3)
    assert find_violated(auditee, far, claim_by_distance(vectors, 0.3), draws=3000) == {"far words"}


def test_an_allocation_computed_from_the_private_text_is_found(vectors, pairs):
    auditee = PrivateAllocation(vectors, 3.0)
    assert "name and no name" in find_violated(auditee, pairs, auditee.claim)


def test_the_same_allocation_is_not_accused_if_all_words_score_alike(vectors, pairs):
    auditee = PrivateAllocation(vectors, 1.0)
    auditee.sensitive = 1.0
    assert find_violated(auditee, pairs, auditee.claim, draws=600) == set()


REPETITIONS = 300


def test_false_alarms_are_as_rare_as_stated():
    """Randomized response reaches its bound, so any error of the audit would be an alarm."""
    pairs = [Pair("", "0", "1"), Pair("", "2", "3")]
    audits = [
        audit(RandomizedResponse(1.0, seed=seed), pairs, claim_per_word(1.0), draws=300, confidence=0.8)
        for seed in range(REPETITIONS)
    ]
    assert sum(bool(found.violations) for found in audits) <= (1 - 0.8) * REPETITIONS
    shown = [finding.shown for found in audits for finding in found.findings]
    assert 0.4 < sum(shown) / len(shown) < 1.0  # the bounds are not idle


def test_a_slightly_false_claim_is_found_with_enough_draws():
    pairs = [Pair("", "0", "1")]
    found = audit(RandomizedResponse(1.0), pairs, claim_per_word(0.9), draws=40_000)
    assert len(found.violations) == 1
    assert 0.9 < found.findings[0].shown < 1.0 < math.inf
