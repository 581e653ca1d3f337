from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.text.test_words import plain_spans, plain_words
from textveil.text.documents import Chunk, Document, spoken

any_text = st.text(st.characters(exclude_categories=()), max_size=200)  # lone surrogates and controls included


@given(any_text)
def test_words_are_those_of_a_plain_search_whatever_the_letters(text):
    document = Document.parse(text)
    assert list(document.words) == plain_words(text)


@given(st.text(st.sampled_from("ab Éİς.!?\n…’_9²")))
def test_pauses_are_counted_in_words_and_in_characters(text):
    document = Document.parse(text)
    places = [offset for offset, character in enumerate(text) if character in ".!?\n…"]
    assert list(document.pause_offsets) == places
    assert list(document.pauses) == [len(plain_spans(text[:place])) for place in places]


def partitions(words: int) -> st.SearchStrategy[list[Chunk]]:
    """Every way of cutting so many words into consecutive chunks."""
    cuts = st.sets(st.integers(1, max(1, words - 1))).map(
        lambda cut: sorted({0, words, *(c for c in cut if c < words)})
    )
    return cuts.map(lambda ends: [Chunk(a, b) for a, b in pairwise(ends)])


@given(any_text, st.data())
def test_nothing_replaced_gives_the_very_same_string(text, data):
    document = Document.parse(text)
    chunks = data.draw(partitions(len(document.words)))
    assert document.assemble(map(document.span, chunks), [None] * len(chunks)) == text
    assert (
        document.assemble(map(document.span, chunks), [None] * len(chunks), write_gap=lambda gap, between: gap) == text
    )


@given(any_text, st.data())
def test_replacing_changes_chunks_and_nothing_else(text, data):
    document = Document.parse(text)
    chunks = data.draw(partitions(len(document.words)))
    replaced = data.draw(st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks)))
    spans = list(map(document.span, chunks))
    result = document.assemble(spans, ["" if yes else None for yes in replaced])
    assert result == document.assemble(
        spans, ["" if yes else None for yes in replaced], write_gap=lambda gap, between: gap
    )
    expected, written = "", 0
    for chunk, yes in zip(chunks, replaced, strict=True):
        start, stop = document.spans[chunk.start][0], document.spans[chunk.stop - 1][1]
        expected += text[written:start] + ("" if yes else text[start:stop])
        written = stop
    assert result == expected + text[written:]


@given(any_text)
def test_words_are_what_the_regular_expression_finds(text):
    document = Document.parse(text)
    assert list(document.spans) == plain_spans(text)
    assert list(document.words) == plain_words(text)


def test_underscores_accents_and_digits_belong_to_words():
    assert Document.parse("Café_Ünal +49-170 שלום 東京").words == ("café_ünal", "49", "170", "שלום", "東京")


def test_a_contraction_is_two_words():
    assert Document.parse("Don't").words == ("don", "t")


def test_key_and_written_form_of_a_chunk():
    document = Document.parse("In  New -York!")
    assert document.key(Chunk(1, 3)) == "new_york"
    assert document.written(Chunk(1, 3)) == "New -York"
    assert Chunk(1, 3).size == 2


def test_gaps_inside_a_replaced_chunk_disappear_and_around_it_stay():
    document = Document.parse("  (New - York)!\n")
    assert document.assemble([document.span(Chunk(0, 2))], ["green tea"]) == "  (green tea)!\n"


def test_gaps_can_be_rewritten():
    document = Document.parse("* New - York* is\tbig!")
    spans = map(document.span, [Chunk(0, 2), Chunk(2, 3), Chunk(3, 4)])
    assert (
        document.assemble(spans, ["tea", None, "hot"], lambda gap, between: f"[{gap}]" if between else "")
        == "tea[* ]is[\t]hot"
    )


def test_entries_are_written_in_lower_case_with_spaces():
    assert spoken("New_York_City") == "new york city"


def test_a_megabyte_without_a_space_is_one_word():
    document = Document.parse("x" * 1_000_000)
    assert document.spans == ((0, 1_000_000),)


def test_a_document_that_is_logged_does_not_reveal_its_text():
    assert repr(Document.parse("Top secret, really.")) == "Document(3 words)"
