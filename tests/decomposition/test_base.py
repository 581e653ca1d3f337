import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.bundles.bundle import Bundle
from textveil.errors import BundleError
from textveil.methods.decomposition.base import build_chunks, single_words
from textveil.methods.decomposition.lexicons import LexiconDecomposer
from textveil.methods.decomposition.words import Words
from textveil.text.documents import Chunk, Document


def written(text, expressions):
    document = Document.parse(text)
    return [document.written(chunk) for chunk in build_chunks(document, expressions)]


@pytest.mark.parametrize(
    ("text", "expressions", "chunks"),
    [
        ("", [], []),
        ("I like tea", [], ["I", "like", "tea"]),
        ("I like green tea", [(2, 4)], ["I", "like", "green tea"]),
        ("We don't know", [], ["We", "don't", "know"]),
        ("We don't know", [(2, 4)], ["We", "don", "t know"]),  # the expression has half of the contraction
        ("Ask Don. T is next", [], ["Ask", "Don", "T", "is", "next"]),  # a sentence ends in between
        ("he can't, I can't", [(0, 1)], ["he", "can't", "I", "can't"]),
    ],
)
def test_chunks_are_expressions_contractions_and_single_words(text, expressions, chunks):
    assert written(text, expressions) == chunks


@given(st.integers(0, 5000), st.integers(0, 20))
def test_single_words_are_the_same_beyond_those_that_are_made_at_once(start, size):
    assert single_words(start, start + size) == [Chunk(place, place + 1) for place in range(start, start + size)]


def test_a_bundle_without_the_lexicon_is_refused(tiny):
    class Collocations(LexiconDecomposer):
        name = "pmi"

    with pytest.raises(BundleError, match="no lexicon for 'pmi'"):
        Collocations(tiny)


def test_a_lexicon_decomposer_takes_the_longest_expression():
    class Collocations(LexiconDecomposer):
        name = "pmi"

    document = Document.parse("It was a box office hit.")
    (chunks,) = Collocations(Bundle.load("en")).decompose([document])
    assert [document.written(chunk) for chunk in chunks] == ["It", "was", "a", "box office hit"]


def test_every_word_is_a_chunk(tiny):
    (chunks,) = Words(tiny).decompose([Document.parse("Don't live in New York!")])
    assert chunks == [Chunk(place, place + 1) for place in range(6)]


def test_chunks_depend_on_the_number_of_words_alone(tiny):
    words = Words(tiny)
    assert words.data_independent
    first, second = words.decompose([Document.parse("one two three"), Document.parse("New York City")])
    assert first == second


def test_nothing_else_decides(tiny):
    assert Words(tiny).versions == {}
    assert Words(tiny).as_dict() == {"name": "words", "options": {}, "model": None}
