import re

import pytest

from tests.decomposition.plain import read_wordnet
from tests.distribution.plain import inform_plainly, read_counts
from textveil.errors import ResourceError, UnknownNameError
from textveil.methods.distribution.information import WITHOUT_SENSE, InformationContent
from textveil.resources import RESOURCES, find
from textveil.text.documents import Document


@pytest.fixture(scope="module")
def distributor():
    try:
        return InformationContent()
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def plain(distributor):
    """The plain loop over NLTK's Lesk, with the parts of speech that our tagger tells."""
    reader, counts = read_wordnet(find("wordnet")), read_counts(find("wordnet-ic"))
    return lambda document: inform_plainly(reader, counts, document, distributor.tell_parts([document]))


def fill(distributor, documents):
    """Scores by the paper's rule: a word without a sense has 1."""
    return [[distributor.unscored if score is None else score for score in row] for row in distributor.score(documents)]


def test_it_is_what_a_loop_over_nltks_lesk_gives(distributor, plain, real_texts):
    documents = [Document.parse(text) for text in [*real_texts[:6], *real_texts[-6:]]]
    assert fill(distributor, documents) == [pytest.approx(plain(document), rel=1e-12) for document in documents]


@pytest.mark.slow
def test_it_is_what_a_loop_over_nltks_lesk_gives_for_many(distributor, plain, real_texts):
    documents = [Document.parse(text) for text in real_texts[:250] + real_texts[-250:]]
    assert fill(distributor, documents) == [pytest.approx(plain(document), rel=1e-12) for document in documents]


def test_the_context_chooses_the_sense(distributor):
    texts = [
        "They pulled the canoe up on the bank sloping land beside a body of water",
        "The bank that accepts deposits",
    ]
    banks = [
        dict(zip(document.words, *distributor.score([document]), strict=True))["bank"]
        for document in map(Document.parse, texts)
    ]
    assert banks[0] != banks[1]


def test_what_has_no_sense_or_no_counts(distributor):
    document = Document.parse("the xyzzy 1999 beautiful café_42")
    assert distributor.score([document]) == [[None] * 5]
    assert distributor.unscored == WITHOUT_SENSE == 1.0


def test_a_rare_word_has_more_content_than_a_common_one(distributor):
    document = Document.parse("the aardvark and the thing")
    scores = dict(zip(document.words, *distributor.score([document]), strict=True))
    assert scores["aardvark"] > scores["thing"] > WITHOUT_SENSE


@pytest.mark.parametrize("name", ["wordnet", "wordnet-ic"])
def test_what_is_not_installed(monkeypatch, name, distributor):
    monkeypatch.setenv(RESOURCES[name].variable, "/nowhere")
    with pytest.raises(ResourceError, match=RESOURCES[name].variable):
        InformationContent()


def test_another_tagger(distributor):
    assert re.fullmatch(r"ic \(wordnet [0-9a-f]{12}\)", distributor.description)
    with pytest.raises(UnknownNameError, match="Did you mean 'nltk'"):
        InformationContent(tagger="nlkt")
