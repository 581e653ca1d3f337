"""Finding people's names among the entries of a vocabulary, so that no bundle writes them.

Four signs identify a name: it is capitalized inside sentences, it follows words such as "Mr." and "sister", spaCy
recognizes it as part of a person's name, and WordNet knows no other meaning. Capitals are counted in the documents
that use them as in print. spaCy then reads a sample of passages for each word that capitals and WordNet leave open.

entries.json            the entries
capitals/BLOCK.json     by word: the numbers of its uses, see :class:`Use`
rates.json              by undecided word: the share of its passages that is read
people/BLOCK.json       by entry: the number of occurrences in passages, and the number of those in a person's name
"""

from __future__ import annotations

import re
import shutil
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.resources import files
from itertools import chain, pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from textveil.errors import InputError
from textveil.extras import require
from textveil.lab.corpus.inputs import Block
from textveil.lab.corpus.resumption import Reading, load_json, save_json
from textveil.lab.corpus.wordnet import NO_MEANINGS, Meanings, read_meanings
from textveil.resources import install_command
from textveil.storage.atomic import make_folder
from textveil.text.matching import LONGEST
from textveil.text.stopwords import CONTRACTIONS, ENGLISH
from textveil.text.words import find_spans, find_words, fold

RULES = ((0.5, 0.5), (0.25, 0.7), (0.1, 0.9), (0.04, 0.95))
"""The lowest shares of each rule: of passages in which a word is a person's name, and of capitalized occurrences."""
PASSAGES = 12
"""The approximate number of passages that spaCy reads for a word."""
REACH = 100
"""The number of characters before and after the word in a passage."""
_LEAST_CAPITAL = 0.3  # below this share of capitalized occurrences, a word is no name
_MOSTLY_CAPITAL = 0.5
_RARELY_LOWER = 0.7  # from here on, a word without another meaning in WordNet is a name
_HARDLY_LOWER = 0.85
_NEARLY_ALWAYS_CAPITAL = 0.9  # from here on, a person in WordNet outweighs a meaning in lowercase
# The shares of capitalized occurrences after a form of address:
_ADDRESSED = 0.02  # as is usual for names
_OFTEN_ADDRESSED = 0.04  # decides about places and the like
_MOST_ADDRESSED = 0.1  # decides about words with a meaning in lowercase
# The shares of passages in which a word is a person's name, from which on it is one:
_PERSON_SUPPORTED = 0.1  # a place or the like, if WordNet knows a person or the word follows forms of address
_PERSON_UNKNOWN = 0.2  # a word without another meaning that is mostly capitalized
_PERSON_ALONE = 0.4  # a place or the like, without other signs
_PERSON_MOSTLY = 0.5  # a word without another meaning that is mostly in lowercase
_INSIDE_SENTENCE = re.compile(r"(?<=[\w,;] )\w+")  # after a word or a comma, where no sentence begins
_SENTENCE_START = re.compile(r"(?:^|[.!?] )[\"'(]*([^\W\d_])")
_LOWERCASE_I = re.compile(r"(?<![\w'\u2019.-])i(?![\w.])")
_ADDRESS = re.compile(
    r"\b(?:Mr|Mrs|Ms|Mme|Dr|Prof|Sgt|Lt|Uncle|Aunt|Auntie|named|husband|wife|brother|sister|cousin|boyfriend|girlfriend)"
    r"\.? ([^\W\d_]\w+)"
)
_LAST_WORD = re.compile(r"\S*$")
_FIRST_WORD = re.compile(r"\S*")

Counts = dict[str, tuple[int, ...]]
"""By word or entry, the numbers that a task counts."""


class Use(NamedTuple):
    """The number of a word's occurrences inside sentences, by spelling, and after a form of address."""

    lower: int = 0
    title: int = 0
    upper: int = 0
    addressed: int = 0

    @property
    def seen(self) -> int:
        """The number of occurrences inside sentences."""
        return self.lower + self.title + self.upper

    @property
    def capital(self) -> float:
        """The share of capitalized occurrences."""
        return (self.title + self.upper) / self.seen if self.seen else 0.0

    @property
    def is_acronym(self) -> bool:
        """Whether most capitalized occurrences consist of capitals."""
        return self.upper > self.title

    def follows_address(self, share: float) -> bool:
        """Whether the word follows a form of address in this share of its capitalized uses, at least three times."""
        return self.addressed >= max(3, share * (self.title + self.upper))


def count_capitals(block: Block, output: Path, *, entries: Path) -> None:
    """Count the uses of words in the documents of a block that use capitals as in print. Progress counts bytes."""
    wanted = {word for entry in load_json(entries) for word in entry.split("_")}
    spelled: Counter[str] = Counter()
    addressed: Counter[str] = Counter()
    for text, words in _read_printed(block):
        spelled.update(words)
        addressed.update(word for word in _ADDRESS.findall(text) if word[0].isupper())
    counts: dict[str, list[int]] = {}
    for word, count in spelled.items():
        place = 0 if not word[0].isupper() else 2 if len(word) > 1 and word.isupper() else 1
        counts.setdefault(fold(word), [0] * 4)[place] += count
    for word, count in addressed.items():
        counts.setdefault(fold(word), [0] * 4)[3] += count
    save_json(output, {word: counts[word] for word in sorted(wanted & counts.keys())})


def uses_capitals(text: str, inside: Sequence[str]) -> bool:
    """Whether a text uses capitals as in print: sentences begin with one, and the pronoun "I" is one.

    Args:
        text: The text.
        inside: Its words inside sentences. In a title or a cry, most of them are capitalized.

    >>> uses_capitals("We met Amy. She left.", ["met", "Amy", "left"]), uses_capitals("We met amy. she left.", [])
    (True, False)
    """
    if _LOWERCASE_I.search(text):
        return False
    starts = _SENTENCE_START.findall(text)
    capitals = sum(word[0].isupper() for word in inside)
    return sum(map(str.isupper, starts)) > 0.9 * len(starts) and capitals <= 0.5 * len(inside)


def count_people(block: Block, output: Path, *, entries: Path, rates: Path, model: Path) -> None:
    """Count the entries in passages of a block, and those in a person's name, with spaCy. Progress counts bytes."""
    wanted = frozenset(load_json(entries))
    seen: Counter[str] = Counter()
    named: Counter[str] = Counter()
    sampler = _Sampler(output.stem, load_json(rates))
    passages = (passage for text, _ in _read_printed(block) for passage in sampler.choose(text))
    for document in load_recognizer(model).pipe(passages, batch_size=256):
        words = [(word, token.ent_type_ == "PERSON") for token in document for word in find_words(token.text)]
        for start in range(len(words)):
            for stop in range(start + 1, min(start + LONGEST, len(words)) + 1):
                entry = "_".join(word for word, _ in words[start:stop])
                if entry in wanted:
                    seen[entry] += 1
                    named[entry] += all(person for _, person in words[start:stop])
    save_json(output, {entry: (seen[entry], named[entry]) for entry in sorted(seen)})


class _Sampler:
    """Chooses passages of a block so that every word is read at its rate. The choice is always the same."""

    def __init__(self, block: str, rates: dict[str, float]) -> None:
        self._rates = rates
        self._due = {word: zlib.crc32(f"{block} {word}".encode()) / 2**32 for word in rates}

    def choose(self, text: str) -> list[str]:
        """The chosen passages of a text, which do not overlap."""
        passages: list[str] = []
        start = stop = 0
        for first, last in find_spans(text):
            word = fold(text[first:last])
            if word not in self._rates:
                continue
            self._due[word] += self._rates[word]
            if self._due[word] < 1:
                continue
            self._due[word] -= 1
            if first - REACH > stop:
                if stop:
                    passages.append(_cut(text, start, stop))
                start = max(0, first - REACH)
            stop = last + REACH
        return [*passages, _cut(text, start, stop)] if stop else passages


def _cut(text: str, start: int, stop: int) -> str:
    """A piece of a text, without words that are cut in two."""
    if start and (first := _FIRST_WORD.match(text, start)):
        start = first.end()
    if stop < len(text) and (last := _LAST_WORD.search(text, start, stop)):
        stop = last.start()
    return text[start:stop]


def _read_printed(block: Block) -> Iterator[tuple[str, list[str]]]:
    """The documents that use capitals as in print, with their words inside sentences."""
    for texts in block.read():
        for text in texts:
            if text is not None and uses_capitals(text, inside := _INSIDE_SENTENCE.findall(text)):
                yield text, inside


@cache
def load_recognizer(model: Path) -> Any:
    """Load the entity recognizer of a spaCy model, without its other components."""
    spacy = require("spacy", extra="prepare")
    try:
        others = [name for name in spacy.util.get_model_meta(model)["pipeline"] if name != "ner"]
        return spacy.load(model, exclude=others)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"The spaCy model {model.name!r} cannot be loaded. Install it again: "
            f"{install_command('spacy-en', force=True)}"
        ) from error


@dataclass(frozen=True, slots=True)
class Names:
    """The counts of uses and of people's names, and the names that follow from them.

    Args:
        capitals: By word, the numbers of :class:`Use`.
        people: By entry, the number of occurrences in passages, and the number of those in a person's name.
        meanings: The entries of WordNet. Without them, capitals and spaCy decide alone.
    """

    capitals: Mapping[str, tuple[int, ...]]
    people: Mapping[str, tuple[int, ...]]
    meanings: Meanings = NO_MEANINGS

    def is_name(self, word: str) -> bool:
        """Whether a word is a person's name."""
        use, person = self._find_use(word), self._find_share(word)
        if word in ENGLISH or use.capital < _LEAST_CAPITAL:
            return False
        if not self.meanings.common:
            return _follows_rules(person, use)
        is_proper = word in self.meanings.proper or (use.is_acronym and word not in self.meanings.common)
        if use.capital >= _HARDLY_LOWER and is_proper:  # a place or the like, or an acronym
            supported = use.follows_address(_ADDRESSED) or word in self.meanings.people
            limit = _PERSON_SUPPORTED if supported else _PERSON_ALONE
            return use.follows_address(_OFTEN_ADDRESSED) or person >= limit
        if word in self.meanings.common:
            return _follows_rules(person, use) or _is_common_name(word, use, self.meanings)
        return self.is_decided(word) or _is_unknown_name(person, use)

    def is_decided(self, word: str) -> bool:
        """Whether capitals and WordNet suffice to call a word a name."""
        use = self._find_use(word)
        if not self.meanings.common or use.is_acronym or self._has_other_meaning(word):
            return False
        return use.capital >= _RARELY_LOWER

    def needs_reading(self, word: str) -> bool:
        """Whether spaCy must read passages to decide about a word."""
        return self._find_use(word).capital >= _LEAST_CAPITAL and word not in ENGLISH and not self.is_decided(word)

    def choose(self, entries: Iterable[str]) -> list[str]:
        """The entries that are names: those with a word that is one, and those that mostly are one as a whole."""
        return [entry for entry in entries if self._is_entry_name(entry.split("_"))]

    def _is_entry_name(self, words: Sequence[str]) -> bool:
        if len(words) > 1 and self._find_share("_".join(words)) >= RULES[0][0]:
            return True
        return any(map(self.is_name, self._drop_other_expressions(words)))

    def _drop_other_expressions(self, words: Sequence[str]) -> list[str]:
        """The words of an entry without the expressions that WordNet knows and that are no person: "New York"."""
        for length in range(len(words), 1, -1):
            for start in range(len(words) - length + 1):
                expression = "_".join(words[start : start + length])
                if self._has_other_meaning(expression) and expression not in self.meanings.people:
                    rest = self._drop_other_expressions(words[start + length :])
                    return [*self._drop_other_expressions(words[:start]), *rest]
        return list(words)

    def _has_other_meaning(self, entry: str) -> bool:
        return entry in self.meanings.common or entry in self.meanings.proper

    def _find_use(self, word: str) -> Use:
        return Use(*self.capitals.get(word, ()))

    def _find_share(self, entry: str) -> float:
        """The share of an entry's occurrences that are part of a person's name."""
        seen, found = self.people.get(entry, (0, 0))
        return found / seen if seen else 0.0


def _follows_rules(person: float, use: Use) -> bool:
    return any(person >= least and use.capital >= capital for least, capital in RULES)


def _is_common_name(word: str, use: Use, meanings: Meanings) -> bool:
    """Whether a word with a meaning in lowercase is a name by forms of address, or by WordNet."""
    if use.capital >= _HARDLY_LOWER:
        return use.follows_address(_ADDRESSED) or (use.capital >= _NEARLY_ALWAYS_CAPITAL and word in meanings.people)
    return use.capital >= _MOSTLY_CAPITAL and use.follows_address(_MOST_ADDRESSED)


def _is_unknown_name(person: float, use: Use) -> bool:
    """Whether a word without another meaning is a name by forms of address, or by the passages."""
    if use.capital < _MOSTLY_CAPITAL:
        return person >= _PERSON_MOSTLY
    return person >= _PERSON_UNKNOWN or use.follows_address(_ADDRESSED)


def find_names(
    reading: Reading, folder: Path, entries: Iterable[str], *, model: Path, wordnet: Path | None = None
) -> Names:
    """Count capitals and people's names in a corpus, or resume counting them.

    Args:
        reading: The corpus.
        folder: The folder for the counts of blocks.
        entries: The entries of all vocabularies, with words joined by underscores.
        model: The folder of a spaCy model that recognizes people's names.
        wordnet: The folder of WordNet. Without it, names are found by capitals and spaCy alone.
    """
    listed, rated = folder / "entries.json", folder / "rates.json"
    _keep_for(listed, sorted(set(entries)), folder)  # counts of other entries are of no use

    capitals = _add_up(
        reading.run_blocks("finding capitals", folder / "capitals", partial(count_capitals, entries=listed))
    )
    names = Names(capitals, {}, read_meanings(wordnet) if wordnet else NO_MEANINGS)
    open_words = filter(names.needs_reading, capitals)
    rates = {word: min(1.0, PASSAGES / max(1, Use(*capitals[word]).seen)) for word in open_words}
    _keep_for(rated, rates, folder / "people")  # nor are those of other passages
    work = partial(count_people, entries=listed, rates=rated, model=model)
    return replace(names, people=_add_up(reading.run_blocks("finding names", folder / "people", work)))


def _keep_for(path: Path, values: Any, folder: Path) -> None:
    """Write the values that the files of a folder depend on, and remove the folder if they have changed."""
    if path.exists() and load_json(path) != values:
        shutil.rmtree(folder, ignore_errors=True)
    make_folder(path.parent)
    save_json(path, values)


def _add_up(paths: Iterable[Path]) -> Counts:
    """The sum of the counts of all blocks."""
    total: Counts = {}
    for path in paths:
        for entry, counts in load_json(path).items():
            total[entry] = tuple(map(sum, zip(counts, total.get(entry, [0] * len(counts)), strict=True)))
    return total


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
_BEGINNINGS = frozenset(first for first, last in CONTRACTIONS if last == "t") - {"can", "won"}
_ENDINGS = frozenset(last for _, last in CONTRACTIONS) - {"all", "am", "clock"}
_JOINED = frozenset(first + last for first, last in CONTRACTIONS) - ENGLISH
_INTEGER = re.compile(r"[1-9]\d*|0")
_ORDINAL = re.compile(r"(?:\d*1st|\d*2nd|\d*3rd|\d*[04-9]th|1[1-3]th)")
_DECADE = re.compile(r"(?:1[89]|20)?\d0s")
_TIME = re.compile(r"(?:[1-9]|1[0-2])[ap]m")
_ROMAN = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_LONG_DRAWN = re.compile(r"(.)\1\1")
_SPELLINGS = (("ou", "o"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("tre", "ter"), ("ae", "e"), ("oe", "e"))
"""Differences of British and American spelling."""


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
    counts = {entry: 10_000 * int(count) / max(total, 1) for entry, count in zip(entries, documents, strict=True)}
    return list(filter(_Wording(counts, read_meanings(wordnet) if wordnet else NO_MEANINGS).is_unfit, entries))


@dataclass(frozen=True)
class _Wording:
    """The rules, for a vocabulary.

    Args:
        counts: The number of documents with each entry, of 10,000.
        meanings: The entries of WordNet.
    """

    counts: Mapping[str, float]
    meanings: Meanings

    @cached_property
    def _rules(self) -> Sequence[Callable[[str, float], bool]]:
        """Whether a word is unfit. Every rule gets the word and the number of documents with it."""
        always = [_is_odd_number, self._is_leftover, self._is_archaic, self._is_offensive, self._is_long_drawn]
        return always + ([self._is_misspelled, self._is_unknown] if self.meanings.common else [])

    def is_unfit(self, entry: str) -> bool:
        """Whether a rule forbids an entry."""
        words = entry.split("_")
        if len(words) > 1:
            if entry in self.meanings.offensive:
                return True
            if entry in self.meanings.common or entry in self.meanings.proper:  # "vitamin c", "Los Angeles"
                return any(self._is_offensive(word, 0.0) for word in words)
        contracted = {place for place, pair in enumerate(pairwise(words)) if pair in CONTRACTIONS}
        for place, word in enumerate(words):
            if place not in contracted and place - 1 not in contracted:
                count = max(self.counts.get(word, 0.0), self.counts[entry])
                if any(rule(word, count) for rule in self._rules):
                    return True
        return False

    def _is_leftover(self, word: str, count: float) -> bool:
        """Whether a word is part of something else, such as an address, a contraction or a wrongly decoded letter."""
        if word in ENGLISH and word not in _BEGINNINGS | _ENDINGS:
            return False
        if len(word) < 2:
            return word not in _ONE_LETTER and not word.isdigit()
        if word in read_words("leftovers") or word in _BEGINNINGS or word in _ENDINGS:
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
        if word in read_words("archaic"):
            return True
        if self.meanings.know(word) or not word.endswith(("est", "eth")):
            return False
        return not self.meanings.verbs.isdisjoint(_list_bases(word[:-3]))

    def _is_offensive(self, word: str, count: float) -> bool:  # all rules have these parameters
        return word in read_words("unwritten") or word in self.meanings.offensive

    def _is_long_drawn(self, word: str, count: float) -> bool:
        """Whether a letter is repeated for emphasis, as in "sooo" and "yess"."""
        if _LONG_DRAWN.search(word) and word.isalpha():
            return not _ROMAN.fullmatch(word)
        short = word[:-1]
        repeats = word[-1:] == short[-1:] and word.isalpha() and not self._is_known(word)
        return repeats and self.counts.get(short, 0.0) > 3 * count

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
        likely = chain(_transpose(word), self._same_but_for_doubles.get(_undouble(word), ()))
        others = chain(((other, ratio) for other in _edit(word)), ((other, _RATIO) for other in likely))
        return any(
            self.counts.get(other, 0.0) >= least * count and self._is_known(other) and not _is_variant(word, other)
            for other, least in others
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
        if word in ENGLISH or word in read_words("function_words"):
            return True
        return self.meanings.know(word) or word in self.meanings.parts_of_proper

    def _is_common(self, word: str) -> bool:
        return word in self.meanings.common

    def _is_formed(self, word: str) -> bool:
        """Whether a word consists of two known ones, or of a known one with a prefix or suffix."""
        return any(
            (first in read_words("prefixes") and self._is_long_known(last))
            or (last in read_words("suffixes") and self._is_base(first))
            or (len(first) > 2 and len(last) > 2 and self._is_long_known(first) and self._is_long_known(last))
            for first, last in ((word[:place], word[place:]) for place in range(1, len(word)))
        )

    def _is_long_known(self, word: str) -> bool:
        return len(word) > 2 and self._is_common(word) and self.counts.get(word, 0.0) > 0

    def _is_base(self, stem: str) -> bool:
        return any(map(self._is_long_known, _list_bases(stem)))


@cache
def read_words(name: str) -> frozenset[str]:
    """The words of a list that ships with the package."""
    lines = (files("textveil.lab.corpus") / "words" / f"{name}.txt").read_text(encoding="ascii").splitlines()
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
