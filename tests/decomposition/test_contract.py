"""What every decomposer promises; a new one is tested by being registered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.decomposition import DECOMPOSERS
from textveil.language.contractions import CONTRACTIONS
from textveil.language.sentences import find_sentences
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Document

any_text = st.text(st.characters(exclude_categories=()), max_size=200)
WORDS = "o clock face news New York City all over the world don t can Mr it was of in a united states film_star".split()
english = st.lists(st.sampled_from([*WORDS, *"'’.!?…,()\n"])).map(" ".join)
texts = any_text | english


@pytest.fixture(params=list(DECOMPOSERS), scope="module")
def decomposer(request, bundle):
    return DECOMPOSERS.load(request.param)(bundle)


@given(text=texts)
def test_chunks_partition_the_words_in_order(decomposer, text):
    document = Document.parse(text)
    (chunks,) = decomposer.decompose([document])
    ends = [0, *(chunk.stop for chunk in chunks)]
    assert [chunk.start for chunk in chunks] == ends[:-1]
    assert ends[-1] == len(document.words)
    assert all(chunk.size > 0 for chunk in chunks)


@given(text=texts)
def test_offsets_lead_back_to_the_text(decomposer, text):
    document = Document.parse(text)
    (chunks,) = decomposer.decompose([document])
    assert document.assemble(map(document.span, chunks), [document.written(chunk) for chunk in chunks]) == text


@given(batch=st.lists(texts, max_size=5))
def test_a_document_has_the_same_chunks_alone_and_among_others(decomposer, batch):
    documents = list(map(Document.parse, batch))
    together = decomposer.decompose(documents)
    assert together == [decomposer.decompose([document])[0] for document in documents]
    assert together == decomposer.decompose(list(map(Document.parse, batch)))


@given(text=texts)
def test_no_chunk_reaches_across_the_end_of_a_sentence(decomposer, text):
    document = Document.parse(text)
    begins = {start for start, _ in find_sentences(document)}
    for chunk in decomposer.decompose([document])[0]:
        assert begins.isdisjoint(range(chunk.start + 1, chunk.stop))


@given(text=texts)
def test_stopwords_stand_at_no_edge_of_a_chunk_but_a_contraction(decomposer, text):
    document = Document.parse(text)
    for chunk in decomposer.decompose([document])[0]:
        words = document.words[chunk.start : chunk.stop]
        if chunk.size > 1 and not ENGLISH.isdisjoint((words[0], words[-1])):
            assert words in CONTRACTIONS


@given(pair=st.tuples(texts, texts))
def test_data_independence_is_true_where_it_is_said(decomposer, pair):
    documents = [Document.parse(text) for text in pair]
    if decomposer.data_independent:
        first, second = decomposer.decompose(documents)
        size = min(len(first), len(second))
        assert first[:size] == second[:size]


def test_nothing_comes_of_nothing(decomposer):
    assert decomposer.decompose([]) == []
    assert decomposer.decompose([Document.parse(""), Document.parse(" ?! ")]) == [[], []]


def test_a_sentence_of_stopwords_has_no_chunk_of_several_words(decomposer):
    document = Document.parse("It was all of it, and in the end it was not for us.")
    assert {chunk.size for chunk in decomposer.decompose([document])[0]} == {1}


def test_the_name_is_the_registered_one(decomposer):
    assert DECOMPOSERS.load(decomposer.name) is type(decomposer)


def test_long_texts_come_to_an_end(decomposer):
    """What would make a splitter read everything again and again, or every pause be looked for again."""
    endless = ("a.b", "word. ", "word\n\n", "? ", ". . ", "Don't. ", "don.\nt don.T ", "don" + "." * 450 + "t ")
    for text in (piece * (100_000 // len(piece)) for piece in endless):
        document = Document.parse(text)
        assert sum(chunk.size for chunk in decomposer.decompose([document])[0]) == len(document.words)
