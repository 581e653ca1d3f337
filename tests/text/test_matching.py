import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decomposition.plain import decompose_plainly, in_lexicon
from textveil.methods.decomposition.base import build_chunks
from textveil.text.documents import Document
from textveil.text.matching import NgramIndex

words = st.sampled_from(["red", "green", "tea", "new", "york", "of", "the", "t", "don"])
ngrams = st.sets(st.lists(words, min_size=2, max_size=4).map(" ".join), min_size=1, max_size=40)
texts = st.lists(
    st.tuples(words, st.sampled_from([" ", " ", " ", ". ", ".", "! ", "\n\n", ", ", "'"])), max_size=60
).map(lambda pairs: "".join(word.title() + gap if gap == "! " else word + gap for word, gap in pairs))


def found(index: NgramIndex, text: str) -> list[str]:
    document = Document.parse(text)
    return [" ".join(document.words[start:stop]) for start, stop in index.find([document])[0]]


@given(ngrams=ngrams, texts=st.lists(texts, max_size=6))
def test_the_chunks_are_those_of_the_plain_algorithm(ngrams, texts):
    index, is_entry = NgramIndex.of(ngrams), in_lexicon(ngrams)
    documents = list(map(Document.parse, texts))
    for document, expressions in zip(documents, index.find(documents), strict=True):
        chunks = [" ".join(document.words[chunk.start : chunk.stop]) for chunk in build_chunks(document, expressions)]
        assert chunks == decompose_plainly(document.text, is_entry)


@given(ngrams=ngrams)
def test_an_index_spells_the_ngrams_that_it_was_built_from(ngrams):
    index = NgramIndex.of(ngrams)
    assert index.spelled == ngrams
    assert len(index) == len(ngrams)
    again = NgramIndex(index.words, index.ngrams)
    assert again.spelled == ngrams


@pytest.mark.parametrize(
    ("ngrams", "text", "expected"),
    [
        (["new york", "new york city"], "New York City", ["new york city"]),
        (["new york", "york city hall"], "New York City Hall", ["new york"]),  # from left to right
        (["a new york city", "new york"], "a new york town", ["new york"]),  # a prefix is not a match
        (["green tea", "tea time"], "green tea time", ["green tea"]),
        (["green tea"], "green. Tea", []),  # a sentence ends
        (["green tea"], "green\n\ntea", []),
        (["mr smith"], "Mr. Smith", ["mr smith"]),  # an abbreviation does not end a sentence
        (["green tea cup", "green tea"], "Have green tea. Cup it.", ["green tea"]),  # a sentence ends inside
        (["one two three four"], "One, two - three (four)!", ["one two three four"]),
        (["cup of", "cup of tea"], "cup of milk", []),  # only one word remains without the stopword
        (["all over the world"], "all over the world", []),
        (["end of the world"], "the end of the world", ["end of the world"]),
        (["q r", "of the"], "of the q r", ["q r"]),
    ],
)
def test_the_longest_from_left_to_right(ngrams, text, expected):
    assert found(NgramIndex.of(ngrams), text) == expected


def test_no_ngram_crosses_into_the_next_document():
    index = NgramIndex.of(["green tea"])
    assert index.find([Document.parse("green"), Document.parse("tea"), Document.parse("green tea")]) == [
        [],
        [],
        [(0, 2)],
    ]


def test_words_with_underscores_are_words():
    index = NgramIndex.of(["new york city", "new_york city"])
    assert found(index, "new_york city") == ["new_york city"]
    plain = NgramIndex.of(["new york city"])
    assert found(plain, "new_york city") == []
    assert plain.find_joined(Document.parse("a new_york city and new york city")) == [(1, 3), (4, 7)]


def test_a_large_index_finds_all_and_only_its_ngrams():
    pairs = [f"w{first} w{second}" for first in range(200) for second in range(0, 400, 2)]
    index = NgramIndex.of(pairs)
    there, not_there = (Document.parse(". ".join(f"w{n} w{n * 2 + odd}" for n in range(200))) for odd in (0, 1))
    assert len(index.find([there])[0]) == 200
    assert index.find([not_there]) == [[]]
