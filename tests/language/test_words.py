import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.corpus.counting.words import END, split_documents
from textveil.language.text import Document
from textveil.language.words import WORD, find_words, fold, spell_ascii, spell_latin

any_text = st.text(st.characters(exclude_categories=()), max_size=200)  # lone surrogates and controls included
odd_text = st.text(st.sampled_from("ab Éİ\u0307ΑΣς.!?\n…’_9²"))
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]


def plain_words(text):
    """The definition: split first, lowercase each word, drop what is then no part of a word."""
    return ["".join(re.findall(r"\w", word.lower())) for word in re.findall(r"\w+", text)]


@given(any_text | odd_text)
def test_documents_counting_and_plain_search_agree(text):
    expected = plain_words(text)
    assert find_words(text) == expected
    assert list(Document.parse(text).words) == expected
    assert split_documents([text]) == [*expected, END]


@pytest.mark.parametrize("text", ["İstanbul'da", "ΟΔΟΣ.Α", "ΑΣ’Β", "Ǆ ﬁne"])
def test_a_word_does_not_depend_on_its_neighbors(text):
    assert find_words(text) == [word for part in WORD.findall(text) for word in find_words(part)] == plain_words(text)


def test_only_the_dotted_capital_i_loses_something_when_it_is_lowercased():
    words = [character for character in CHARACTERS if WORD.match(character)]
    assert [word for word in words if not WORD.fullmatch(word.lower())] == ["İ"]
    assert all(WORD.fullmatch(fold(word)) for word in words)


def test_the_fast_paths_know_every_character_of_theirs():
    for character in CHARACTERS[:256]:
        assert spell_latin(f"A{character}b").split() == plain_words(f"A{character}b")
        if character.isascii():
            assert spell_ascii(f"A{character}b").decode().split() == plain_words(f"A{character}b")


def test_letters_beyond_latin_and_many_symbols_leave_the_fast_path():
    assert spell_latin("Дом") is None
    assert spell_latin("".join(CHARACTERS[0x2190:0x2200])) is None  # arrows: symbols, but too many different ones
    assert spell_latin("tea → cake…") == "tea   cake\n"
