import subprocess
import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.test_words import plain_spans, plain_words
from textveil.text.documents import (
    ORDINARY,
    Chunk,
    Document,
    _parse_long,
    _parse_short,
    clean_gap,
    count_symbols,
    is_clean,
    is_emoji,
    spoken,
)
from textveil.text.words import has_word

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


mixed_text = st.text(st.sampled_from("ab Éİς.!?\n…’_9²я\u0301\u200b\xad\x85\xa0ⓟ"))


@given(any_text | mixed_text)
def test_a_long_text_is_parsed_like_a_short_one(text):
    assert _parse_long(text) == _parse_short(text)


def test_documents_can_be_compared_and_hashed():
    assert {Document.parse("One. Two."), Document.parse("One. Two.")} == {Document.parse("One. Two.")}


def test_a_text_of_pauses_needs_little_memory():
    program = """
import resource
from textveil.text.documents import Document
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
document = Document.parse(". " * 5_000_000)
assert len(document.pauses) == 5_000_000
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300, "MiB for 10 MB of text"


PRINTABLE = frozenset("\t\n\r" + "".join(map(chr, range(0x20, 0x7F))))
HIDING = ("So", "Sk", "Sm", "Sc", "Mn", "Mc", "Me", "Cf", "Cc", "Co", "Cn", "Cs")
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]


def test_every_character_that_is_written_is_printable_ascii_or_ordinary_punctuation():
    written = {character for gap in map(clean_gap, CHARACTERS) for character in gap}
    assert written == PRINTABLE | ORDINARY


def test_nothing_that_could_hide_a_text_is_written():
    for character in CHARACTERS:
        if not character.isascii() and unicodedata.category(character) in HIDING and character not in ORDINARY:
            assert clean_gap(character) in ("", " ")


def test_spaces_become_plain_spaces():
    assert clean_gap("a\u2003b\u00a0c\u3000d\x0be") == "a b c d e"
    assert clean_gap(" \t\r\n") == " \t\r\n"


def test_ordinary_punctuation_is_not_a_letter_in_disguise():
    assert not any(has_word(character) for character in ORDINARY)


def test_emoji_are_kept_on_request_and_what_could_spell_is_not():
    assert clean_gap(" 🙂☕❤️👍🏽! ", keep_emoji=True) == " 🙂☕❤👍! "  # without selectors and skin tones
    letters = "🅿🄿ⓟ⒫🇵⠏\U000e0070\u0363\ufe0f"
    assert clean_gap(letters, keep_emoji=True).translate({ord(c): None for c in "ⓟ⒫🄿"}) == ""
    assert not any(map(is_emoji, letters))


@given(st.text(st.characters(exclude_categories=())))
def test_cleaning_is_final_and_clean_text_is_left_alone(gap):
    assert clean_gap(clean_gap(gap)) == clean_gap(gap)
    if is_clean(gap):
        assert clean_gap(gap) == gap


@pytest.mark.parametrize(
    ("gap", "symbols"),
    [(" , — “” ( ) ", 0), (" $ + < = > ^ ` | ~ ", 9), (" 🙂🙂€ ", 3), ("\U000e0073\x1b", 2), ("\r\n\t\u00a0", 0)],
)
def test_symbols_are_neither_space_nor_punctuation(gap, symbols):
    assert count_symbols(gap) == symbols
