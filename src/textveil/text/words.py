r"""Words: the one definition that documents, counting, name finding and attackers share.

A word is a maximal run of word characters, such as letters, digits and the underscore. A character counts if its
compatibility form (NFKC) has one: the circled p and the full-width p are letters, too. Marks and invisible characters
that follow a word belong to it. Words are found in the text as it is, so offsets are exact; their form is then
normalized and lowercased.
"""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"\w+")
"""A word in normalized text."""
PAUSE = re.compile(r"[.!?\u2026\n]")
"""A character that may end a sentence."""

_RUN = re.compile("w[wx]*")
_EXTENDS = ("Mn", "Mc", "Me", "Cf")


def fold(word: str) -> str:
    """The normalized, lowercase form of a word.

    >>> fold("Tea"), fold("İstanbul"), fold("ⓟⓐⓢⓢ"), fold("cafe\u0301") == "café"
    ('tea', 'istanbul', 'pass', True)
    """
    if word.isascii():
        return word.lower()
    lowered = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).lower())
    return "".join(WORD.findall(lowered))


def find_words(text: str) -> list[str]:
    """The words of a text, in lowercase.

    >>> find_words("Don't panic, İstanbul!")
    ['don', 't', 'panic', 'istanbul']
    """
    if text.isascii() and text.isalnum():  # a single word
        return [text.lower()]
    latin = spell_latin(text)
    return [fold(text[start:stop]) for start, stop in find_spans(text)] if latin is None else latin.split()


def find_spans(text: str) -> list[tuple[int, int]]:
    """The start and stop offsets of every word."""
    if text.isascii():
        return [match.span() for match in WORD.finditer(text)]
    kinds = {ord(character): _classify(character) for character in set(text)}
    return [match.span() for match in _RUN.finditer(text.translate(kinds))]


def has_word(text: str) -> bool:
    """Whether a text has a word.

    >>> has_word("?! 🙂"), has_word("⒜")
    (False, True)
    """
    return bool(WORD.search(text) if text.isascii() else find_spans(text))


def _classify(character: str) -> str:
    """A letter for the kind of a character: w is a word character, x extends a word, - is neither."""
    if WORD.search(unicodedata.normalize("NFKC", character)):
        return "w"
    return "x" if unicodedata.category(character) in _EXTENDS else "-"


def _spell(character: str) -> str:
    return character.lower() if WORD.match(character) else _spell_gap(character)


def _spell_gap(character: str) -> str:
    return "\n" if PAUSE.match(character) else " "


_LATIN = bytes(ord(_spell(chr(code))) for code in range(256))
_COMPOSED = re.compile(r"[\xaa\xad\xb2\xb3\xb5\xb9\xba\xbc-\xbe]")
"""Latin-1 characters in words that have another compatibility form, and the soft hyphen."""
_FEW = 100  # each costs a pass over the text
_BEYOND_LATIN = re.compile(r"[^\x00-\xff]")


def spell_latin(text: str) -> str | None:
    """The text with words in lowercase, a line feed for every pause, and a space for every other character.

    ``None`` if a word has a character that Latin-1 or its own compatibility form lacks, or if the text has many
    different symbols beyond Latin-1.
    """
    try:
        encoded = text.encode("latin-1")
    except UnicodeEncodeError:
        beyond = set(_BEYOND_LATIN.findall(text))
        if len(beyond) > _FEW or any(_classify(character) != "-" for character in beyond):
            return None
        for character in beyond:
            text = text.replace(character, _spell_gap(character))  # also a letter whose compatibility form is a mark
        encoded = text.encode("latin-1")
    return None if not text.isascii() and _COMPOSED.search(text) else encoded.translate(_LATIN).decode("latin-1")


def spell_ascii(text: str) -> bytes:
    """An ASCII text with words in lowercase and a space for every other character.

    >>> spell_ascii("So, it IS.")
    b'so  it is '
    """
    return text.encode("ascii").translate(_ASCII)


_ASCII = bytes(ord(" ") if code == ord("\n") else code for code in _LATIN)
