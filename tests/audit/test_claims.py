import math

import numpy as np
import pytest

from textveil.budget import Budget
from textveil.bundles.vectors import Vectors
from textveil.errors import BundleError, InputError
from textveil.lab.audit.claims import (
    Claim,
    ObfuscatorClaims,
    Pair,
    choose_pairs,
    claim_by_distance,
    claim_per_word,
    read_pairs,
)
from textveil.methods.distribution import Distributor
from textveil.obfuscator import Obfuscator
from textveil.text.stopwords import ENGLISH
from textveil.text.words import find_words

from ..conftest import random_matrix


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


@pytest.fixture
def vectors(tiny):
    return tiny.vectors("words")


def test_pairs_of_every_kind_are_made_up(vectors):
    kinds = {pair.kind for pair in choose_pairs(vectors)}
    assert kinds == {
        "near words",
        "far words",
        "same word, capitalized",
        "same word, full-width letters",
        "plain and accented word",
        "known and unknown word",
        "two unknown words",
        "stopword and content word",
        "capitalized stopword and content word",
        "name and no name",
        "numbers",
        "phone numbers",
        "one word of four",
        "all of three words",
        "words beside stopwords",
        "repeated word and two words",
    }


def test_both_texts_have_as_many_words(vectors):
    for pair in choose_pairs(vectors):
        assert len(find_words(pair.first)) == len(find_words(pair.second)) > 0
        assert pair.first != pair.second


def test_near_and_far_words_are_the_nearest_and_the_farthest(vectors):
    import numpy as np

    pairs = {pair.kind: pair for pair in choose_pairs(vectors)}
    rows = [row for row in vectors.writable if vectors.entries[row] not in ENGLISH and len(vectors.entries[row]) > 2]
    apart = np.linalg.norm(vectors.matrix[rows][:, None] - vectors.matrix[rows], axis=2)

    def distance(pair):
        return np.linalg.norm(vectors.matrix[vectors.find(pair.first)] - vectors.matrix[vectors.find(pair.second)])

    assert distance(pairs["near words"]) == pytest.approx(apart[apart > 0].min())
    assert distance(pairs["far words"]) == pytest.approx(apart.max())


def test_the_pairs_are_the_same_each_time(vectors):
    assert choose_pairs(vectors) == choose_pairs(vectors)


def test_unknown_words_are_unknown_and_names_are_never_written(vectors):
    pairs = {pair.kind: pair for pair in choose_pairs(vectors)}
    for word in (pairs["two unknown words"].first, pairs["two unknown words"].second):
        assert word not in vectors
    name = vectors.find(pairs["name and no name"].first.split()[0])
    assert name >= 0
    assert name not in vectors.writable


def test_expressions_come_from_the_vocabulary():
    entries = [f"word{letter}" for letter in "abcdefgh"] + ["new_york", "green_tea", "out_of"]
    pairs = {pair.kind: pair for pair in choose_pairs(Vectors(entries, random_matrix(11, 4)))}
    assert (pairs["expressions"].first, pairs["expressions"].second) == ("new york", "green tea")


def test_a_tiny_vocabulary_is_refused():
    with pytest.raises(BundleError, match="at least 8 words"):
        choose_pairs(Vectors(["one", "two", "three"], random_matrix(3, 4)))


@pytest.mark.parametrize(
    ("first", "second", "number"),
    [("tea", "tea", 0), ("tea", "Tea", 1), ("a b c", "a x y", 2), ("a b", "a", 1), ("", "a b", 2)],
)
def test_words_that_differ(first, second, number):
    assert Pair("", first, second).words_that_differ == number


def test_a_pair_does_not_show_its_texts():
    assert "tea" not in repr(Pair("drinks", "tea", "coffee"))


def test_pairs_are_read_from_a_file(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a good film\ta bad film\ncafé\tcafe\n", encoding="utf-8")
    assert read_pairs(path) == [Pair("line 1", "a good film", "a bad film"), Pair("line 2", "café", "cafe")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no pairs"),
        (b"one\ttwo\nthree\n", "Line 2 of"),
        (b"one\ttwo\tthree\n", "Line 1 of"),
        (b"\xff\t\xfe\n", "is not UTF-8"),
    ],
)
def test_a_false_file_of_pairs_is_refused(content, message, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_pairs(path)
    assert "three" not in str(caught.value)


def test_a_missing_file_of_pairs_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_pairs(tmp_path / "none")
