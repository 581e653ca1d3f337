"""Finding the entries that a reader of English would notice, so that no bundle writes them. They stay known as inputs.

An entry of several words is unfit if one of its words is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import numpy.typing as npt

from textveil.corpus.wordnet import Meanings, read_meanings
from textveil.language.contractions import CONTRACTIONS
from textveil.language.stopwords import ENGLISH

COMMON_NUMBER = 2
"""A number is written if this many of 10,000 documents have it: many authors then use the same value."""
COMMON_ARCHAISM = 20
"""An archaic form is written if this many of 10,000 documents have it. "Thou", in 18 of them, is a quotation."""
COMMON_UNKNOWN = 2
"""A word that neither WordNet nor word formation explains is written if this many of 10,000 documents have it."""
COMMON_SHORT = 8
"""The same for words of up to four letters, of which many are abbreviations and parts of other words."""
YEARS = range(1870, 2031)
"""Numbers that are years. Other numbers above 100 must be round."""

_RATIO = 3
_RATIO_FORMED = 8
_RATIO_SHORT = 20
"""How much more frequent a similar word must be: usually, for formed words, and for words of five or six letters."""
_ONE_LETTER = frozenset("ai")
_LEFTOVERS = frozenset(
    """
    amp br cant co com dont em en fi gt href htm html http https im img ing ipod ive jpg lt mailto nbsp ol org php
    quot src th ur url urllink wont www
    """.split()
)
"""Parts of addresses and markup, and words that lost an apostrophe or a hyphen."""
_BEGINNINGS = frozenset(first for first, last in CONTRACTIONS if last == "t") - {"can", "won"}
_ENDINGS = frozenset(last for _, last in CONTRACTIONS) - {"all", "am", "clock"}
_JOINED = frozenset(first + last for first, last in CONTRACTIONS) - ENGLISH
_ARCHAIC = frozenset(
    """
    thou thee thy thine thyself ye hast hath doth dost didst hadst shalt wilt canst mayst mightst wouldst shouldst
    couldst wast wert saith quoth methinks methought betwixt whilom hither thither whither hence thence whence
    """.split()
)
_INTEGER = re.compile(r"[1-9]\d*|0")
_ORDINAL = re.compile(r"(?:\d*1st|\d*2nd|\d*3rd|\d*[04-9]th|1[1-3]th)")
_DECADE = re.compile(r"(?:1[89]|20)?\d0s")
_TIME = re.compile(r"(?:[1-9]|1[0-2])[ap]m")
_ROMAN = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_LONG_DRAWN = re.compile(r"(.)\1\1")
_PREFIXES = frozenset(
    """
    anti counter de dis fore inter mega micro mid mini mis multi non out over post pre re semi sub super ultra un under
    up
    """.split()
)
_SUFFIXES = frozenset(
    """
    able d ed er ers esque ette fest ful hood ie ies ing ings ish ism ist ists ize ized izes izing less like ly n ness
    r s ship st wise y
    """.split()
)
_SPELLINGS = (("ou", "o"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("tre", "ter"), ("ae", "e"), ("oe", "e"))
"""Differences of British and American spelling."""
_FUNCTION_WORDS = frozenset(
    """
    albeit although amid among anybody anyone anything because beside besides could despite everybody
    everyone everything except hers hey hmm hooray hurrah including into might must myself nobody none nor
    nothing nowadays oneself onto oops ouch ours ourselves rather shall should since somebody someone something
    than their theirs them themselves these they this those though till toward towards unless unlike until unto
    upon versus via we what whatever whatsoever when whenever where whereas whereby wherever whether which
    whichever who whoever whom whomever whose why wow with within without would yeah yep yikes you your
    yours yourself yourselves
    """.split()
)
"""Words that WordNet leaves out, because they are neither nouns, verbs, adjectives nor adverbs."""


def list_unfit(
    entries: Sequence[str], documents: npt.NDArray[np.int64], total: int, *, wordnet: Path | None = None
) -> list[str]:
    """The entries that are never written because a reader would notice them, in order.

    Args:
        entries: The entries, with words joined by underscores.
        documents: The number of documents with each entry.
        total: The number of all documents.
        wordnet: The folder of WordNet. Without it, misspelled and most offensive words are not found.
    """
    found = sort_unfit(entries, documents, total, wordnet=wordnet)
    unfit = {entry for group in found.values() for entry in group}
    return [entry for entry in entries if entry in unfit]


def sort_unfit(
    entries: Sequence[str], documents: npt.NDArray[np.int64], total: int, *, wordnet: Path | None = None
) -> dict[str, list[str]]:
    """The unfit entries by the first rule that finds them. The arguments are those of :func:`list_unfit`."""
    counts = {entry: 10_000 * int(count) / max(total, 1) for entry, count in zip(entries, documents, strict=True)}
    wording = _Wording(counts, read_meanings(wordnet) if wordnet else None)
    found: dict[str, list[str]] = {rule: [] for rule in wording.rules}
    for entry in entries:
        rule = wording.judge(entry)
        if rule is not None:
            found[rule].append(entry)
    return found


@dataclass(frozen=True)
class _Wording:
    """The rules, for a vocabulary.

    Args:
        counts: The number of documents with each entry, of 10,000.
        meanings: The entries of WordNet.
    """

    counts: Mapping[str, float]
    meanings: Meanings | None

    @cached_property
    def rules(self) -> dict[str, Callable[[str, float], bool]]:
        """By name, whether a word is unfit. Every rule gets the word and the number of documents with it."""
        always: dict[str, Callable[[str, float], bool]] = {
            "numbers": _is_odd_number,
            "leftovers": self._is_leftover,
            "archaic": self._is_archaic,
            "offensive": self._is_offensive,
            "long-drawn": self._is_long_drawn,
        }
        return (
            always
            if self.meanings is None
            else always | {"misspelled": self._is_misspelled, "unknown": self._is_unknown}
        )

    def judge(self, entry: str) -> str | None:
        """The first rule by which an entry is unfit."""
        words = entry.split("_")
        if len(words) > 1 and self.meanings is not None:
            if entry in self.meanings.offensive:
                return "offensive"
            if entry in self.meanings.common or entry in self.meanings.proper:  # "vitamin c", "Los Angeles"
                return "offensive" if any(self._is_offensive(word, 0.0) for word in words) else None
        contracted = {place for place, pair in enumerate(pairwise(words)) if pair in CONTRACTIONS}
        for place, word in enumerate(words):
            if place in contracted or place - 1 in contracted:
                continue
            count = max(self.counts.get(word, 0.0), self.counts[entry])
            for name, rule in self.rules.items():
                if rule(word, count):
                    return name
        return None

    def _is_leftover(self, word: str, count: float) -> bool:
        """Whether a word is part of something else, such as an address, a contraction or a wrongly decoded letter."""
        if word in ENGLISH and word not in _BEGINNINGS | _ENDINGS:
            return False
        if len(word) < 2:
            return word not in _ONE_LETTER and not word.isdigit()
        if word in _LEFTOVERS or word in _BEGINNINGS or word in _ENDINGS:
            return True
        if word in _JOINED:
            return not self._is_common(word)
        if not word.isascii():
            return not self._is_common(_strip_accents(word)) or word.endswith(("â", "ã"))
        return len(word) == 2 and word.isalpha() and count < 5 * COMMON_SHORT and not self._is_common(word)

    def _is_archaic(self, word: str, count: float) -> bool:
        """Whether a word is an old form of the second or third person that is hardly used any more."""
        if count >= COMMON_ARCHAISM:
            return False
        if word in _ARCHAIC:
            return True
        if self.meanings is None or self.meanings.know(word) or not word.endswith(("est", "eth")):
            return False
        stem = word[:-3]
        return any(base in self.meanings.verbs for base in _list_bases(stem))

    def _is_offensive(self, word: str, count: float) -> bool:  # all rules have these parameters
        return word in read_unwritten() or (self.meanings is not None and word in self.meanings.offensive)

    def _is_long_drawn(self, word: str, count: float) -> bool:
        """Whether a letter is repeated for emphasis, as in "sooo" and "yess"."""
        if _LONG_DRAWN.search(word) and word.isalpha():
            return not _ROMAN.fullmatch(word)
        short = word[:-1]
        return (
            word[-1:] == short[-1:]
            and word.isalpha()
            and not self._is_known(word)
            and self.counts.get(short, 0.0) > 3 * count
        )

    def _is_misspelled(self, word: str, count: float) -> bool:
        """Whether an unknown word is one letter away from a known word that is much more frequent."""
        if not word.isalpha() or not word.isascii() or self._is_known(word):
            return False
        if word.endswith("in") and self.counts.get(word + "g", 0.0) > count and self._is_known(word + "g"):
            return True
        formed = self._is_formed(word)
        if len(word) < 5 or (formed and len(word) < 7):
            return False
        ratio = _RATIO_SHORT if len(word) < 7 else _RATIO_FORMED if formed else _RATIO
        return (
            self._has_frequent(_edit(word), word, ratio * count)
            or self._has_frequent(_transpose(word), word, _RATIO * count)
            or self._has_frequent(self._same_but_for_doubles.get(_undouble(word), ()), word, _RATIO * count)
        )

    def _has_frequent(self, others: Iterable[str], word: str, least: float) -> bool:
        """Whether one of several words is known, so frequent, and not just another spelling of a word."""
        return any(
            self.counts.get(other, 0.0) >= least and self._is_known(other) and not _is_variant(word, other)
            for other in others
        )

    @cached_property
    def _same_but_for_doubles(self) -> dict[str, list[str]]:
        """The known words by their spelling without double letters."""
        found: dict[str, list[str]] = {}
        for word in filter(self._is_known, self.counts):
            found.setdefault(_undouble(word), []).append(word)
        return found

    def _is_unknown(self, word: str, count: float) -> bool:
        """Whether nothing explains a rare word. Most of these are from other languages, or abbreviations."""
        if not word.isalpha() or self._is_known(word) or self._is_known(_strip_accents(word)):
            return False
        if len(word) <= 4:
            return count < COMMON_SHORT
        return count < COMMON_UNKNOWN and not self._is_formed(word)

    def _is_known(self, word: str) -> bool:
        if word in ENGLISH or word in _FUNCTION_WORDS:
            return True
        return self.meanings is not None and (self.meanings.know(word) or word in self.meanings.parts_of_proper)

    def _is_common(self, word: str) -> bool:
        return self.meanings is not None and word in self.meanings.common

    def _is_formed(self, word: str) -> bool:
        """Whether a word consists of two known ones, or of a known one with a prefix or suffix."""
        return any(
            (first in _PREFIXES and self._is_long_known(last))
            or (last in _SUFFIXES and self._is_base(first))
            or (len(first) > 2 and len(last) > 2 and self._is_long_known(first) and self._is_long_known(last))
            for first, last in ((word[:place], word[place:]) for place in range(1, len(word)))
        )

    def _is_long_known(self, word: str) -> bool:
        return len(word) > 2 and self._is_common(word) and self.counts.get(word, 0.0) > 0

    def _is_base(self, stem: str) -> bool:
        return any(map(self._is_long_known, _list_bases(stem)))


@cache
def read_unwritten() -> frozenset[str]:
    """The words of the list of unwritten words."""
    lines = (files("textveil.corpus") / "unwritten.txt").read_text(encoding="ascii").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _is_odd_number(word: str, count: float) -> bool:
    """Whether a word has digits and is no common value."""
    if not any(map(str.isdigit, word)):
        return False
    return count < COMMON_NUMBER or not (
        _is_usual_integer(word) or any(form.fullmatch(word) for form in (_ORDINAL, _DECADE, _TIME))
    )


def _is_usual_integer(word: str) -> bool:
    """Whether a word is an integer up to 100, a round number or a year.

    >>> [word for word in "0 7 100 137 150 1500 1984 4837 5000 0800 ²".split() if _is_usual_integer(word)]
    ['0', '7', '100', '150', '1500', '1984', '5000']
    """
    if not (word.isascii() and _INTEGER.fullmatch(word)):
        return False
    number = int(word)
    return number <= 100 or number in YEARS or re.fullmatch("[0-9][05]0+", word) is not None


def _list_bases(stem: str) -> list[str]:
    """The words that have a stem before an ending.

    >>> _list_bases("mov"), _list_bases("stopp"), _list_bases("deni")
    (['mov', 'move'], ['stopp', 'stoppe', 'stop'], ['deni', 'denie', 'deny'])
    """
    bases = [stem, stem + "e"]
    if stem[-2:-1] == stem[-1:]:
        bases.append(stem[:-1])
    if stem.endswith("i"):
        bases.append(stem[:-1] + "y")
    return bases


def _strip_accents(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _edit(word: str) -> Iterator[str]:
    """All words with the same first letter that are one insertion, deletion or substitution away."""
    for place in range(1, len(word) + 1):
        before, after = word[:place], word[place:]
        yield from (before + letter + after for letter in ascii_lowercase)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in ascii_lowercase if letter != after[0])


def _transpose(word: str) -> Iterator[str]:
    """All words with the same first letter that have two neighboring letters in the other order."""
    for place in range(1, len(word) - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _undouble(word: str) -> str:
    """A word without double letters.

    >>> _undouble("dissapointed") == _undouble("disappointed")
    True
    """
    return re.sub(r"(.)\1", r"\1", word)


def _is_variant(word: str, other: str) -> bool:
    """Whether two words differ only as British and American spellings do, or by an ending.

    >>> [_is_variant(*pair) for pair in (("moulded", "molded"), ("idolise", "idolize"), ("recieve", "receive"))]
    [True, True, False]
    """
    return _spell_american(word) == _spell_american(other) or any(
        long == short + ending for long, short in ((word, other), (other, word)) for ending in "sydr"
    )


def _spell_american(word: str) -> str:
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    return word
