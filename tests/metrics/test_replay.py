import math
import shutil
from dataclasses import replace
from functools import cache

import pytest

from textveil.budget import Budget
from textveil.bundles.bundle import Bundle
from textveil.certificate import Certificate, Tally
from textveil.errors import InputError, ParameterError, ResourceError
from textveil.lab.metrics.replay import rebuild_obfuscator, replay
from textveil.obfuscator import Obfuscator
from textveil.resources import find

TEXTS = ["The soup was cold, dear Grzybowski.", None, "It was a box office hit, of course."]
EPSILON = 70.0


@cache
def load_shipped():
    """The shipped bundle, loaded once."""
    return Bundle.load("en")


def obfuscate(texts=TEXTS, **options):
    """The results, and the certificate as it is read from a file."""
    obfuscator = Obfuscator(load_shipped(), seed=9, **options)
    results = list(obfuscator.obfuscate_all(texts, epsilon=EPSILON))
    tally = Tally.over(result.certificate.tally for result in results)
    return results, Certificate.from_dict(Certificate(obfuscator.terms, Budget(EPSILON), tally).as_dict())


def check_same(results, again):
    """Chunks, outcomes and shares are equal, and the noise is not."""
    for first, second in zip(results, again, strict=True):
        assert [(chunk.chunk, chunk.outcome) for chunk in first.chunks] == [
            (chunk.chunk, chunk.outcome) for chunk in second.chunks
        ]
        assert [chunk.share for chunk in first.chunks] == pytest.approx([chunk.share for chunk in second.chunks])
    assert [result.text for result in again] != [result.text for result in results]


@pytest.fixture
def named_copy(minilm, tmp_path):
    """A copy of MiniLM in a folder with another name."""
    return shutil.copytree(minilm, tmp_path / "my-encoder")


@pytest.fixture
def nltk_tagger():
    try:
        return find("nltk-tagger")
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"profile": "paper", "decomposition": "pos"},
        {"profile": "proven"},
        {"largest_share": 4.0},
        {"largest_share": math.inf},
        {"form": "plain"},
        {"profile": "proven", "form": "bare"},
        {"decomposition": "pmi", "distribution": "yake", "stopwords": "perturb"},
        {"distribution": "attention"},
        {"distribution": "gradients", "distribution_options": {"steps": 3}},
        {"distribution": "ic"},
    ],
    ids=str,
)
def test_chunks_shares_and_outcomes_are_the_same(options, minilm):
    results, certificate = obfuscate(**options)
    check_same(results, replay(certificate, TEXTS, bundle="en"))


@pytest.mark.parametrize(
    "budget", [Budget(epsilon_per_word=9.0, length="own"), Budget(epsilon_per_word=9.0, length="average")], ids=str
)
def test_a_budget_per_word_is_replayed(budget):
    obfuscator = Obfuscator(seed=9)
    results = list(obfuscator.obfuscate_all(TEXTS, budget=budget))
    tally = Tally.over(result.certificate.tally for result in results)
    certificate = Certificate(obfuscator.terms, results[0].certificate.budget, tally)
    check_same(results, replay(Certificate.from_dict(certificate.as_dict()), TEXTS, bundle="en"))


def test_options_are_replayed(minilm):
    """Three integration steps give other shares than the default number."""
    results, certificate = obfuscate(distribution="gradients", distribution_options={"steps": 3})
    by_default = replace(
        certificate,
        terms=replace(certificate.terms, distribution={**certificate.terms.distribution, "options": {}}),
    )
    shares = [chunk.share for result in replay(by_default, TEXTS, bundle="en") for chunk in result.chunks]
    assert shares != pytest.approx([chunk.share for result in results for chunk in result.chunks])


def test_the_tagger_is_replayed(nltk_tagger, real_texts):
    texts = real_texts[:5]
    results, certificate = obfuscate(texts, decomposition="pos", decomposition_options={"tagger": "nltk"})
    assert certificate.terms.decomposition["options"] == {"tagger": "nltk"}
    check_same(results, replay(certificate, texts, bundle="en"))


def test_an_encoder_in_a_folder_is_replayed_with_its_folder(named_copy):
    results, certificate = obfuscate(distribution="attention", distribution_options={"model": named_copy})
    assert certificate.terms.distribution["model"]["name"] == "my-encoder"
    check_same(results, replay(certificate, TEXTS, bundle="en", model=named_copy))


def test_an_encoder_in_a_folder_needs_its_folder(named_copy, monkeypatch, tmp_path):
    monkeypatch.chdir(shutil.copytree(tmp_path, tmp_path / "elsewhere", ignore=lambda *_: ["my-encoder"]))
    _, certificate = obfuscate(distribution="attention", distribution_options={"model": named_copy})
    with pytest.raises(ResourceError, match="my-encoder.*set `model` to the folder"):
        replay(certificate, TEXTS, bundle="en")


def test_another_encoder_is_refused(named_copy, make_encoder):
    _, certificate = obfuscate(distribution="attention", distribution_options={"model": named_copy})
    with pytest.raises(ParameterError, match="the my-encoder of the distribution was .*set `model` to the folder"):
        replay(certificate, TEXTS, bundle="en", model=make_encoder())


def test_an_encoder_for_a_distribution_without_one_is_refused(minilm):
    _, certificate = obfuscate()
    with pytest.raises(ParameterError, match="'uniform' uses no encoder. Remove `model`"):
        replay(certificate, TEXTS, bundle="en", model=minilm)


def test_the_tagger_is_rebuilt(nltk_tagger):
    options = {"decomposition": "pos", "decomposition_options": {"tagger": "nltk"}, "largest_share": math.inf}
    results, certificate = obfuscate(**options)
    check_same(results, replay(certificate, TEXTS, bundle="en"))


def test_another_bundle_is_refused(tiny):
    _, certificate = obfuscate()
    with pytest.raises(ParameterError, match="the bundle was .*Set `bundle` to the one"):
        replay(certificate, TEXTS, bundle=tiny)


def test_other_texts_are_refused():
    _, certificate = obfuscate()
    with pytest.raises(InputError, match="belongs to other texts"):
        replay(certificate, ["Other words."], bundle="en")


def test_a_draft_cannot_be_replayed():
    _, certificate = obfuscate(profile="proven", distribution="yake")
    with pytest.raises(InputError, match="depend on the noise of a draft"):
        replay(certificate, TEXTS, bundle="en")


def test_an_obfuscator_is_rebuilt_with_its_draft(tiny):
    drafted = Obfuscator(tiny, profile="proven", draft_share=0.4)
    assert rebuild_obfuscator(drafted.terms, tiny).draft_share == 0.4
