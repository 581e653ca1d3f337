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

import json
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from textveil.corpus.blocks import Block
from textveil.corpus.inputs import Corpus
from textveil.corpus.wordnet import Meanings, read_meanings
from textveil.errors import InputError
from textveil.execution import Executor
from textveil.extras import require
from textveil.language.matching import LONGEST
from textveil.language.stopwords import ENGLISH
from textveil.language.words import find_spans, find_words, fold
from textveil.progress import Progress
from textveil.resources import install_command
from textveil.storage.atomic import make_folder, writing
from textveil.storage.resumable import damaged_file

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
_Task = TypeVar("_Task", "CapitalTask", "PeopleTask")


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


@dataclass(frozen=True, slots=True)
class CapitalTask:
    """Count the capitalized words of a block."""

    name: str
    block: Block
    folder: Path

    def run(self) -> Counts:
        """The uses of every word in the documents that use capitals as in print."""
        wanted = {word for entry in _load(self.folder / "entries.json") for word in entry.split("_")}
        spelled: Counter[str] = Counter()
        addressed: Counter[str] = Counter()
        for text, words in _read_printed(self.block):
            spelled.update(words)
            addressed.update(word for word in _ADDRESS.findall(text) if word[0].isupper())
        counts: dict[str, list[int]] = {}
        for word, count in spelled.items():
            place = 0 if not word[0].isupper() else 2 if len(word) > 1 and word.isupper() else 1
            counts.setdefault(fold(word), [0] * 4)[place] += count
        for word, count in addressed.items():
            counts.setdefault(fold(word), [0] * 4)[3] += count
        return {word: tuple(counts[word]) for word in sorted(wanted & counts.keys())}


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


@dataclass(frozen=True, slots=True)
class PeopleTask:
    """Find people's names in passages of a block with spaCy."""

    name: str
    block: Block
    folder: Path
    model: Path

    def run(self) -> Counts:
        """The occurrences of every entry in the passages, and those inside a person's name."""
        entries = frozenset(_load(self.folder / "entries.json"))
        seen: Counter[str] = Counter()
        named: Counter[str] = Counter()
        sampler = _Sampler(self.name, _load(self.folder / "rates.json"))
        passages = (passage for text, _ in _read_printed(self.block) for passage in sampler.choose(text))
        for document in load_recognizer(self.model).pipe(passages, batch_size=256):
            words = [(word, token.ent_type_ == "PERSON") for token in document for word in find_words(token.text)]
            for start in range(len(words)):
                for stop in range(start + 1, min(start + LONGEST, len(words)) + 1):
                    entry = "_".join(word for word, _ in words[start:stop])
                    if entry in entries:
                        seen[entry] += 1
                        named[entry] += all(person for _, person in words[start:stop])
        return {entry: (seen[entry], named[entry]) for entry in sorted(seen)}


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
    meanings: Meanings | None = None

    def is_name(self, word: str) -> bool:
        """Whether a word is a person's name."""
        use, person = self._find_use(word), self._find_share(word)
        if word in ENGLISH or use.capital < _LEAST_CAPITAL:
            return False
        if self.meanings is None:
            return _follows_rules(person, use)
        if use.capital >= _HARDLY_LOWER and _is_proper(word, use, self.meanings):
            supported = use.follows_address(_ADDRESSED) or word in self.meanings.people
            limit = _PERSON_SUPPORTED if supported else _PERSON_ALONE
            return use.follows_address(_OFTEN_ADDRESSED) or person >= limit
        if word in self.meanings.common:
            return _follows_rules(person, use) or _is_common_name(word, use, self.meanings)
        return self.is_decided(word) or _is_unknown_name(person, use)

    def is_decided(self, word: str) -> bool:
        """Whether capitals and WordNet suffice to call a word a name."""
        use = self._find_use(word)
        if self.meanings is None or use.is_acronym or self._has_other_meaning(word):
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
        if self.meanings is not None:
            for length in range(len(words), 1, -1):
                for start in range(len(words) - length + 1):
                    if self._is_other_expression("_".join(words[start : start + length])):
                        rest = self._drop_other_expressions(words[start + length :])
                        return [*self._drop_other_expressions(words[:start]), *rest]
        return list(words)

    def _is_other_expression(self, entry: str) -> bool:
        return self._has_other_meaning(entry) and self.meanings is not None and entry not in self.meanings.people

    def _has_other_meaning(self, entry: str) -> bool:
        known = self.meanings
        return known is not None and (entry in known.common or entry in known.proper)

    def _find_use(self, word: str) -> Use:
        return Use(*self.capitals.get(word, ()))

    def _find_share(self, entry: str) -> float:
        """The share of an entry's occurrences that are part of a person's name."""
        seen, found = self.people.get(entry, (0, 0))
        return found / seen if seen else 0.0


def _follows_rules(person: float, use: Use) -> bool:
    return any(person >= least and use.capital >= capital for least, capital in RULES)


def _is_proper(word: str, use: Use, meanings: Meanings) -> bool:
    """Whether a word is a place or the like, or an acronym."""
    return word in meanings.proper or (use.is_acronym and word not in meanings.common)


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
    corpus: Corpus,
    folder: Path,
    executor: Executor,
    *,
    workers: int,
    entries: Iterable[str],
    model: Path,
    progress: Progress,
    wordnet: Path | None = None,
) -> Names:
    """Count capitals and people's names in a corpus, or resume counting them.

    Args:
        corpus: The corpus.
        folder: The folder for the counts of blocks.
        executor: Where the work runs.
        workers: The number of workers for which the corpus is divided into blocks.
        entries: The entries of all vocabularies, with words joined by underscores.
        model: The folder of a spaCy model that recognizes people's names.
        progress: Is told about the progress.
        wordnet: The folder of WordNet. Without it, names are found by capitals and spaCy alone.
    """
    wanted = sorted(set(entries))
    if (folder / "entries.json").exists() and _load(folder / "entries.json") != wanted:
        shutil.rmtree(folder)  # it has the counts of other entries
    _save(folder / "entries.json", wanted)

    def count(kind: str, make: Callable[[str, Block], _Task], stage: str) -> Counts:
        names: list[str] = []

        def tasks() -> Iterator[tuple[Path, _Task]]:
            for name, block in corpus.blocks(workers):
                names.append(name)
                path = folder / kind / f"{name}.json"
                if not path.exists():
                    yield path, make(name, block)

        done = 0
        for size in executor.map(do_names, tasks()):
            done += size
            progress(stage, done, min(1.0, done / corpus.size) if corpus.size else None)
        return _add_up(folder / kind / f"{name}.json" for name in names)

    capitals = count("capitals", lambda name, block: CapitalTask(name, block, folder), "finding capitals")
    names = Names(capitals, {}, read_meanings(wordnet) if wordnet else None)
    open_words = filter(names.needs_reading, capitals)
    rates = {word: min(1.0, PASSAGES / max(1, Use(*capitals[word]).seen)) for word in open_words}
    if (folder / "rates.json").exists() and _load(folder / "rates.json") != rates:
        shutil.rmtree(folder / "people", ignore_errors=True)  # it has the counts of other passages
    _save(folder / "rates.json", rates)
    people = count("people", lambda name, block: PeopleTask(name, block, folder, model), "finding names")
    return replace(names, people=people)


def do_names(task: tuple[Path, CapitalTask | PeopleTask]) -> int:
    """Run a task on any worker, and write its counts; the number of bytes of its block."""
    path, work = task
    _save(path, work.run())
    return work.block.size


def _add_up(paths: Iterable[Path]) -> Counts:
    """The sum of the counts of all blocks."""
    total: Counts = {}
    for path in paths:
        for entry, counts in _load(path).items():
            total[entry] = tuple(map(sum, zip(counts, total.get(entry, [0] * len(counts)), strict=True)))
    return total


def _save(path: Path, values: Any) -> None:
    make_folder(path.parent)
    with writing(path) as stream:
        stream.write(json.dumps(values).encode())


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise damaged_file(path) from error
