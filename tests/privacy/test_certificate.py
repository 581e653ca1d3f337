import json
from collections import Counter
from dataclasses import replace

import pytest

from textveil.obfuscation import Obfuscator
from textveil.privacy.certificate import Tally
from textveil.privacy.outcomes import DocumentOutcome, Outcome


@pytest.fixture
def tally():
    return Tally(
        Counter({Outcome.PERTURBED: 3, Outcome.KEPT_STOPWORD: 2}), Counter([DocumentOutcome.OBFUSCATED]), 1, 5.0
    )


def test_tallies_add_up(tally):
    total = Tally.over([tally, tally, Tally(documents=Counter([DocumentOutcome.MISSING]))])
    assert total.words == {Outcome.PERTURBED: 6, Outcome.KEPT_STOPWORD: 4}
    assert total.documents == {DocumentOutcome.OBFUSCATED: 2, DocumentOutcome.MISSING: 1}
    assert (total.symbols, total.largest_total) == (2, 5.0)


def test_a_tally_survives_json(tally):
    assert Tally.from_dict(json.loads(json.dumps(tally.as_dict()))).as_dict() == tally.as_dict()


def test_a_certificate_says_all_that_the_design_asks_for(tiny):
    result = Obfuscator(tiny, profile="strict").obfuscate("The alpha and the xyzzy 🙂", epsilon=10)
    certificate = json.loads(result.certificate.to_json())
    assert certificate["profile"] == "strict"
    assert certificate["budget"] == certificate["largest_total_of_shares"] == 10
    assert certificate["allocation"] == {
        "decomposition": "words",
        "distribution": "uniform",
        "type": "public given the kept stopwords",
        "stopwords": "keep",
    }
    assert "same chunks, shares, kept stopwords" in certificate["neighbours"]
    assert certificate["distance"]["metric"] == "euclidean"
    assert certificate["distance"]["pairs"]["0.5"] > certificate["distance"]["nearest"]["0.5"] > 0
    assert certificate["words"] == {
        "perturbed": 1,
        "drawn": 1,
        "kept_stopword": 3,
        "kept_unknown": 0,
        "kept_no_share": 0,
    }
    assert certificate["documents"]["obfuscated"] == 1
    assert certificate["symbols_between_words"] == 1
    assert certificate["mechanism"]["name"] == "madlib"
    assert certificate["mechanism"]["index"] == "exact"
    assert certificate["randomness"] == {"source": "os", "predictable": False}
    assert certificate["bundle"]["sha256"] == tiny.hash
    assert {"textveil", "python", "numpy", "randomgen"} <= set(certificate["versions"])


def test_a_seed_is_said_to_make_the_noise_predictable(tiny):
    certificate = Obfuscator(tiny, seed=1).obfuscate("alpha", epsilon=1).certificate.as_dict()
    assert certificate["randomness"] == {"source": "seeded", "predictable": True}
    assert any("seed" in point for point in certificate["not_protected"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"profile": "proven"}, "public"),
        ({"stopwords": "perturb"}, "public"),
        ({"stopwords": "keep"}, "public given the kept stopwords"),
    ],
)
def test_shares_are_public_only_if_they_do_not_depend_on_the_words(tiny, options, expected):
    obfuscator = Obfuscator(tiny, **options)
    one, other = (obfuscator.obfuscate(text, epsilon=6) for text in ("the film", "good film"))
    assert one.certificate.as_dict()["allocation"]["type"] == expected
    same = [chunk.share for chunk in one.chunks] == [chunk.share for chunk in other.chunks]
    assert same == (expected == "public")


def test_other_columns_of_a_file_are_said_to_be_open(tiny):
    certificate = Obfuscator(tiny).obfuscate("alpha", epsilon=1).certificate
    assert not any("other columns" in point for point in certificate.not_protected)
    assert any("other columns" in point for point in replace(certificate, other_columns=True).not_protected)


def test_kept_stopwords_are_open_only_where_they_are_kept(tiny):
    kept, perturbed = (
        Obfuscator(tiny, stopwords=choice).obfuscate("alpha", epsilon=1).certificate.not_protected
        for choice in ("keep", "perturb")
    )
    assert any(point.startswith("stopwords") for point in kept)
    assert not any(point.startswith("stopwords") for point in perturbed)


def test_a_certificate_quotes_no_text(tiny):
    text = "Zyxwv quuxly alpha frobnicate"
    written = Obfuscator(tiny, profile="paper").obfuscate(text, epsilon=3).certificate.to_json().lower()
    assert not any(word in written for word in ("zyxwv", "quuxly", "frobnicate"))
