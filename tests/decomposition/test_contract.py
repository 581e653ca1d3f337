"""What every decomposer promises; a new one is tested by being registered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.bundle import Bundle
from textveil.decomposition import DECOMPOSERS
from textveil.text import Chunk, Document

any_text = st.text(st.characters(exclude_categories=()), max_size=200)


@pytest.fixture(params=list(DECOMPOSERS), scope="module")
def decomposer(request):
    return DECOMPOSERS.load(request.param)(Bundle.load())


@given(text=any_text)
def test_chunks_partition_the_words_in_order(decomposer, text):
    document = Document.parse(text)
    chunks = decomposer.decompose(document)
    ends = [0, *(chunk.stop for chunk in chunks)]
    assert [chunk.start for chunk in chunks] == ends[:-1]
    assert ends[-1] == len(document.words)
    assert all(chunk.size > 0 for chunk in chunks)


@given(text=any_text)
def test_the_same_text_gives_the_same_chunks(decomposer, text):
    assert decomposer.decompose(Document.parse(text)) == decomposer.decompose(Document.parse(text))


@given(texts=st.tuples(any_text, any_text))
def test_data_independence_is_true_where_it_is_said(decomposer, texts):
    documents = [Document.parse(text) for text in texts]
    size = min(len(document.words) for document in documents)
    cut = [Document(document.text, document.spans[:size], document.words[:size]) for document in documents]
    if decomposer.data_independent:
        assert decomposer.decompose(cut[0]) == decomposer.decompose(cut[1])


def test_the_name_is_the_registered_one(decomposer):
    assert DECOMPOSERS.load(decomposer.name) is type(decomposer)


def test_words_has_a_chunk_per_word(tiny):
    words = DECOMPOSERS.load("words")(tiny)
    assert words.data_independent
    assert words.decompose(Document.parse("Don't go.")) == [Chunk(0, 1), Chunk(1, 2), Chunk(2, 3)]
