"""The senses of words in WordNet, with their glosses and information content."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from textveil.errors import ResourceError
from textveil.resources import install_command
from textveil.storage.atomic import hash_files

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""Parts of speech with the names of their files, in the order in which NLTK lists senses."""
# The morphology rules of WordNet: the ending of an inflected form, and the ending of its entry.
ENDINGS = {
    "noun": [
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ],
    "verb": [
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ],
    "adj": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "adv": [],
}  # fmt: skip
CORPORA = ("bnc", "brown", "semcor", "shaks", "treebank")

_EXAMPLE = re.compile(r'".*?"')

Contents: TypeAlias = Mapping[int, float]
"""The information content of senses, by their numbers."""


class Sense(NamedTuple):
    """A sense of a word: the words of its definition, and its information content if it has one."""

    gloss: frozenset[str]
    content: float | None


class Senses:
    """The senses that ``nltk.corpus.wordnet.synsets`` finds, in the same order, read many times faster.

    Args:
        wordnet: The folder of the WordNet files.
        counts: The folder with the counts of five corpora.
    """

    def __init__(self, wordnet: Path, counts: Path) -> None:
        self._wordnet = wordnet
        self._counts = [counts / f"ic-{corpus}.dat" for corpus in CORPORA]
        self._parts: dict[str, _Part] = {}

    @cached_property
    def sha256(self) -> str:
        """A SHA-256 over all files."""
        endings = ("index.{}", "data.{}", "{}.exc")
        files = [self._wordnet / ending.format(part) for part in PARTS.values() for ending in endings]
        with _reading("wordnet"):
            return hash_files([*files, *self._counts])

    def find(self, word: str, part: str | None) -> tuple[Sense, ...]:
        """The senses of a word: those of one part of speech (n, v, a, r), or all of them."""
        parts = PARTS if part is None else (part,)
        return tuple(sense for letter in parts for sense in self._load(letter).find(word))

    def _load(self, part: str) -> _Part:
        if part not in self._parts:
            self._parts[part] = _Part(self._wordnet, PARTS[part], self._contents.get(part))
        return self._parts[part]

    @cached_property
    def _contents(self) -> dict[str, Contents]:
        with _reading("wordnet-ic"):
            return read_contents(self._counts)


class _Part:
    """The senses of one part of speech."""

    def __init__(self, folder: Path, name: str, contents: Contents | None) -> None:
        with _reading("wordnet"):
            lines = (folder / f"index.{name}").read_text(encoding="utf-8").splitlines()
            self._index = {line.partition(" ")[0]: line for line in lines if not line.startswith(" ")}
            lines = (folder / f"{name}.exc").read_text(encoding="utf-8").splitlines()
            self._exceptions = {form: bases for form, *bases in map(str.split, lines)}
            self._data = (folder / f"data.{name}").read_bytes()
        self._endings = ENDINGS[name]
        self._contents = contents
        self._rarest = max(contents.values()) if contents else 0.0
        self._describe = cache(self._read)

    def find(self, word: str) -> Iterator[Sense]:
        """The senses of all entries that have a word as a form."""
        for entry in self._find_entries(word):
            fields = self._index[entry].split()
            with _reading("wordnet"):
                offsets = fields[-int(fields[2]) :]
                yield from map(self._describe, map(int, offsets))

    def _find_entries(self, word: str) -> list[str]:
        """The entries that have a word as a form: by the list of exceptions, or else by the rules."""
        bases = self._exceptions.get(word)
        if bases is None:
            bases = [word.removesuffix(old) + new for old, new in self._endings if word.endswith(old)]
        return [entry for entry in dict.fromkeys([word, *bases]) if entry in self._index]

    def _read(self, offset: int) -> Sense:
        line = self._data[offset : self._data.index(b"\n", offset)].decode()
        number, _, _ = line.partition(" ")
        if int(number) != offset:
            raise ValueError
        definition = _EXAMPLE.sub("", line.partition("|")[2]).strip().strip("; ")
        # A sense that occurs in no corpus counts as the rarest.
        content = None if self._contents is None else self._contents.get(offset, self._rarest)
        return Sense(frozenset(definition.split()), content)


def read_contents(files: list[Path]) -> dict[str, Contents]:
    """The information content of senses, by part of speech: the mean over the corpora that contain a sense.

    NLTK uses 1e300 if a corpus lacks a sense. Here, such a corpus is left out of the mean.
    """
    found: dict[str, dict[int, list[float]]] = {}
    for file in files:
        counts: dict[str, dict[int, float]] = {}
        totals: dict[str, float] = {}
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            sense, number, *root = line.split()
            part, count = sense[-1], float(number)
            if root:
                totals[part] = totals.get(part, 0.0) + count
            if count:
                counts.setdefault(part, {})[int(sense[:-1])] = count
        for part, senses in counts.items():
            values = found.setdefault(part, {})
            for offset, count in senses.items():
                values.setdefault(offset, []).append(-math.log(count / totals[part]))
    return {
        part: {offset: math.fsum(values) / len(values) for offset, values in senses.items()}
        for part, senses in found.items()
    }


@contextmanager
def _reading(resource: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, LookupError, ArithmeticError) as error:
        raise ResourceError(
            f"The files of {resource!r} are missing or damaged. Install them again: "
            f"{install_command(resource, force=True)}"
        ) from error
