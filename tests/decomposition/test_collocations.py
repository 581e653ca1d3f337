import pytest

from tests.decomposition.conftest import draw_texts
from tests.decomposition.plain import decompose_plainly, in_lexicon
from textveil.errors import BundleError, ParameterError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.text.documents import Document

MEASURES = ("pmi", "llr", "tscore")


def split(decomposer, texts):
    documents = list(map(Document.parse, texts))
    return [
        [" ".join(document.words[chunk.start : chunk.stop]) for chunk in chunks]
        for document, chunks in zip(documents, decomposer.decompose(documents), strict=True)
    ]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_chunks_of_real_texts_are_those_of_the_plain_algorithm(bundle, real_texts, measure):
    is_entry = in_lexicon(bundle.lexicon(measure).spelled)
    found = split(DECOMPOSERS.load(measure)(bundle), real_texts)
    assert found == [decompose_plainly(text, is_entry) for text in real_texts]
    assert sum(" " in chunk for chunks in found for chunk in chunks) > 5_000


@pytest.mark.parametrize("measure", MEASURES)
def test_the_chunks_of_drawn_texts_are_those_of_the_plain_algorithm(bundle, measure):
    texts = draw_texts(bundle, measure)
    is_entry = in_lexicon(bundle.lexicon(measure).spelled)
    found = split(DECOMPOSERS.load(measure)(bundle), texts)
    assert found == [decompose_plainly(text, is_entry) for text in texts]
    assert sum(" " in chunk for chunks in found for chunk in chunks) > 100


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("People all over the world know.", ["people", "all", "over", "the", "world", "know"]),
        ("He lives in New York City.", ["he", "lives", "in", "new york city"]),
        ("We don't and can't.", ["we", "don t", "and", "can t"]),
        ("It was out of the question.", ["it", "was", "out", "of", "the", "question"]),
        ("I saw New York. City people left.", ["i", "saw", "new york", "city", "people", "left"]),
        ("He is new. York is old.", ["he", "is", "new", "york", "is", "old"]),
        ("Let's err, won’t we", ["let s", "err", "won t", "we"]),
    ],
)
def test_examples_by_hand(bundle, measure, text, expected):
    assert split(DECOMPOSERS.load(measure)(bundle), [text]) == [expected]


def test_the_research_code_spells_it_otherwise():
    assert DECOMPOSERS.load("t_score") is DECOMPOSERS.load("tscore")


def test_a_bundle_without_the_lexicon(tiny):
    with pytest.raises(BundleError, match="no lexicon for 'pmi'. It has: none"):
        DECOMPOSERS.load("pmi")(tiny)


def test_there_is_no_tagger_to_choose(bundle):
    with pytest.raises(ParameterError, match="decomposition 'pmi' has no options. Got `tagger`"):
        DECOMPOSERS.load("pmi")(bundle, tagger="nltk")
