import numpy as np
import pytest

from textveil.errors import ResourceError
from textveil.methods.distribution.keybert import KeyBERT
from textveil.text.documents import Document


def parse(texts):
    return list(map(Document.parse, texts))


@pytest.fixture(scope="module")
def distributor(minilm):
    return KeyBERT(model=minilm)


def test_it_is_what_keybert_gives(distributor, minilm, real_texts):
    import keybert
    from sentence_transformers import SentenceTransformer
    from sklearn.feature_extraction.text import CountVectorizer

    plain = keybert.KeyBERT(SentenceTransformer(str(minilm)))
    documents = parse(
        ["word", "The naïve waiter was naïve!", *(" ".join(text.split()[:60]) for text in real_texts[:4])]
    )
    for document, row in zip(documents, distributor.score(documents), strict=True):
        vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w+\b")  # noqa: S106
        expected = dict(plain.extract_keywords(document.text, vectorizer=vectorizer, top_n=1000))
        assert row == pytest.approx([expected[word] for word in document.words], abs=2e-4)  # it rounds to four digits


def test_cosines_are_those_of_the_plain_library(distributor, minilm, real_texts):
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(minilm), device="cpu")
    documents = parse([" ".join(text.split()[:60]) for text in real_texts[4:7]])
    for document, row in zip(documents, distributor.compare(documents), strict=True):
        text, *words = plain.encode([document.text, *document.words], normalize_embeddings=True)
        assert np.abs(row - np.array(words) @ text).max() <= 1e-5


def test_words_of_earlier_documents_are_not_embedded_again(minilm):
    distributor = KeyBERT(model=minilm)
    first = distributor.score(parse(["The soup was cold."]))
    calls = []
    embed = distributor.encoder.embed
    distributor.encoder.embed = lambda texts: calls.append(list(texts)) or embed(texts)
    assert distributor.score(parse(["Cold was the soup!", "The soup was cold."]))[1] == first[0]
    assert calls == [["Cold was the soup!", "The soup was cold."]]


def test_nothing_to_score(distributor):
    assert distributor.score([]) == []
    assert distributor.score(parse(["", "..."])) == [[], []]


def test_a_long_text_is_not_cut(distributor):
    # Past the 256 tokens that the model reads at a time, it has another subject.
    beginning = "the cook made a fine soup with onions and bread " * 40
    document = Document.parse(beginning + "the rocket flew to the moon and the planets " * 40)
    (scores,) = distributor.score([document])
    found = dict(zip(document.words, scores, strict=True))
    (cut,) = distributor.score([Document.parse(beginning + "rocket")])
    assert found["rocket"] > cut[-1] + 0.1


def test_a_broken_encoder(make_encoder):
    with pytest.raises(ResourceError, match="returns values that are not finite"):
        KeyBERT(model=make_encoder(weights=float("nan"))).score(parse(["some words"]))


def test_a_folder_without_an_encoder(tmp_path):
    with pytest.raises(ResourceError, match="has no readable encoder"):
        KeyBERT(model=tmp_path).score(parse(["some words"]))
