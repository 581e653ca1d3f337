"""What WordNet knows: its multi-word expressions in all inflected forms, and the kinds of meanings of its entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from textveil.bundles.building import LexiconTable
from textveil.errors import ResourceError
from textveil.resources import install_command
from textveil.text.matching import LONGEST
from textveil.text.senses import ENDINGS

_SEVERAL_WORDS = re.compile(rf"[^\W_]+(?:_[^\W_]+){{1,{LONGEST - 1}}}")
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # the place of an adjective
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_PERSON = 18  # the file of nouns for people
_USAGE = ";u"
_INSTANCE = "@i"
_OFFENSIVE = frozenset({"ethnic_slur", "disparagement", "obscenity"})


def read_wordnet_table(folder: Path) -> LexiconTable:
    """The lexicon of WordNet as a table for a bundle, with its license."""
    license_text = "\n".join(_read(folder / "LICENSE")) + "\n"
    return LexiconTable(list_expressions(folder), origin={"source": "WordNet 3.0"}, license=license_text)


def list_expressions(folder: Path) -> list[str]:
    """The sorted n-grams of two to four words for which NLTK's ``wordnet.synsets`` finds a sense.

    Args:
        folder: The folder of WordNet, as ``resources.find("wordnet")`` returns it.
    """
    forms = {form for part in ENDINGS for form in _inflect(folder, part, dict(_read_index(folder, part)))}
    return sorted(form.replace("_", " ") for form in forms if _SEVERAL_WORDS.fullmatch(form))


@dataclass(frozen=True, slots=True)
class Meanings:
    """The entries of WordNet in all inflected forms, by the kind of their meanings. An entry may be of several kinds.

    Entries are in lowercase, with underscores between words: "St. Louis" is ``st_louis``.

    Args:
        common: Entries that WordNet writes in lowercase.
        proper: Entries that WordNet capitalizes and that are no person: places, peoples, languages, months.
        parts_of_proper: The words of these entries.
        people: The names of persons.
        offensive: Entries whose first meaning WordNet marks as a slur, disparaging or obscene.
        verbs: Verbs, in their base form.
    """

    common: frozenset[str]
    proper: frozenset[str]
    parts_of_proper: frozenset[str]
    people: frozenset[str]
    offensive: frozenset[str]
    verbs: frozenset[str]

    def know(self, entry: str) -> bool:
        """Whether WordNet has an entry at all."""
        return entry in self.common or entry in self.proper or entry in self.people


NO_MEANINGS = Meanings(*[frozenset[str]()] * 6)
"""What is known where WordNet is not installed."""


class _Synset(NamedTuple):
    """A line of a data file."""

    offset: str
    file: int
    words: list[str]
    pointers: list[tuple[str, ...]]

    def is_person(self) -> bool:
        return self.file == _PERSON and any(pointer[0] == _INSTANCE for pointer in self.pointers)


@cache
def read_meanings(folder: Path) -> Meanings:
    """The kinds of meanings of all entries.

    Args:
        folder: The folder of WordNet, as ``resources.find("wordnet")`` returns it.
    """
    common, proper, people, offensive = kinds = [set[str]() for _ in range(4)]
    verbs: set[str] = set()
    for part in ENDINGS:
        synsets = list(_read_synsets(folder, part))
        spelled = [(word, synset.is_person()) for synset in synsets for word in synset.words]
        found = (
            {word for word, _ in spelled if word.islower()},
            {word.lower() for word, person in spelled if not word.islower() and not person},
            {word.lower() for word, person in spelled if not word.islower() and person},
            set(_list_offensive(folder, part, synsets)),
        )
        for kind, entries in zip(kinds, found, strict=True):
            forms = set(_inflect(folder, part, entries))
            forms -= {entry + "s" for entry in entries if entry.endswith("s")} - entries  # "yess" is no plural
            kind.update(_BETWEEN_WORDS.sub("_", form).strip("_") for form in forms)
        if part == "verb":
            verbs.update(word for word, _ in spelled)
    parts = {word for entry in proper for word in entry.split("_")}
    return Meanings(*map(frozenset, (common, proper, parts, people, offensive, verbs)))


def _read_synsets(folder: Path, part: str) -> Iterator[_Synset]:
    path = folder / f"data.{part}"
    try:
        for line in _read(path):
            if line.startswith(" "):
                continue
            fields = line.partition("|")[0].split()
            end = 4 + 2 * int(fields[3], 16)
            rest = fields[end + 1 :]
            pointers = [tuple(rest[start : start + 4]) for start in range(0, 4 * int(fields[end]), 4)]
            words = [_MARKER.sub("", word) for word in fields[4:end:2]]
            yield _Synset(fields[0], int(fields[1]), words, pointers)
    except (ValueError, IndexError) as error:
        raise _damaged(path) from error


def _list_offensive(folder: Path, part: str, synsets: list[_Synset]) -> Iterator[str]:
    """The entries of a part of speech whose first meaning is marked as offensive."""
    nouns = dict(_read_index(folder, "noun"))
    domains = {offset for name in _OFFENSIVE for offset in nouns.get(name, ())}
    first = {entry: offsets[0] for entry, offsets in _read_index(folder, part)}
    for synset in synsets:
        for symbol, offset, _, places in synset.pointers:
            if symbol == _USAGE and offset in domains:
                place = int(places[:2], 16)  # of the word that is marked, or 0 for all of them
                marked = synset.words[place - 1 : place] if place else synset.words
                yield from (word.lower() for word in marked if first.get(word.lower()) == synset.offset)


def _read_index(folder: Path, part: str) -> Iterator[tuple[str, list[str]]]:
    """The entries of a part of speech, with the offsets of their meanings, the most frequent one first."""
    for line in _read(folder / f"index.{part}"):
        if not line.startswith(" "):
            entry, _, count, *rest = line.split()
            yield entry, rest[-int(count) :]


def _inflect(folder: Path, part: str, entries: Iterable[str]) -> Iterator[str]:
    """Entries of a part of speech, and their inflected forms."""
    entries = set(entries)
    exceptions = {form: bases for form, *bases in map(str.split, _read(folder / f"{part}.exc"))}
    yield from entries
    yield from (form for form, bases in exceptions.items() if not entries.isdisjoint(bases))
    for entry in entries:
        for inflected, base in ENDINGS[part]:
            form = entry.removesuffix(base) + inflected
            if entry.endswith(base) and form not in exceptions:  # rules do not apply to exceptions
                yield form


def _read(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    if not lines:
        raise _damaged(path)
    return lines


def _damaged(path: Path) -> ResourceError:
    return ResourceError(
        f"{str(path)!r} is empty or not a WordNet file. Install WordNet again: {install_command('wordnet', force=True)}"
    )
