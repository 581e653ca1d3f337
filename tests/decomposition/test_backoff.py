import pytest

from textveil.planning import back_off
from textveil.text.documents import Chunk, Document

STOPWORDS = {"of", "the", "a"}


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("new york city", {"new_york", "york_city", "city"}, ["new york", "city"]),
        ("new york city", {"york_city"}, ["new", "york city"]),
        ("new york city", set(), ["new", "york", "city"]),
        ("cup of tea", {"cup_of"}, ["cup", "of", "tea"]),  # no stopword at an edge
        ("king of the hill", {"king_of_the_hill", "king"}, ["king of the hill"]),
        ("the green tea", {"the_green", "green_tea"}, ["the", "green tea"]),
        ("xyzzy", set(), ["xyzzy"]),
    ],
)
def test_the_longest_known_sub_chunks_are_taken(text, known, expected):
    document = Document.parse(text)
    whole = Chunk(0, len(document.words))
    parts = back_off(document, whole, known=known, longest=4, stopwords=STOPWORDS)
    assert [document.written(part) for part in parts] == expected


def test_only_the_chunk_is_split():
    document = Document.parse("one two three four")
    assert back_off(document, Chunk(1, 3), known={"two_three_four"}, longest=3, stopwords=()) == [
        Chunk(1, 2),
        Chunk(2, 3),
    ]


def test_no_more_words_are_tried_than_the_longest_entry_has():
    document = Document.parse("a b c d")
    parts = back_off(document, Chunk(0, 4), known={"a_b", "a_b_c"}, longest=2, stopwords=())
    assert parts == [Chunk(0, 2), Chunk(2, 3), Chunk(3, 4)]
