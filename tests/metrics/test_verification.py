import json
import math
from dataclasses import replace

import pytest

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.lab.metrics.replay import rebuild_obfuscator
from textveil.lab.metrics.verification import Check, check_statements, summarize_checks, verify_certificate
from textveil.obfuscator import Obfuscator
from textveil.redaction import Screen


def results(*arguments, **options):
    return {check.name: check.passed for check in verify_certificate(*arguments, **options)}


@pytest.fixture(scope="module")
def texts(rows):
    return rows[0]


@pytest.fixture(scope="module")
def issued(obfuscations):
    """The certificate of a file."""
    tally = Tally.over(result.certificate.tally for result in obfuscations)
    return Certificate(obfuscations[0].certificate.terms, Budget(epsilon=120), tally)


@pytest.fixture(scope="module")
def obfuscated(obfuscations):
    return [result.text for result in obfuscations]


def share_of(certificate):
    tally = certificate.tally
    kept = sum(count for outcome, count in tally.words.items() if outcome.in_clear)
    return (kept + tally.returned) / tally.words.total()


def test_the_right_certificate_passes_every_check(issued, texts, obfuscated, obfuscations):
    found = results(issued, texts, obfuscated, obfuscations, unchanged=share_of(issued))
    assert set(found.values()) == {True}
    loaded = Certificate.from_dict(issued.as_dict())
    assert results(loaded, texts, obfuscated, obfuscations, unchanged=share_of(issued)) == found


class NothingFound:
    """A finder of identifiers that finds none."""

    versions = {"finder": "1"}  # noqa: RUF012
    model_used = {"name": "none", "sha256": "0" * 64}  # noqa: RUF012

    def find(self, texts):
        return [[] for _ in texts]


@pytest.mark.parametrize(
    "settings",
    [{"form": "keep"}, {"profile": "proven", "draft_share": 0.3}, {"identifiers": Screen("redact", NothingFound())}],
    ids=["keep", "draft", "redact"],
)
def test_the_claim_follows_the_settings(tiny, settings):
    certificate = Obfuscator(tiny, **settings).obfuscate("alpha", epsilon=3).certificate
    for each in (certificate, Certificate.from_dict(certificate.as_dict())):
        assert results(each, ["alpha"], ["beta"])["claim"] is True


def test_a_certificate_of_other_texts_fails(issued, texts, obfuscated, obfuscations):
    assert results(issued, texts[:-1], obfuscated[:-1])["documents"] is False
    assert results(issued, [*texts[:-1], f"{texts[-1]} more"], obfuscated)["words"] is False
    others = list(Obfuscator(seed=1, stopwords="perturb").obfuscate_all(texts, epsilon=120))
    assert results(issued, texts, obfuscated, others)["outcomes of words"] is False


def test_texts_that_were_changed_back_fail(issued, texts, obfuscated):
    assert results(issued, texts, obfuscated)["unchanged texts"] is True
    assert results(issued, texts, [*texts[:20], *obfuscated[20:]])["unchanged texts"] is False


def test_another_share_of_unchanged_words_fails(issued, texts, obfuscated):
    share = share_of(issued)
    assert results(issued, texts, obfuscated, unchanged=share + 0.09)["unchanged words"] is True
    for wrong in (share + 0.11, share - 0.11):
        assert results(issued, texts, obfuscated, unchanged=wrong)["unchanged words"] is False


def test_what_cannot_be_checked_is_neither_passed_nor_failed(issued, texts, obfuscated):
    found = results(issued, texts, obfuscated)
    assert found["outcomes of words"] is None
    assert found["unchanged words"] is None


def test_a_certificate_of_several_columns_is_not_compared(issued, texts, obfuscated):
    twice = replace(issued, tally=Tally.over([issued.tally, issued.tally]))
    found = results(twice, texts, obfuscated, unchanged=0.9)
    assert [found[name] for name in ("documents", "words", "unchanged words")] == [None, None, None]


def test_a_claim_that_was_edited_fails_and_that_of_another_version_is_left_open(issued, texts, obfuscated):
    edited = {**issued.as_dict(), "claim": "Nobody can ever learn anything."}
    assert results(Certificate.from_dict(edited), texts, obfuscated)["claim"] is False
    shorter = {**issued.as_dict(), "not_protected": []}
    assert results(Certificate.from_dict(shorter), texts, obfuscated)["claim"] is False
    older = {**edited, "versions": {"textveil": "0.0.1"}}
    assert results(Certificate.from_dict(older), texts, obfuscated)["claim"] is None


def test_one_failed_check_is_enough():
    checks = [Check("words", True, ""), Check("claim", False, ""), Check("documents", None, "")]
    assert summarize_checks(checks) == "NOT VERIFIED: the certificate does not fit these texts (claim)."


def test_findings_never_quote_a_text(issued, texts, obfuscated):
    found = " ".join(check.finding for check in verify_certificate(issued, texts, texts))
    assert not any(word in found for word in ("soup", "pistons", "dreadful"))


SETTINGS = {
    "strict": ({}, {"epsilon": 6.0}),
    "without a limit": ({"largest_share": math.inf}, {"epsilon": 6.0}),
    "perturbed stopwords": ({"stopwords": "perturb", "mechanism": "fluent"}, {"epsilon_per_word": 2.0}),
    "with its form": ({"form": "keep", "keep_emoji": True, "largest_share": 1.0}, {"epsilon_per_word": 2.0}),
    "average length": ({"distribution": "yake"}, {"epsilon_per_word": 2.0, "length": "average"}),
    "paper": ({"profile": "paper", "mechanism": "madlib"}, {"epsilon_per_word": 2.0}),
    "no guarantee": ({"profile": "paper", "mechanism": "vickrey"}, {"epsilon": 6.0}),
    "proven": ({"profile": "proven", "mechanism": "exponential", "mechanism_options": {"cap": 1.5}}, {"epsilon": 6.0}),
    "drafted": ({"profile": "proven", "draft_share": 0.3, "largest_share": 1.0}, {"epsilon_per_word": 2.0}),
}
ODD = [
    "alpha the zzz beta",
    "the and was",
    "",
    "film",
    None,
    "plot \U0001f600, call 555-1234!",
    "New York green tea",
    "... !!",
]


@pytest.mark.parametrize("name", SETTINGS)
def test_certificates_as_they_are_issued_state_what_their_settings_imply(tiny_with_prior, name):
    """Of every document, and of all documents together."""
    settings, budget = SETTINGS[name]
    obfuscator = Obfuscator(tiny_with_prior, decomposition="words", **settings)
    certificates = [result.certificate for result in obfuscator.obfuscate_all(ODD, **budget)]
    total = replace(certificates[0], tally=Tally.over(each.tally for each in certificates), other_columns=True)
    for certificate in (*certificates, total):
        loaded = Certificate.from_dict(json.loads(certificate.to_json()))
        check_statements(loaded, rebuild_obfuscator(loaded.terms, tiny_with_prior))
