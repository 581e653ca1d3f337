"""What every decomposer promises; a new one is tested by being registered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.methods.decomposition import DECOMPOSERS
from textveil.testing.checks import run_check
from textveil.testing.methods import ON_TEXTS, list_decomposer_checks
from textveil.text.documents import Document

any_text = st.text(st.characters(exclude_categories=()), max_size=200)
WORDS = "o clock face news New York City all over the world don t can Mr it was of in a united states film_star".split()
english = st.lists(st.sampled_from([*WORDS, *"'’.!?…,()\n"])).map(" ".join)
texts = any_text | english


@pytest.fixture(params=list(DECOMPOSERS), scope="module")
def decomposer(request, bundle):
    return DECOMPOSERS.load(request.param)(bundle)


def test_the_whole_contract(decomposer, bundle):
    for check in list_decomposer_checks(type(decomposer), bundle):
        check()


@given(batch=st.lists(texts, max_size=4))
def test_the_contract_for_any_text(decomposer, batch):
    for check in ON_TEXTS:
        run_check(decomposer, check, decomposer, batch)


def test_a_sentence_of_stopwords_has_no_chunk_of_several_words(decomposer):
    document = Document.parse("It was all of it, and in the end it was not for us.")
    assert {chunk.size for chunk in decomposer.decompose([document])[0]} == {1}


def test_the_name_is_the_registered_one(decomposer):
    assert DECOMPOSERS.load(decomposer.name) is type(decomposer)
