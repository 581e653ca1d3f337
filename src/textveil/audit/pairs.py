"""Pairs of neighbors for an audit: public texts of a few words, made up so that flaws of a mechanism show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.errors import BundleError, InputError
from textveil.language.stopwords import ENGLISH
from textveil.language.text import spoken
from textveil.language.words import find_spans, find_words

MOST_WORDS = 400
"""The number of words among which near and far ones are searched: the first ones of the vocabulary."""
SHORTEST = 3
MADE_UP = ("zorblat", "quixnar", "vemblor", "druxly", "fnorpit", "gwizzle", "plumvok", "skrantz")
"""Words of no language, of which a vocabulary lacks some."""
NUMBERS = ("1987", "2041")
PHONE_NUMBERS = ("555-0134", "555-0178")
_ACCENTS = {"a": "à", "e": "é", "i": "í", "o": "ö", "u": "ü", "n": "ñ", "c": "ç", "y": "ý"}
_FULL_WIDTH = 0xFF41 - ord("a")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that an audit tries to tell apart by the answers to them."""

    kind: str
    """What makes the pair hard, such as ``known and unknown word``."""
    first: str = field(repr=False)
    second: str = field(repr=False)

    @property
    def words_that_differ(self) -> int:
        """The number of places with different words.

        >>> Pair("", "one word", "another word").words_that_differ, Pair("", "a b c", "a").words_that_differ
        (1, 2)
        """
        first, second = ([text[start:stop] for start, stop in find_spans(text)] for text in (self.first, self.second))
        differ = sum(one != two for one, two in zip(first, second, strict=False))
        return differ + abs(len(first) - len(second))


class _Words:
    """The words of a vocabulary that pairs are made of."""

    def __init__(self, space: Vectors) -> None:
        self._space = space
        entries, writable = space.entries, set(space.writable.tolist())
        simple = [row for row, entry in enumerate(entries) if len(entry) >= SHORTEST and _is_simple(entry)]
        content = [row for row in simple if row in writable and entries[row] not in ENGLISH][:MOST_WORDS]
        if len(content) < 8:
            raise BundleError("An audit needs a vocabulary with at least 8 words that are not stopwords.")
        self.near, self.far = self._find_extremes(np.array(content))
        used = {*self.near, *self.far}
        self.others = [entries[row] for row in content if entries[row] not in used]
        self.stopword = next((entries[row] for row in simple if entries[row] in ENGLISH), "the")
        self.name = next((entries[row] for row in simple if row not in writable), None)
        self.unknown = [word for word in MADE_UP if word not in space][:2]
        several = [spoken(entry) for row, entry in enumerate(entries) if "_" in entry and row in writable]
        self.expressions = [words for words in several if not ENGLISH.intersection(find_words(words))][:2]

    def _find_extremes(self, rows: RowNumbers) -> tuple[tuple[str, str], tuple[str, str]]:
        """The two nearest words that are apart, and the two farthest."""
        points = self._space.take(rows).astype(np.float64)
        squares = np.einsum("ij,ij->i", points, points)
        distances = squares[:, None] + squares - 2 * points @ points.T
        apart = np.where(distances > 1e-9 * distances.max(), distances, np.inf)
        found = []
        for place in (apart.argmin(), distances.argmax()):
            one, two = divmod(int(place), len(rows))
            found.append((self._space.entries[int(rows[one])], self._space.entries[int(rows[two])]))
        return found[0], found[1]


def _is_simple(entry: str) -> bool:
    return entry.isascii() and entry.isalpha() and entry.islower()


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file: two texts in each line, with a tab between them.

    Raises:
        InputError: The file cannot be read, or a line has not exactly one tab.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not UTF-8. Convert it.") from error
    for number, line in enumerate(lines, start=1):
        if line.count("\t") != 1:
            raise InputError(f"Line {number} of {str(path)!r} has not exactly one tab. Write two texts in each line.")
    if not lines:
        raise InputError(f"{str(path)!r} has no pairs. Write two texts in each line, with a tab between them.")
    return [Pair(f"line {number}", *line.split("\t")) for number, line in enumerate(lines, start=1)]


def choose_pairs(space: Vectors) -> list[Pair]:
    """The pairs of an audit for a vocabulary; the same ones each time.

    Args:
        space: The vectors by whose distances words are near or far. All texts are made of their entries, of words that
            they lack, and of numbers.

    Raises:
        BundleError: The vocabulary has too few words.
    """
    words = _Words(space)
    return [Pair(kind, first, second) for kind, first, second in _list_pairs(words)]


def _list_pairs(words: _Words) -> Iterator[tuple[str, str, str]]:
    (near, nearest), (far, farthest) = words.near, words.far
    one, two, three, *_ = words.others
    yield "near words", near, nearest
    yield "far words", far, farthest
    yield "same word, capitalized", far, far.capitalize()
    yield "same word, full-width letters", far, "".join(chr(ord(letter) + _FULL_WIDTH) for letter in far)
    yield "plain and accented word", far, _add_accent(far)
    if len(words.unknown) == 2:
        yield "known and unknown word", far, words.unknown[0]
        yield "two unknown words", words.unknown[0], words.unknown[1]
    yield "stopword and content word", f"{one} {words.stopword}", f"{one} {far}"
    yield "capitalized stopword and content word", f"{one} {words.stopword.capitalize()}", f"{one} {far}"
    if words.name is not None:
        yield "name and no name", f"{words.name} {one}", f"{far} {one}"
    yield "numbers", *NUMBERS
    yield "phone numbers", *PHONE_NUMBERS
    if len(words.expressions) == 2:
        yield "expressions", words.expressions[0], words.expressions[1]
    yield "one word of four", f"{far} {one} {two} {three}", f"{farthest} {one} {two} {three}"
    yield "all of three words", f"{near} {far} {one}", f"{nearest} {farthest} {two}"
    yield "words beside stopwords", f"the {near} was {one}", f"the {nearest} was {one}"
    yield "repeated word and two words", f"{near} {near}", f"{near} {nearest}"


def _add_accent(word: str) -> str:
    """The word with an accent on its first letter that can have one."""
    for place, letter in enumerate(word):
        if letter in _ACCENTS:
            return f"{word[:place]}{_ACCENTS[letter]}{word[place + 1 :]}"
    return f"{word}\u0301"
