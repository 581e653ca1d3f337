import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.text.documents import ORDINARY, clean_gap, count_symbols, is_clean, is_emoji
from textveil.text.words import has_word

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
