from textveil.methods.decomposition.words import Words
from textveil.text.documents import Chunk, Document


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
