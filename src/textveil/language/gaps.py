"""Gaps: the text between words, and what of it may be written without revealing a hidden text."""

from __future__ import annotations

import re
import unicodedata

ORDINARY = frozenset("–—―‘’‚“”„…«»‹›¡¿·•†‡′″§¶°")
"""Punctuation beyond ASCII that English texts use."""

_UNUSUAL = re.compile(r"[^\t\n\r -~]")
_SYMBOL = re.compile(r"[^\w\s]")
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")
_EMOJI = ((0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1FAFF))
"""Blocks of pictures. Letters in boxes and circles, and the letters of flags, are in others."""


def is_emoji(character: str) -> bool:
    """Whether a character is a picture, and not a letter, a mark or an invisible character.

    >>> [is_emoji(character) for character in "🙂☕🅿🇵⠏"]
    [True, True, False, False, False]
    """
    code = ord(character)
    return unicodedata.category(character) == "So" and any(first <= code <= last for first, last in _EMOJI)


def clean_gap(gap: str, *, keep_emoji: bool = False) -> str:
    """The text between two words without symbols, loose marks and invisible characters.

    Spaces, ASCII punctuation and the punctuation of English texts stay. Other spaces become plain ones. Everything else
    could hide a text, so it is dropped.

    >>> clean_gap(" – 🙂\u200b\u2003(", keep_emoji=False)
    ' –  ('
    """

    def clean(found: re.Match[str]) -> str:
        character = found[0]
        if character in ORDINARY or (keep_emoji and is_emoji(character)):
            return character
        return " " if character.isspace() else ""

    return _UNUSUAL.sub(clean, gap)


def is_clean(text: str) -> bool:
    """Whether a text has no character that :func:`clean_gap` could change."""
    return _UNUSUAL.search(text) is None


def count_symbols(gap: str) -> int:
    """The number of characters that are neither space nor punctuation, such as emoji and currency signs.

    >>> count_symbols(" ($) – 🙂!")
    2
    """
    return sum(
        character in _ASCII_SYMBOLS or unicodedata.category(character)[0] not in "PZ"
        for character in _SYMBOL.findall(gap)
    )
