import math
from dataclasses import replace

import pytest

from textveil.certificate import Certificate
from textveil.errors import LedgerError, ParameterError, SpentBudgetError
from textveil.ledger import Ledger
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome

TEXT = "alpha beta gamma delta"


@pytest.fixture
def make(tiny, tmp_path):
    """An obfuscator with the ledger of the test."""

    def make(repeat="fresh", budget=None, **options):
        ledger = Ledger(tmp_path / "spent.db", budget_per_document=budget, repeat=repeat)
        return Obfuscator(tiny, ledger=ledger, **{"largest_share": math.inf, **options})

    return make


def test_what_is_charged_is_the_sum_of_the_shares(make):
    obfuscator = make(largest_share=1.5)
    result = obfuscator.obfuscate(TEXT, epsilon=10)
    (entry,) = obfuscator.ledger.find(TEXT)
    assert entry.epsilon == pytest.approx(6.0)  # four words at most 1.5 each; the rest is not spent
    assert obfuscator.ledger.has(TEXT, result.text)


def test_a_text_that_has_spent_its_budget_raises(make):
    obfuscator = make(budget=15)
    obfuscator.obfuscate(TEXT, epsilon=10)
    with pytest.raises(SpentBudgetError, match="has spent 10 of 15"):
        obfuscator.obfuscate(TEXT, epsilon=10)
    obfuscator.obfuscate(TEXT, epsilon=5)


def test_of_several_texts_only_the_spent_ones_are_refused(make):
    results = list(make(budget=15).obfuscate_all([TEXT, "psi chi", TEXT, None, "rho"], epsilon=10))
    assert [result.outcome is DocumentOutcome.REFUSED for result in results] == [False, False, True, False, False]
    assert (results[2].text, results[2].chunks) == ("", ())
    assert results[2].refusal.spent[0][1] == 10.0
    assert results[2].certificate.tally.documents == {DocumentOutcome.REFUSED: 1}


def test_a_missing_text_is_no_release_and_one_without_words_is(make):
    obfuscator = make()
    list(obfuscator.obfuscate_all([None, "", "the and of"], epsilon=10))
    summary = obfuscator.ledger.summarize()
    assert (summary.releases, summary.spent) == (2, 0.0)


def test_nothing_is_returned_if_the_ledger_cannot_be_written(make, monkeypatch):
    obfuscator, seen = make(), []

    def fail(*_):
        raise LedgerError("full")

    monkeypatch.setattr(obfuscator.ledger, "charge", fail)
    with pytest.raises(LedgerError, match="full"):
        seen.extend(obfuscator.obfuscate_all([TEXT], epsilon=10))
    assert seen == []


def test_everything_is_recorded_before_it_is_returned(make):
    obfuscator = make()
    texts = [f"alpha beta {number}" for number in range(7)]
    for text, result in zip(texts, obfuscator.obfuscate_all(texts, epsilon=1, batch_size=3), strict=True):
        assert obfuscator.ledger.has(text, result.text)


def test_with_repeat_same_a_text_gets_its_first_answer_again_and_spends_once(make):
    first = make("same", budget=10).obfuscate(TEXT, epsilon=10).text
    again = [result.text for result in make("same", budget=10).obfuscate_all(["rho", TEXT, TEXT], epsilon=10)]
    assert again[1:] == [first, first]
    assert len(make().ledger.find(TEXT)) == 1


def test_with_repeat_same_other_settings_get_other_noise_and_are_charged(make):
    long = " ".join([TEXT] * 5)
    one = make("same").obfuscate(long, epsilon=1e-9).text
    other = make("same").obfuscate(long, epsilon=2e-9).text
    third = make("same", stopwords="perturb").obfuscate(long, epsilon=1e-9).text
    assert len({one, other, third}) == 3  # at this budget the noise alone decides
    assert len(make().ledger.find(long)) == 3


def test_with_repeat_same_another_key_gives_other_noise(make, tiny, tmp_path):
    long = " ".join([TEXT] * 5)
    other = Obfuscator(tiny, ledger=Ledger(tmp_path / "other.db", repeat="same"), largest_share=math.inf)
    assert make("same").obfuscate(long, epsilon=1e-9).text != other.obfuscate(long, epsilon=1e-9).text


def test_an_answer_with_fresh_noise_does_not_make_the_keyed_one_free(make):
    make().obfuscate(TEXT, epsilon=10)
    with pytest.raises(SpentBudgetError):
        make("same", budget=15).obfuscate(TEXT, epsilon=10)


def test_with_a_seed_the_same_text_in_the_same_place_is_charged_once(make):
    texts = [TEXT, "rho", TEXT]
    for _ in range(2):
        list(make(seed=7).obfuscate_all(texts, epsilon=10))
    list(make(seed=8).obfuscate_all(texts, epsilon=10))
    assert len(make().ledger.find(TEXT)) == 4  # two places, two seeds


def test_a_seed_and_repeat_same_contradict_each_other(make):
    with pytest.raises(ParameterError, match="`seed` or `repeat='same'`, not both"):
        make("same", seed=7)


def test_a_run_repeats_its_noise_but_not_for_another_text_place_or_run(make):
    long = " ".join([TEXT] * 5)
    obfuscator = make()

    def draw(key, text=long, first=0):
        return next(obfuscator.for_run(key).obfuscate_all([text], epsilon=1e-9, first_document=first)).text

    first = draw(b"one")
    assert draw(b"one") == first
    assert len(obfuscator.ledger.find(long)) == 1
    assert len({first, draw(b"two"), draw(b"one", first=1), draw(b"one", text=f"{long}!").removesuffix("!")}) == 4


def test_without_a_ledger_a_run_draws_from_the_system(tiny):
    obfuscator = Obfuscator(tiny)
    assert obfuscator.for_run(b"one") is obfuscator


def test_a_certificate_says_that_a_ledger_was_used(make):
    certificate = make("same", budget=15).obfuscate(TEXT, epsilon=10).certificate
    written = certificate.as_dict()
    assert written["ledger"] == {"budget_per_document": 15.0, "repeat": "same"}
    assert written["randomness"] == {"source": "keyed", "predictable": False}
    assert "which texts are equal: they get the same answer" in written["not_protected"]
    assert Certificate.from_dict(written).terms.ledger == written["ledger"]
    fresh = make().obfuscate(TEXT, epsilon=10).certificate
    assert fresh.as_dict()["randomness"]["source"] == "os"
    assert replace(fresh.terms, ledger=None) == Obfuscator(make().bundle, largest_share=math.inf).terms
