import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.errors import InputError
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome, Outcome


@pytest.fixture
def tally():
    return Tally(
        words=Counter({Outcome.PERTURBED: 3, Outcome.KEPT_STOPWORD: 2}),
        documents=Counter([DocumentOutcome.OBFUSCATED]),
        symbols=1,
        returned=2,
        return_bands=Counter(["under 80%"]),
        largest_budget=6.0,
        largest_spent=5.0,
    )


def test_tallies_add_up(tally):
    total = Tally.over([tally, tally, Tally(documents=Counter([DocumentOutcome.MISSING]))])
    assert total.words == {Outcome.PERTURBED: 6, Outcome.KEPT_STOPWORD: 4}
    assert total.documents == {DocumentOutcome.OBFUSCATED: 2, DocumentOutcome.MISSING: 1}
    assert (total.symbols, total.returned, total.return_bands) == (2, 4, {"under 80%": 2})
    assert (total.largest_budget, total.largest_spent) == (6.0, 5.0)


def test_a_copy_of_a_tally_is_its_own(tally):
    total = Tally.over([tally, Tally(identifiers=Counter(["PERSON"]), largest_draft=1.0, largest_refinement=2.0)])
    copied = Tally.over([total])
    assert copied == total
    copied.add(total)
    assert total.words == tally.words
    assert (total.identifiers, total.returned) == ({"PERSON": 1}, tally.returned)


def test_a_tally_survives_json(tally):
    assert Tally.from_dict(json.loads(json.dumps(tally.as_dict()))).as_dict() == tally.as_dict()


def test_a_certificate_says_all_that_the_design_asks_for(tiny):
    result = Obfuscator(tiny, profile="strict", form="keep").obfuscate("The alpha and the xyzzy 🙂", epsilon=10)
    certificate = json.loads(result.certificate.to_json())
    assert certificate["profile"] == "strict"
    assert certificate["budget"] == {
        "epsilon": 10,
        "epsilon_per_word": None,
        "length": None,
        "average_length": None,
        "largest_share": pytest.approx(Obfuscator(tiny).largest_share),
        "largest_budget": 10,
        "largest_spent": pytest.approx(sum(chunk.share for chunk in result.chunks)),
        "largest_chunk": max(chunk.share for chunk in result.chunks),
    }
    assert certificate["decomposition"] == {"name": "words", "options": {}, "model": None}
    assert certificate["distribution"] == {"name": "uniform", "options": {}, "model": None}
    assert certificate["allocation"] == "public given the kept stopwords"
    assert certificate["stopwords"] == "keep"
    assert "same chunks, shares, kept stopwords" in certificate["neighbors"]
    assert certificate["distance"]["metric"] == "euclidean"
    assert certificate["distance"]["pairs"]["0.5"] > certificate["distance"]["nearest"]["0.5"] > 0
    assert certificate["words"] == {
        "perturbed": 1,
        "drawn": 1,
        "redacted": 0,
        "kept_stopword": 3,
        "kept_unknown": 0,
        "kept_no_share": 0,
    }
    assert certificate["documents"]["obfuscated"] == 1
    assert (certificate["symbols_between_words"], certificate["dropped_symbols"]) == (0, 1)
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
    assert one.certificate.as_dict()["allocation"] == expected
    same = [chunk.share for chunk in one.chunks] == [chunk.share for chunk in other.chunks]
    assert same == (expected == "public")


def test_other_columns_of_a_file_are_said_to_be_open(tiny):
    certificate = Obfuscator(tiny).obfuscate("alpha", epsilon=1).certificate
    assert not any("other columns" in point for point in certificate.not_protected)
    assert any("other columns" in point for point in replace(certificate, other_columns=True).not_protected)


def test_the_form_decides_what_is_open(tiny):
    keep, plain = (
        Obfuscator(tiny, form=form).obfuscate("The alpha", epsilon=1).certificate.as_dict()
        for form in ("keep", "plain")
    )
    assert (keep["form"], plain["form"]) == ("keep", "plain")
    assert "the text between words: spaces and punctuation" in keep["not_protected"]
    assert "stopwords, which are kept with their case" in keep["not_protected"]
    assert not any("between words" in point or "case" in point for point in plain["not_protected"])
    assert "stopwords, which are kept" in plain["not_protected"]
    assert Certificate.from_dict(plain).terms.form == "plain"


@pytest.mark.parametrize(("profile", "form"), [("strict", "keep"), ("paper", "keep"), ("proven", "bare")])
def test_a_certificate_without_a_form_is_of_an_earlier_version(tiny, profile, form):
    written = Obfuscator(tiny, profile=profile).obfuscate("alpha", epsilon=1).certificate.as_dict()
    del written["form"]
    assert Certificate.from_dict(written).terms.form == form
    with pytest.raises(InputError, match="incomplete or damaged"):
        Certificate.from_dict({**written, "form": "other"})


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


SCHEMA = json.loads((Path(__file__).parents[2] / "docs/certificate.schema.json").read_bytes())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"profile": "paper"},
        {"profile": "proven", "seed": 1},
        {"decomposition": "pos"},
        {"distribution": "attention"},
        {"distribution": "ic"},
        {"mechanism": "madlib", "mechanism_options": {"rank_decay": 1.0}},
    ],
    ids=str,
)
def test_a_certificate_fits_its_schema(options):
    if options.get("distribution") == "attention":
        pytest.importorskip("torch")
    certificate = Obfuscator(**options).obfuscate("The waiter was rude 🙂 to xyzzy", epsilon=10).certificate.as_dict()
    jsonschema.validate(json.loads(json.dumps(certificate)), SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        {"certificate": 3},
        {"budget": {"epsilon": -1}},
        {"surprise": 1},
        {"decomposition": {"name": "words", "options": {}}},
        {"distribution": {"name": "x", "options": {}, "model": {"name": "m", "sha256": "short"}}},
        {"words": {"perturbed": -1}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_is_not_a_certificate(tiny, change):
    certificate = Obfuscator(tiny).obfuscate("alpha", epsilon=1).certificate.as_dict()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**certificate, **change}, SCHEMA)


def test_a_certificate_survives_its_file(tiny, tmp_path):
    certificate = Obfuscator(tiny, seed=3).obfuscate("The alpha and the xyzzy", epsilon=10).certificate
    certificate.write(tmp_path / "c.json")
    loaded = Certificate.load(str(tmp_path / "c.json"))
    assert loaded == certificate
    assert loaded.as_dict() == certificate.as_dict()
    assert loaded.to_json() == (tmp_path / "c.json").read_text()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "not a certificate"),
        ({"certificate": "2"}, "not a certificate"),
        ({"certificate": 3}, "Update"),
        ({"certificate": 1}, "no longer reads"),
        ({"certificate": 2}, "incomplete or damaged"),
    ],
)
def test_what_is_not_a_certificate_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        Certificate.from_dict(values)


@pytest.mark.parametrize("change", [{"profile": "lax"}, {"words": {"eaten": 1}}, {"distribution": {"name": 3}}])
def test_a_damaged_certificate_is_refused(tiny, change):
    written = Obfuscator(tiny).obfuscate("alpha", epsilon=1).certificate.as_dict()
    with pytest.raises(InputError, match="incomplete or damaged"):
        Certificate.from_dict({**written, **change})


@pytest.mark.parametrize(("content", "message"), [(None, "cannot be read"), ("{", "is not JSON"), ("[]", "c.json'")])
def test_a_file_that_is_not_a_certificate(tmp_path, content, message):
    if content is not None:
        (tmp_path / "c.json").write_text(content)
    with pytest.raises(InputError, match=message):
        Certificate.load(tmp_path / "c.json")


def test_a_cap_gives_bounds_that_need_no_distance(tiny):
    capped = Obfuscator(tiny, mechanism="exponential", mechanism_options={"cap": 2.0}, largest_share=3.0, seed=1)
    results = list(capped.obfuscate_all(["alpha beta", "alpha beta gamma"], epsilon=6))
    total = Tally.over(result.certificate.tally for result in results)
    certificate = Certificate(capped.terms, results[0].certificate.budget, total)
    assert certificate.bounds == {"words": 6.0, "document": 12.0}
    assert Certificate.from_dict(certificate.as_dict()).bounds == certificate.bounds
    assert Obfuscator(tiny, seed=1).obfuscate("alpha", epsilon=1).certificate.bounds == {
        "words": None,
        "document": None,
    }


def test_a_mechanism_without_a_guarantee_claims_nothing(tiny):
    result = Obfuscator(tiny, mechanism="vickrey", profile="paper", seed=1).obfuscate("alpha beta", epsilon=5)
    stated = result.certificate.as_dict()
    assert stated["claim"] == "None: the mechanism 'vickrey' has no finite bound. It is for comparison only."
    assert Certificate.from_dict(stated).claim == stated["claim"]


@pytest.fixture
def drafted(tiny):
    options = {"mechanism": "exponential", "mechanism_options": {"cap": 0.5}, "largest_share": 4.0}
    return (
        Obfuscator(tiny, profile="proven", draft_share=0.25, **options).obfuscate("alpha beta", epsilon=6).certificate
    )


def test_a_certificate_states_both_rounds_of_a_draft(drafted):
    stated = drafted.as_dict()
    assert [(each["round"], each["budget_share"], each["computed_from"]) for each in stated["rounds"]] == [
        ("draft", 0.25, "the number of words"),
        ("refinement", 0.75, "the draft"),
    ]
    assert [each["largest_spent"] for each in stated["rounds"]] == pytest.approx([1.5, 4.5])
    assert stated["rounds"][0]["decomposition"]["name"] == "words"
    assert stated["budget"]["largest_spent"] == pytest.approx(6)
    assert stated["allocation"] == "public given the draft"
    assert "over both rounds" in stated["claim"]
    assert stated["neighbors"] == "any two documents with the same number of words"
    jsonschema.validate(json.loads(json.dumps(stated)), SCHEMA)


def test_bounds_after_a_draft_hold_whatever_the_draft(drafted):
    """A draft could give one word all that the largest share allows."""
    assert drafted.tally.largest_chunk == pytest.approx(3)
    assert drafted.bounds == {"words": 0.5 * 4, "document": pytest.approx(0.5 * 6)}
    unlimited = replace(drafted, terms=replace(drafted.terms, largest_share=None))
    assert unlimited.bounds["words"] == pytest.approx(0.5 * 6)


def test_a_certificate_of_a_draft_survives_its_file(drafted, tmp_path):
    drafted.write(tmp_path / "c.json")
    loaded = Certificate.load(tmp_path / "c.json")
    assert loaded == drafted
    assert loaded.bounds == drafted.bounds
    assert loaded.rounds == drafted.rounds


@pytest.mark.parametrize("rounds", [[{}], [{"round": "draft", "budget_share": 0.2}], "draft", None])
def test_damaged_rounds_are_refused(drafted, rounds):
    with pytest.raises(InputError, match="incomplete or damaged"):
        Certificate.from_dict({**drafted.as_dict(), "rounds": rounds})


def test_a_certificate_without_rounds_is_one_without_a_draft(tiny):
    stated = Obfuscator(tiny).obfuscate("alpha", epsilon=1).certificate.as_dict()
    assert stated.pop("rounds") == []
    assert Certificate.from_dict(stated).terms.draft_share is None


@pytest.mark.parametrize("mechanism", ["madlib", "exponential"])
def test_deniability_is_stated_on_request(mechanism, tiny, tmp_path):
    obfuscator = Obfuscator(tiny, mechanism=mechanism, largest_share=2.0, seed=1)
    assert obfuscator.obfuscate("alpha", epsilon=1).certificate.as_dict()["deniability"] is None
    obfuscator.add_deniability(Budget(epsilon_per_word=0.5, length="own"))
    certificate = obfuscator.obfuscate("alpha", epsilon_per_word=0.5).certificate
    stated = certificate.as_dict()
    jsonschema.validate(json.loads(json.dumps(stated)), SCHEMA)
    low, high = stated["deniability"]["shares"]
    assert (low["meaning"], low["share"], high["meaning"], high["share"]) == ("per word", 0.5, "largest", 2.0)
    assert low["stays"]["50%"] < high["stays"]["50%"]
    certificate.write(tmp_path / "c.json")
    assert Certificate.load(tmp_path / "c.json").terms.deniability == stated["deniability"]


def test_a_certificate_of_an_earlier_version_states_no_deniability(tiny):
    stated = Obfuscator(tiny, seed=1).obfuscate("alpha", epsilon=1).certificate.as_dict()
    del stated["deniability"]
    jsonschema.validate(stated, SCHEMA)
    assert Certificate.from_dict(stated).terms.deniability is None


def test_deniability_does_not_depend_on_texts(tiny):
    """It is stated before any text is read, and the same after any."""
    stated = []
    for text in ("alpha", "the psi was good, and the film bad"):
        obfuscator = Obfuscator(tiny, mechanism="exponential", seed=1)
        obfuscator.add_deniability(Budget(epsilon_per_word=1.0, length="own"))
        stated.append(obfuscator.obfuscate(text, epsilon_per_word=1.0).certificate.as_dict()["deniability"])
    assert stated[0] == stated[1]
