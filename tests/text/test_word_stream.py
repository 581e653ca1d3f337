import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.text.documents import Document
from textveil.text.matching import WordStream
from textveil.text.sentences import find_sentences
from textveil.text.stopwords import ENGLISH

texts = st.lists(
    st.lists(st.sampled_from(["tea", "the", "of", "Mr", "York", ". ", "! ", "\n\n", ", ", " "]), max_size=20).map(
        " ".join
    ),
    max_size=5,
)


def parse(texts):
    return list(map(Document.parse, texts))


@given(texts)
def test_an_empty_word_follows_every_document(texts):
    documents = parse(texts)
    stream = WordStream(documents)
    words = list(stream)
    assert len(words) == len(stream)
    assert stream.edges[0] == 0
    for document, start, stop in zip(documents, stream.edges, stream.edges[1:], strict=False):
        assert words[start:stop] == [*document.words, ""]


@given(texts)
def test_pauses_are_marked_at_the_words_that_follow_them(texts):
    documents = parse(texts)
    stream = WordStream(documents)
    marks = stream.mark_pauses()
    for document, start in zip(documents, stream.edges, strict=False):
        for position in range(len(document.words)):
            assert marks[start + position] == document.pauses_before(position)


@given(texts)
def test_stopwords_are_marked(texts):
    stream = WordStream(parse(texts))
    assert stream.mark_stopwords().tolist() == [word in ENGLISH for word in stream]


@given(texts)
def test_a_word_begins_the_same_sentence_in_the_stream_as_in_its_document(texts):
    documents = parse(texts)
    stream = WordStream(documents)
    positions, expected = [], []
    for document, start in zip(documents, stream.edges, strict=False):
        begun = {first for first, _ in find_sentences(document)}
        for pause in sorted(set(document.pauses) - {0, len(document.words)}):
            positions.append(start + pause)
            expected.append(pause in begun)
    assert stream.begin_sentences(positions) == expected


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, 5, [(1, 5)]),  # the end of the world: one stopword in front, two inside
        (1, 8, [(1, 5)]),  # end of the world is of the: three stopwords at the end
        (0, 3, []),  # the end of: one word remains
        (2, 4, []),  # of the: nothing but stopwords
        (4, 5, []),  # a single word is not an expression
    ],
)
def test_stopwords_are_stripped_from_both_edges(start, stop, expected):
    stream = WordStream([Document.parse("the end of the world is of the past")])
    assert stream.split(np.array([start]), np.array([stop]), stream.mark_stopwords()) == [expected]


def test_expressions_are_counted_from_the_start_of_their_own_document():
    stream = WordStream(parse(["green tea", "", "of the", "more green tea"]))
    starts, stops = np.array([0, 4, 8]), np.array([2, 6, 10])
    assert stream.split(starts, stops, stream.mark_stopwords()) == [[(0, 2)], [], [], [(1, 3)]]


def test_no_documents_are_an_empty_stream():
    stream = WordStream([])
    assert (len(stream), list(stream)) == (0, [])
    assert stream.split(np.array([], dtype=int), np.array([], dtype=int), stream.mark_stopwords()) == []
