import re
import sys
import unicodedata
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.lab.corpus.counting.words import END, split_documents
from textveil.text.documents import Document
from textveil.text.words import WORD, find_spans, find_words, fold, has_word, spell_ascii, spell_latin

any_text = st.text(st.characters(exclude_categories=()), max_size=200)  # lone surrogates and controls included
odd_text = st.text(st.sampled_from("ab Éİ\u0307ΑΣς.!?\n…’_9²ⓟ⒫Ｐ\u00ad\u200d\u0363ﬁ½µ™🅿🇵⠏"))
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]


def normal(text):
    return unicodedata.normalize("NFKC", text)


@lru_cache(1024)
def is_word(character):
    return re.search(r"\w", normal(character)) is not None


def plain_spans(text):
    """The definition, character by character."""
    spans, start = [], None
    for place, character in enumerate([*text, " "]):
        extends = unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
        if start is None and is_word(character):
            start = place
        elif start is not None and not is_word(character) and not extends:
            spans.append((start, place))
            start = None
    return spans


def plain_words(text):
    return ["".join(re.findall(r"\w", normal(normal(text[a:b]).lower()))) for a, b in plain_spans(text)]


@given(any_text | odd_text)
def test_documents_counting_and_the_plain_definition_agree(text):
    expected = plain_words(text)
    assert find_spans(text) == plain_spans(text)
    assert find_words(text) == expected
    assert list(Document.parse(text).words) == expected
    assert split_documents([text]) == [*expected, END]
    assert has_word(text) == bool(expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("İstanbul'da", ["istanbul", "da"]),
        ("ΟΔΟΣ.Α", ["οδος", "α"]),
        ("ⓟⓐⓢⓢ ⒫⒜ ｐａｓｓ 𝓹𝓪𝓼𝓼", ["pass", "pa", "pass", "pass"]),
        ("in\u00adfor\u200bmation", ["information"]),
        ("cafe\u0301", ["café"]),
        ("ﬁne m² ½", ["fine", "m2", "12"]),
        ("हिन्दी สวัสดี", ["हनद", "สวสด"]),  # vowel signs belong to their words, whose form lacks them
        ("🅿🅰 🇵🇦 ⠏⠁ 🙂", []),
    ],
)
def test_words_in_disguise(text, words):
    assert find_words(text) == words


def test_the_form_of_every_word_character_is_a_word_and_final():
    for character in filter(is_word, CHARACTERS):
        form = fold(character)
        assert WORD.fullmatch(form), hex(ord(character))
        assert fold(form) == form, hex(ord(character))


def test_the_fast_paths_know_every_character_of_theirs():
    for character in CHARACTERS[:256]:
        text = f"A{character}b"
        latin = spell_latin(text)
        assert (plain_words(text) if latin is None else latin.split()) == plain_words(text)
        if character.isascii():
            assert spell_ascii(text).decode().split() == latin.split() == plain_words(text)


def test_letters_beyond_latin_and_many_symbols_leave_the_fast_path():
    assert spell_latin("Дом") is None
    assert spell_latin("m²") is None  # its form is m2
    assert spell_latin("soft\u00adly") is None
    assert spell_latin("".join(CHARACTERS[0x2190:0x2200])) is None  # arrows: symbols, but too many different ones
    assert spell_latin("tea → cake…") == "tea   cake\n"
