import os
import re
from pathlib import Path

import pytest

from scripts.conll import Agreement, read_conll, tag_sentences
from tests.decomposition.test_collocations import split
from textveil import resources
from textveil.errors import ResourceError, UnknownNameError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.text.tagging import PerceptronTagger, load_phrase_tagger

NLTK_DATA = Path(os.environ.get("NLTK_DATA", Path(__file__).parents[3] / "shared/nltk_data"))
CONLL = NLTK_DATA / "corpora/conll2000"
TAGGER = NLTK_DATA / "taggers/averaged_perceptron_tagger_eng"


@pytest.fixture(scope="module")
def decomposer(bundle):
    return DECOMPOSERS.load("pos")(bundle)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He lives in New York City.", ["he", "lives", "in", "new york city"]),
        ("We don't and can't.", ["we", "don t", "and", "can t"]),
        ("It was out of the question.", ["it", "was", "out", "of", "the", "question"]),
        ("He is known all over the world.", ["he", "is", "known", "all", "over", "the", "world"]),
        ("The old waiter was rude.", ["the", "old waiter", "was", "rude"]),
        ("She saw the big. Dog is here.", ["she", "saw", "the", "big", "dog", "is", "here"]),
        ("They own the same old house.", ["they", "own", "the", "same", "old house"]),  # "same" is a stopword
    ],
)
def test_examples_by_hand(decomposer, text, expected):
    assert split(decomposer, [text]) == [expected]


def test_phrases_may_be_long(decomposer):
    sizes = {len(chunk.split()) for chunk in split(decomposer, ["The big old red brick house stands."])[0]}
    assert max(sizes) >= 4


@pytest.mark.skipif(not CONLL.exists(), reason="CoNLL-2000 is not at hand")
def test_the_tables_are_as_good_as_the_docs_say_and_better_than_nltks_own_tagger():
    sentences = read_conll(CONLL / "test.txt")
    ours = load_phrase_tagger("textveil")
    agreement = Agreement.of(sentences, tag_sentences(ours, sentences))
    assert agreement.words == 42_941
    assert agreement.tag_accuracy == pytest.approx(0.9393, abs=1e-4)
    assert agreement.chunk_f1 == pytest.approx(0.7662, abs=1e-4)
    nltks = ours.with_tagger(PerceptronTagger.load_nltk(TAGGER))
    other = Agreement.of(sentences, tag_sentences(nltks, sentences))
    assert other.tag_accuracy == pytest.approx(0.8038, abs=1e-4)
    assert other.chunk_f1 == pytest.approx(0.7224, abs=1e-4)


@pytest.mark.skipif(not TAGGER.exists(), reason="NLTK's tagger is not at hand")
def test_nltks_own_tagger_can_be_chosen(bundle, monkeypatch):
    monkeypatch.setenv(resources.RESOURCES["nltk-tagger"].variable, str(TAGGER))
    load_phrase_tagger.cache_clear()
    nltks = DECOMPOSERS.load("pos")(bundle, tagger="nltk")
    assert nltks.as_dict()["options"] == {"tagger": "nltk"}
    assert re.fullmatch("[0-9a-f]{64}", nltks.as_dict()["model"]["sha256"])
    assert re.fullmatch(r"pos \(nltk-tagger [0-9a-f]{12}, tagger nltk\)", nltks.description)
    assert split(nltks, ["The old waiter was rude."]) == [["the", "old waiter", "was", "rude"]]
    load_phrase_tagger.cache_clear()


def test_nltks_own_tagger_is_a_resource(bundle, monkeypatch):
    monkeypatch.setattr("textveil.resources.lookup._candidates", lambda resource: iter(()))
    monkeypatch.delenv(resources.RESOURCES["nltk-tagger"].variable, raising=False)
    load_phrase_tagger.cache_clear()
    with pytest.raises(ResourceError, match="textveil resources install nltk-tagger"):
        DECOMPOSERS.load("pos")(bundle, tagger="nltk")


def test_another_tagger(bundle):
    with pytest.raises(UnknownNameError, match="Did you mean 'nltk'"):
        DECOMPOSERS.load("pos")(bundle, tagger="nlkt")


def test_our_tagger_is_not_named_in_certificates(decomposer):
    assert decomposer.description == "pos"
