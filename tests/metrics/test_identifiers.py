import socket

import pytest

from textveil.errors import ResourceError, UnknownNameError
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case, Reading
from textveil.lab.metrics.identifiers import (
    CHOICES,
    HARMS,
    KINDS,
    MODEL_KINDS,
    Counts,
    Found,
    Harm,
    Identifiers,
    contains_identifier,
)

PLANTED = {
    "PERSON": "Maria Smith",
    "ORGANIZATION": "Microsoft",
    "LOCATION": "London",
    "DATE_TIME": "3 May 2019",
    "EMAIL_ADDRESS": "maria.smith@example.org",
    "PHONE_NUMBER": "(212) 555-0147",
    "CREDIT_CARD": "4111 1111 1111 1111",
    "US_SSN": "078-05-1122",
    "IP_ADDRESS": "192.168.17.4",
    "IBAN_CODE": "GB33BUKB20201555555555",
}
TEXT = (
    "Last year Maria Smith of Microsoft moved to London. She was born on 3 May 2019 and writes from "
    "maria.smith@example.org. Her phone number is (212) 555-0147, her credit card is 4111 1111 1111 1111, her social "
    "security number is 078-05-1122, the address of her server is 192.168.17.4, her IBAN is GB33BUKB20201555555555."
)


@pytest.fixture(scope="module")
def identifiers():
    try:
        return Identifiers()
    except ResourceError as error:
        pytest.skip(str(error))


def measure(identifiers, originals, obfuscated):
    dataset = Dataset(originals)
    return identifiers.measure(Case(dataset, dataset.pair(obfuscated)))


def test_planted_identifiers_are_found(identifiers):
    (found,) = identifiers.find(Case(Dataset([TEXT]), None))
    by_kind = {(each.kind, TEXT[each.start : each.stop]) for each in found}
    assert by_kind >= set(PLANTED.items())


def test_all_or_no_identifiers_survive(identifiers):
    kept = measure(identifiers, [TEXT, "Maria Smith left."], [TEXT, "Maria Smith left."])
    assert kept.values["remaining"] == 1
    assert {kind: value["remaining"] for kind, value in kept.details["kinds"].items()}["EMAIL_ADDRESS"] == 1
    cleaned = TEXT
    # The planted identifiers, and two phrases that Presidio mistakes for a date and an organization.
    for planted in ["Last year", "IBAN", *sorted(PLANTED.values(), key=len, reverse=True)]:
        assert planted in cleaned
        cleaned = cleaned.replace(planted, "something")
    removed = measure(identifiers, [TEXT], [cleaned])
    assert removed.values["remaining"] == 0
    assert removed.values["found"] >= len(PLANTED)
    assert all(value["remaining"] == 0 for value in removed.details["kinds"].values())


def test_the_average_is_over_pairs_that_have_identifiers(identifiers):
    originals = ["Maria Smith met Peter Jones in London.", "Nothing to see here.", "Maria Smith sang."]
    obfuscated = ["maria smith met nobody in town.", "nothing", "somebody sang"]
    found = measure(identifiers, originals, obfuscated)
    assert found.values["pairs"] == 2
    assert found.values["remaining"] == pytest.approx((1 / 3 + 0) / 2)
    assert found.values["direct"] == pytest.approx((1 / 2 + 0) / 2)
    assert found.values["indirect"] == 0
    assert "other" not in found.values
    person = {"harm": "direct", "found": 3, "remaining": pytest.approx((1 / 2 + 0) / 2)}
    assert found.details["kinds"] == {"PERSON": person, "LOCATION": {"harm": "indirect", "found": 1, "remaining": 0}}
    assert "Maria" not in found.line


def test_a_person_and_a_number_share_no_mean(identifiers):
    originals = ["Maria Smith bought 17 of them in London for 250 dollars."] * 3
    found = measure(identifiers, originals, ["maria smith bought some of them somewhere for money."] * 3)
    assert (found.values["direct"], found.values["indirect"], found.values["other"]) == (1, 0, 0)
    assert 0 < found.values["remaining"] < 1
    assert list(found.details["kinds"])[:2] == ["PERSON", "LOCATION"]  # by harm


def test_all_identifiers_together_or_the_mean_of_pairs(identifiers):
    originals = ["Maria Smith met Peter Jones and Anna Miller.", "Maria Smith sang."]
    obfuscated = ["maria smith met nobody.", "maria smith sang"]
    assert measure(identifiers, originals, obfuscated).values["direct"] == pytest.approx((1 / 3 + 1) / 2)
    together = measure(Identifiers(average="identifiers"), originals, obfuscated)
    assert together.values["direct"] == pytest.approx(2 / 4)


def test_intervals_hold_the_values_and_shrink_with_more_texts(identifiers):
    def widths(times):
        found = measure(identifiers, ["Maria Smith sang.", "Peter Jones sang."] * times, ["maria smith", ""] * times)
        for name in ("direct", "remaining"):
            low, high = found.intervals[name]
            assert low <= found.values[name] == 0.5 <= high
        return high - low, found.caveats

    few, caveats = widths(4)
    many, no_caveats = widths(60)
    assert many < few / 2
    assert caveats == ("Only 8 texts with a direct identifier: too few for a conclusion, which needs at least 50.",)
    assert no_caveats == ()


def test_no_surviving_identifier_has_an_interval_over_texts(identifiers):
    found = measure(identifiers, ["Maria Smith sang.", "Peter Jones sang."] * 30, [""] * 60)
    assert found.values["direct"] == 0
    assert found.intervals["direct"] == pytest.approx((0, 0.06), abs=0.001)


def test_originals_without_direct_identifiers(identifiers):
    found = measure(identifiers, ["We went to London."], ["we went to london"])
    assert "direct" not in found.values
    assert found.caveats == ("Only 1 texts with an identifier: too few for a conclusion, which needs at least 50.",)
    many = measure(identifiers, ["We went to London."] * 50, ["we went to london"] * 50)
    assert many.caveats == ()


def test_a_part_with_several_kinds_counts_once_as_its_worst(identifiers, monkeypatch):
    text = "call 1234567890 now"
    kinds = ("CARDINAL", "DATE_TIME", "PHONE_NUMBER", "US_BANK_NUMBER")
    monkeypatch.setattr(Identifiers, "find", lambda *_: [[Found(5, 15, kind) for kind in kinds]])
    found = measure(identifiers, [text], [text])
    assert found.values == {"direct": 1, "remaining": 1, "found": 1, "pairs": 1}
    assert found.details["harms"] == {"direct": {"found": 1, "texts": 1, "remaining": 1}}
    assert list(found.details["kinds"]) == ["PHONE_NUMBER", "US_BANK_NUMBER", "DATE_TIME", "CARDINAL"]


def test_the_kinds_of_the_paper_are_those_of_presidio_by_default():
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    configuration = NlpEngineProvider().nlp_configuration["ner_model_configuration"]
    kinds = {configuration["model_to_presidio_entity_mapping"].get(label, label) for label in MODEL_KINDS}
    kinds -= set(configuration["labels_to_ignore"])
    assert kinds == {"PERSON", "NRP", "LOCATION", "DATE_TIME"}
    by_form = set(KINDS) - set(MODEL_KINDS.values())
    assert set(CHOICES["paper"]) == kinds | by_form


def test_the_kinds_of_the_paper_leave_organizations_and_numbers_out(identifiers):
    paper = Identifiers(kinds="paper")
    found = measure(paper, [TEXT], [TEXT])
    assert {"ORGANIZATION", "CARDINAL"}.isdisjoint(found.details["kinds"])
    assert {"PERSON", "LOCATION", "EMAIL_ADDRESS"} <= set(found.details["kinds"])
    assert found.values["found"] < measure(identifiers, [TEXT], [TEXT]).values["found"]
    assert paper.identity != identifiers.identity
    assert "kinds paper" in paper.description
    with pytest.raises(UnknownNameError, match="`kinds` of identifiers"):
        Identifiers(kinds="papre")


def test_other_kinds_need_no_new_search(identifiers, tmp_path, monkeypatch):
    dataset = Dataset([TEXT], folder=tmp_path)
    identifiers.measure(Case(dataset, dataset.pair([TEXT])))
    monkeypatch.setattr("textveil.lab.metrics.identifiers.Finder.find", lambda *_: pytest.fail("found again"))
    again = Dataset([TEXT], folder=tmp_path)
    Identifiers(kinds="paper", average="identifiers").measure(Case(again, again.pair([TEXT])))


def test_every_kind_has_a_harm():
    assert set(HARMS) == set(KINDS)
    by_harm = {harm: {kind for kind in KINDS if HARMS[kind] is harm} for harm in Harm}
    assert by_harm[Harm.INDIRECT] == {"LOCATION", "ORGANIZATION", "DATE_TIME", "NRP"}
    assert {"PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "US_BANK_NUMBER", "US_SSN", "IBAN_CODE"} < by_harm[Harm.DIRECT]
    assert {"CARDINAL", "MONEY", "WORK_OF_ART"} < by_harm[Harm.OTHER]


def test_counts_without_identifiers():
    assert Counts([0, 0], [0, 0]).average("pairs") == Counts([0], [0]).average("identifiers") == Reading(0.0)
    assert Counts([0, 0], [0, 0]).texts == 0


def test_no_identifiers_at_all(identifiers):
    found = measure(identifiers, ["nothing to see here"], ["nothing"])
    assert found.values == {"remaining": 0.0, "found": 0.0, "pairs": 0.0}
    assert "No identifiers" in found.line


@pytest.mark.parametrize(
    ("identifier", "text", "survives"),
    [
        ("Ann", "ann came", True),
        ("Ann", "anna came", False),
        ("Ann", "joann came", False),
        ("New  York", "to new york.", True),
        ("New York", "new old york", False),
        ("a+b@c.org", "write a+b@c.org", True),
        ("a.b", "axb", False),
        ("ﬁne", "fine", True),
    ],
)
def test_an_identifier_survives_only_as_whole_words(identifier, text, survives):
    assert contains_identifier(identifier, text) is survives


def test_kinds_are_pinned():
    assert len(KINDS) == 29
    assert KINDS[0] == "CARDINAL"
    assert KINDS[-1] == "WORK_OF_ART"
    assert MODEL_KINDS["ORG"] == "ORGANIZATION"


def test_another_configuration_has_another_description(identifiers, monkeypatch):
    before = identifiers.description
    monkeypatch.setattr("textveil.lab.metrics.identifiers.LEAST_SCORE", 0.5)
    assert identifiers.description != before


def test_every_kind_of_the_model_is_counted(identifiers):
    model = identifiers.finder.analyzer.nlp_engine.get_nlp("en")
    assert set(model.get_pipe("ner").labels) == set(MODEL_KINDS)
    counted = {
        kind
        for recognizer in identifiers.finder.analyzer.registry.recognizers
        for kind in recognizer.supported_entities
    }
    assert counted == set(KINDS)


def test_no_network_is_used(identifiers, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert measure(identifiers, ["Write to a@b.co.uk and see www.example.com"], [""]).values["found"] >= 2


def test_identifiers_are_cached_without_texts(identifiers, tmp_path, monkeypatch):
    dataset = Dataset([TEXT], folder=tmp_path)
    first = identifiers.measure(Case(dataset, dataset.pair([TEXT])))
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"Maria" not in path.read_bytes()
    again = Dataset([TEXT], folder=tmp_path)
    monkeypatch.setattr("textveil.lab.metrics.identifiers.Finder.find", lambda *_: pytest.fail("found again"))
    assert identifiers.measure(Case(again, again.pair([TEXT]))) == first


def test_a_model_that_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SPACY_EN", str(tmp_path))
    with pytest.raises(ResourceError, match="spacy-en"):
        Identifiers()
