r"""Words: the one definition that documents, counting, name finding and attackers share.

A word is a maximal run of ``\w``. Texts are split first; then each word is lowercased on its own.
"""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")
PAUSE = re.compile(r"[.!?\u2026\n]")
"""A character that may end a sentence."""


def fold(word: str) -> str:
    """The lowercase form of a word, which is a word again.

    The lowercase of "İ" is an i with a loose dot above it; the dot is not part of a word, so it is dropped.

    >>> fold("Tea"), fold("İstanbul")
    ('tea', 'istanbul')
    """
    lowered = word.lower()
    return lowered if "İ" not in word else "".join(WORD.findall(lowered))


def find_words(text: str) -> list[str]:
    """The words of a text, in lowercase.

    >>> find_words("Don't panic, İstanbul!")
    ['don', 't', 'panic', 'istanbul']
    """
    latin = spell_latin(text)
    return list(map(fold, WORD.findall(text))) if latin is None else latin.split()


def _spell(character: str) -> str:
    return fold(character) if WORD.match(character) else "\n" if PAUSE.match(character) else " "


_LATIN = bytes(ord(_spell(chr(code))) for code in range(256))
_FEW = 100  # each costs a pass over the text
_BEYOND_LATIN = re.compile(r"[^\x00-\xff]")


def spell_latin(text: str) -> str | None:
    """The text with words in lowercase, a line feed for every pause, and a space for every other character.

    ``None`` if a word has a letter beyond Latin-1, or if the text has many different symbols beyond it.
    """
    try:
        encoded = text.encode("latin-1")
    except UnicodeEncodeError:
        beyond = set(_BEYOND_LATIN.findall(text))
        if len(beyond) > _FEW or any(map(WORD.match, beyond)):
            return None
        for character in beyond:
            text = text.replace(character, _spell(character))
        encoded = text.encode("latin-1")
    return encoded.translate(_LATIN).decode("latin-1")


def spell_ascii(text: str) -> bytes:
    """An ASCII text with words in lowercase and a space for every other character.

    >>> spell_ascii("So, it IS.")
    b'so  it is '
    """
    return text.encode("ascii").translate(_ASCII)


_ASCII = bytes(ord(" ") if code == ord("\n") else code for code in _LATIN)
