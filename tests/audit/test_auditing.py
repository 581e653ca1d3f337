import json
import math

import pytest

from tests.audit.flaws import RandomizedResponse
from textveil.budget import Budget
from textveil.errors import BudgetError, ParameterError
from textveil.lab.audit import Audit, Claim, Finding, Pair, Verdict, audit, audit_obfuscator, claim_per_word
from textveil.methods.mechanisms.exponential import Exponential
from textveil.obfuscator import Obfuscator
from textveil.proportions import bound_log_ratio

PAIRS = [Pair("one", "0", "1"), Pair("other", "0", "2")]


def test_bounds_are_below_the_truth_and_near_it():
    found = audit(RandomizedResponse(2.0), PAIRS, claim_per_word(2.0), draws=20_000)
    for finding in found.findings:
        assert 1.7 < finding.shown < 2.0
        assert finding.verdict is Verdict.NOT_REFUTED
        assert sum(finding.counts) < 20_000  # only half of the draws show the bound


def test_both_directions_are_tried():
    response = RandomizedResponse(3.0)

    def lopsided(texts):
        told = response(["0"] * len(texts))
        return [answer if text == "1" else f"x{answer}" for text, answer in zip(texts, told, strict=True)]

    for pair in (Pair("", "0", "1"), Pair("", "1", "0")):
        assert audit(lopsided, [pair], claim_per_word(1.0), draws=400).findings[0].shown > 3


def test_the_confidence_covers_all_pairs_and_directions():
    """Each of two bounds, for two pairs in two directions, may be wrong with an eighth of 1 - confidence."""
    found = audit(RandomizedResponse(1.0), PAIRS, claim_per_word(1.0), draws=1000, confidence=0.9)
    expected = bound_log_ratio(*found.findings[0].counts, 500, 0.1 / 4)
    assert found.findings[0].shown == pytest.approx(expected)
    assert found.reach == pytest.approx(bound_log_ratio(500, 0, 500, 0.1 / 4))


def test_a_pair_that_is_not_covered_is_not_drawn():
    def claims(pair):
        return Claim(1.0) if pair.kind == "one" else Claim(math.inf, not_covered="the shares differ")

    seen = set()

    def auditee(texts, response=RandomizedResponse(1.0)):  # noqa: B008
        seen.update(texts)
        return response(texts)

    found = audit(auditee, PAIRS, claims, draws=100)
    assert [finding.verdict for finding in found.findings] == [Verdict.NOT_REFUTED, Verdict.NOT_NEIGHBORS]
    assert seen == {"0", "1"}
    with pytest.raises(ParameterError, match="covers none of the pairs"):
        audit(auditee, PAIRS[1:], claims, draws=100)


@pytest.mark.parametrize("draws", [0, 99, 1e4, True, None])
def test_draws_must_be_many(draws):
    with pytest.raises(ParameterError, match="`draws` must be a whole number of at least 100"):
        audit(RandomizedResponse(1.0), PAIRS, claim_per_word(1.0), draws=draws)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, math.nan, "high", True])
def test_the_confidence_must_be_a_probability(confidence):
    with pytest.raises(ParameterError, match="`confidence` must be a number between 0 and 1"):
        audit(RandomizedResponse(1.0), PAIRS, claim_per_word(1.0), confidence=confidence)


class Louder(Exponential):
    """Spends three times the share that it is given."""

    name = "louder"

    def _choose(self, block):
        return super()._choose(block._replace(shares=3 * block.shares))


def test_an_obfuscator_that_spends_more_than_it_says_is_found(tiny):
    loud = Obfuscator(tiny, decomposition="words", mechanism=Louder(tiny.vectors("words")), seed=1)
    pairs = [Pair("", "kappa", "upsilon")]
    found = audit_obfuscator(loud, epsilon_per_word=1.0, pairs=pairs, draws=3000)
    assert found.violations
    assert found.findings[0].claim.exact < found.findings[0].claim.bound < found.findings[0].shown


class Lying(Exponential):
    """Has other probabilities than it claims."""

    name = "lying"

    def log_channel(self, points, shares):
        return super().log_channel(points, 4 * shares)


def test_exact_probabilities_refute_a_claim_without_luck(tiny):
    lying = Obfuscator(tiny, decomposition="words", mechanism=Lying(tiny.vectors("words")), seed=1)
    pairs = [Pair("", "kappa", "upsilon")]
    found = audit_obfuscator(lying, epsilon_per_word=1.0, pairs=pairs, draws=100)
    assert found.findings[0].shown < found.findings[0].claim.bound < found.findings[0].claim.exact
    assert found.violations


def test_the_budget_is_given_in_one_way(tiny):
    obfuscator = Obfuscator(tiny, decomposition="words", largest_share=math.inf, seed=1)
    pairs = [Pair("", "alpha beta", "alpha psi")]
    given = [{"epsilon": 2.0}, {"epsilon_per_word": 1.0}, {"budget": Budget(epsilon=2.0)}]
    bounds = [
        audit_obfuscator(obfuscator, pairs=pairs, draws=100, **budget).findings[0].claim.bound for budget in given
    ]
    assert bounds[0] == pytest.approx(bounds[1])
    assert bounds[0] == bounds[2]
    default, medium = (
        audit_obfuscator(obfuscator, pairs=pairs, draws=100, **level).findings[0].claim.bound
        for level in ({}, {"level": "medium"})
    )
    assert default == medium
    with pytest.raises(BudgetError, match="not several of them"):
        audit_obfuscator(obfuscator, pairs=pairs, draws=100, epsilon=1, level="low")


def test_another_claim_can_be_tried(tiny):
    vickrey = Obfuscator(tiny, decomposition="words", mechanism="vickrey", profile="paper", seed=1)
    pairs = [Pair("", "theta", "music")]
    assert (
        audit_obfuscator(vickrey, epsilon_per_word=1.0, pairs=pairs, draws=800).findings[0].verdict is Verdict.NO_CLAIM
    )
    found = audit_obfuscator(vickrey, epsilon_per_word=1.0, pairs=pairs, draws=800, claims=claim_per_word(0.5))
    assert found.violations


PAIR = Pair("near words", "alpha", "beta")


@pytest.mark.parametrize(
    ("claim", "shown", "verdict"),
    [
        (Claim(2.0), 1.9, Verdict.NOT_REFUTED),
        (Claim(2.0), 2.1, Verdict.VIOLATED),
        (Claim(0.0), 0.0, Verdict.NOT_REFUTED),
        (Claim(2.0, exact=2.001), 0.0, Verdict.NOT_REFUTED),  # a rounding error
        (Claim(2.0, exact=2.1), 0.0, Verdict.VIOLATED),
        (Claim(math.inf), 5.0, Verdict.NO_CLAIM),
        (Claim(math.inf, not_covered="the chunks differ"), None, Verdict.NOT_NEIGHBORS),
    ],
)
def test_verdicts(claim, shown, verdict):
    assert Finding(PAIR, claim, shown).verdict is verdict


def test_an_audit_as_json():
    findings = (
        Finding(PAIR, Claim(2.0, exact=1.0), 2.5, "word 1 is 'alpha'", (90, 2)),
        Finding(PAIR, Claim(math.inf), 0.3),
    )
    found = Audit(findings, draws=200, confidence=0.95, reach=3.0)
    assert found.violations == [findings[0]]
    values = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert values["violations"] == 1
    assert values["reach"] == 3.0
    assert values["pairs"][0] == {
        "kind": "near words",
        "first": "alpha",
        "second": "beta",
        "claimed": 2.0,
        "exact": 1.0,
        "shown": 2.5,
        "event": "word 1 is 'alpha'",
        "counts": [90, 2],
        "verdict": "violated",
        "not_covered": None,
    }
    assert values["pairs"][1]["claimed"] is None
