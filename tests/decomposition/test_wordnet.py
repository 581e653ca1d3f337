import pytest

from tests.decomposition.conftest import draw_texts
from tests.decomposition.plain import decompose_plainly, in_wordnet, read_wordnet, remember
from tests.decomposition.test_collocations import split
from textveil import resources
from textveil.errors import ResourceError
from textveil.lab.corpus.wordnet import list_expressions
from textveil.methods.decomposition import DECOMPOSERS


@pytest.fixture(scope="module")
def folder():
    try:
        return resources.find("wordnet")
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def reader(folder):
    return read_wordnet(folder)


@pytest.fixture(scope="module")
def decomposer(bundle):
    return DECOMPOSERS.load("wordnet")(bundle)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])  # NLTK is asked about each n-gram
def test_the_chunks_of_real_texts_are_those_of_a_loop_over_synsets(decomposer, reader, real_texts, every):
    texts = real_texts[::every]
    found = split(decomposer, texts)
    is_entry = remember(in_wordnet(reader))
    assert found == [decompose_plainly(text, is_entry) for text in texts]
    assert sum(" " in chunk for chunks in found for chunk in chunks) > 8_000 / every


def test_the_chunks_of_drawn_texts_are_those_of_a_loop_over_synsets(decomposer, reader, bundle):
    texts = draw_texts(bundle, "wordnet")
    texts += [text.replace(" ", "_", 3) for text in texts[:100]]
    found = split(decomposer, texts)
    assert found == [decompose_plainly(text, in_wordnet(reader)) for text in texts]


def test_the_shipped_lexicon_is_that_of_the_resource(bundle, folder):
    assert sorted(bundle.lexicon("wordnet").spelled) == list_expressions(folder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("New York City", ["new york city"]),
        ("the United States of America", ["the", "united states of america"]),
        ("bases on balls, not men-of-war", ["bases on balls", "not", "men", "of", "war"]),  # an exception; hyphens
        ("he was taking off his hat", ["he", "was", "taking", "off", "his", "hat"]),  # morphology is for the last word
        ("two hot dogs", ["two", "hot dogs"]),
        ("we don't and can't", ["we", "don t", "and", "can t"]),
        ("all over the world", ["all", "over", "the", "world"]),
        ("out of the question", ["out", "of", "the", "question"]),
        ("a hot. Dog", ["a", "hot", "dog"]),
        ("new_york city", ["new_york city"]),
        ("nine o'clock face", ["nine", "o", "clock face"]),  # no contraction overlaps an expression
        ("at nine o'clock", ["at", "nine", "o clock"]),
        ("ice_cream", ["ice_cream"]),
    ],
)
def test_examples_by_hand(decomposer, text, expected):
    assert split(decomposer, [text]) == [expected]
