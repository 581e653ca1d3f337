import math

import numpy as np
import pytest

from textveil.budget import Budget
from textveil.lab.audit.claims import Claim, ObfuscatorClaims, Pair, claim_by_distance, claim_per_word
from textveil.methods.distribution import Distributor
from textveil.obfuscator import Obfuscator


def claims_of(bundle, profile="strict", epsilon=2.0, **options):
    return ObfuscatorClaims(
        Obfuscator(bundle, decomposition="words", profile=profile, largest_share=math.inf, **options),
        Budget(epsilon_per_word=epsilon, length="own"),
    )


def distance(bundle, first, second):
    vectors = bundle.vectors("words")
    places = vectors.place(np.array([vectors.find(first), vectors.find(second)]))
    return float(np.linalg.norm(places[0] - places[1]))


def test_a_claim_per_word_adds_up():
    assert claim_per_word(3.0)(Pair("", "a b c", "x y c")) == Claim(6.0)


def test_a_claim_by_distance_adds_up(tiny):
    claim = claim_by_distance(tiny.vectors("words"), 2.0)
    expected = 2 * (distance(tiny, "alpha", "beta") + distance(tiny, "film", "xyzzy"))
    assert claim(Pair("", "Alpha psi film", "beta psi xyzzy")).bound == pytest.approx(expected)
    assert claim(Pair("", "alpha", "alpha beta")).not_covered == "the numbers of words differ"


@pytest.mark.parametrize("profile", ["strict", "paper", "proven"])
def test_the_claim_is_the_sum_of_share_times_distance(profile, tiny):
    claim = claims_of(tiny, profile)(Pair("", "alpha psi film", "beta psi story"))
    expected = 2 * (distance(tiny, "alpha", "beta") + distance(tiny, "film", "story"))
    assert claim.not_covered is None
    assert claim.bound == pytest.approx(expected)


def test_a_cap_limits_every_distance(tiny):
    claims = claims_of(tiny, "proven", mechanism="exponential", mechanism_options={"cap": 0.5})
    assert claims(Pair("", "alpha psi film", "beta psi story")).bound == pytest.approx(2 * 2 * 0.5)


def test_the_largest_share_limits_the_claim(tiny):
    obfuscator = Obfuscator(tiny, decomposition="words", largest_share=0.25)
    claims = ObfuscatorClaims(obfuscator, Budget(epsilon_per_word=2.0, length="own"))
    assert claims(Pair("", "alpha", "beta")).bound == pytest.approx(0.25 * distance(tiny, "alpha", "beta"))


@pytest.mark.parametrize(
    ("profile", "first", "second", "reason"),
    [
        ("strict", "alpha", "alpha beta", "the numbers of words differ"),
        ("strict", "alpha the", "alpha psi", "the kept words differ"),
        ("strict", "mail bo@xy.org", "mail jo@pq.org", None),
        ("strict", "xyzzy", "alpha", None),
        ("strict", "call 555-0134", "call alpha beta", "the chunks differ"),
        ("paper", "xyzzy", "alpha", "the kept words differ"),
        ("paper", "xyzzy", "plugh", "the kept words differ"),
        ("proven", "alpha the", "alpha psi", None),
        ("proven", "alpha, beta!", "the xyzzy", None),
        ("proven", "alpha", "alpha beta", "the numbers of words differ"),
    ],
)
def test_a_claim_covers_the_neighbors_of_the_profile(profile, first, second, reason, tiny):
    assert claims_of(tiny, profile)(Pair("", first, second)).not_covered == reason


@pytest.mark.parametrize(
    ("form", "first", "second", "reason"),
    [
        ("plain", "the alpha", "The alpha", None),
        ("plain", "alpha beta", "alpha, beta", None),
        ("plain", "alpha the", "alpha a", "the kept words differ"),
        ("keep", "the alpha", "The alpha", "the kept words differ"),
        ("keep", "alpha beta", "alpha, beta", "the texts between words differ"),
    ],
)
def test_with_plain_sentences_the_claim_covers_case_and_text_between_words(form, first, second, reason, tiny):
    assert claims_of(tiny, form=form)(Pair("", first, second)).not_covered == reason


class Length(Distributor):
    """Long words are important."""

    name = "length"

    def score(self, documents):
        return [[float(len(word)) for word in document.words] for document in documents]


def test_texts_with_other_shares_are_no_neighbors(tiny):
    claims = claims_of(tiny, distribution=Length())
    assert claims(Pair("", "film alpha", "psi alpha")).not_covered == "the shares differ"
    assert claims(Pair("", "film alpha", "plot alpha")).not_covered is None


def test_a_mechanism_without_a_guarantee_claims_nothing(tiny):
    assert claims_of(tiny, "paper", mechanism="vickrey")(Pair("", "alpha", "beta")) == Claim(math.inf)


def test_the_distance_is_that_of_the_mechanism(tiny):
    claims = claims_of(tiny, mechanism="mahalanobis", mechanism_options={"blend": 0.9})
    assert claims(Pair("", "alpha", "beta")).bound != pytest.approx(2 * distance(tiny, "alpha", "beta"))


def test_after_a_draft_the_claim_is_the_worst_that_any_draft_allows(tiny):
    """Of 6 in all, the draft spends 0.5 on each of three words; 4.5 may then go to the word that differs most."""
    claims = claims_of(tiny, "proven", draft_share=0.25)
    first, second = distance(tiny, "alpha", "beta"), distance(tiny, "film", "story")
    claim = claims(Pair("", "alpha psi film", "beta psi story"))
    assert claim.not_covered is None
    assert claim.exact is None
    assert claim.bound == pytest.approx(0.5 * (first + second) + 4.5 * max(first, second))
    assert claims(Pair("", "alpha", "alpha psi")).not_covered == "the numbers of words differ"


def test_the_largest_share_limits_what_a_draft_can_do(tiny):
    obfuscator = Obfuscator(tiny, profile="proven", draft_share=0.25, largest_share=3.0)
    claim = ObfuscatorClaims(obfuscator, Budget(6.0))(Pair("", "alpha psi film", "beta psi story"))
    first, second = sorted([distance(tiny, "alpha", "beta"), distance(tiny, "film", "story")])
    assert claim.bound == pytest.approx(3.0 * second + (0.5 + 2.0) * first)


def test_a_claim_per_word_does_not_cover_texts_of_other_lengths_or_gaps():
    claims = claim_per_word(1.0)
    assert claims(Pair("", "a b c", "a")).not_covered == "the numbers of words differ"
    assert claims(Pair("", "a b", "a  b")).not_covered == "the texts between words differ"
