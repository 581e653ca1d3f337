"""Finding people's names among the entries of a vocabulary, so that no bundle writes them.

Two signs identify a name: it is capitalized inside sentences, and spaCy recognizes it as part of a person's name.
Capitals are counted in the whole corpus. spaCy then reads a sample of passages for each mostly capitalized word.

entries.json            the entries
capitals/BLOCK.json     by word: the number of occurrences inside sentences, and the number of capitalized ones
rates.json              by mostly capitalized word: the share of its passages that is read
people/BLOCK.json       by entry: the number of occurrences in passages, and the number of those in a person's name
"""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from textveil.corpus.blocks import Block
from textveil.corpus.inputs import Corpus
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
PASSAGES = 20
"""The approximate number of passages that spaCy reads for a word."""
REACH = 150
"""The number of characters before and after the word in a passage."""
_LEAST_CAPITAL = min(capital for _, capital in RULES)
_INSIDE_SENTENCE = re.compile(r"(?<=[\w,;] )\w+")  # after a word or a comma, where no sentence begins
_LAST_WORD = re.compile(r"\S*$")
_FIRST_WORD = re.compile(r"\S*")

Counts = dict[str, tuple[int, int]]
"""By word or entry: the number of occurrences, and the number of those that count as a name."""
_Task = TypeVar("_Task", "CapitalTask", "PeopleTask")


@dataclass(frozen=True, slots=True)
class CapitalTask:
    """Count the capitalized words of a block."""

    name: str
    block: Block
    folder: Path

    def run(self) -> Counts:
        """The occurrences of every word inside sentences, and the capitalized ones."""
        wanted = {word for entry in _load(self.folder / "entries.json") for word in entry.split("_")}
        seen: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        for text in _read(self.block):
            words = _INSIDE_SENTENCE.findall(text)
            seen.update(map(fold, words))
            capital.update(fold(word) for word in words if word[0].isupper())
        return {word: (seen[word], capital[word]) for word in sorted(wanted & seen.keys())}


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
        passages = (passage for text in _read(self.block) for passage in sampler.choose(text))
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


def _read(block: Block) -> Iterator[str]:
    return (text for texts in block.read() for text in texts if text is not None)


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
    """The counts of capitals and of people's names, and the names that follow from them."""

    capitals: Counts
    people: Counts

    def is_name(self, word: str) -> bool:
        """Whether a word is a person's name by one of the rules."""
        person, capital = _share(self.people, word), _share(self.capitals, word)
        return word not in ENGLISH and any(
            person >= least_person and capital >= least_capital for least_person, least_capital in RULES
        )

    def choose(self, entries: Iterable[str]) -> list[str]:
        """The entries that are names: those with a word that is one, and those that mostly are one as a whole."""
        return [
            entry
            for entry in entries
            if any(map(self.is_name, words := entry.split("_")))
            or (len(words) > 1 and _share(self.people, entry) >= RULES[0][0])
        ]


def _share(counts: Counts, entry: str) -> float:
    seen, found = counts.get(entry, (0, 0))
    return found / seen if seen else 0.0


def find_names(
    corpus: Corpus,
    folder: Path,
    executor: Executor,
    *,
    workers: int,
    entries: Iterable[str],
    model: Path,
    progress: Progress,
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
    proper = {word: seen for word, (seen, capital) in capitals.items() if capital >= _LEAST_CAPITAL * seen}
    _save(folder / "rates.json", {word: min(1.0, PASSAGES / seen) for word, seen in proper.items()})
    people = count("people", lambda name, block: PeopleTask(name, block, folder, model), "finding names")
    return Names(capitals, people)


def do_names(task: tuple[Path, CapitalTask | PeopleTask]) -> int:
    """Run a task on any worker, and write its counts; the number of bytes of its block."""
    path, work = task
    _save(path, work.run())
    return work.block.size


def _add_up(paths: Iterable[Path]) -> Counts:
    """The sum of the counts of all blocks."""
    total: Counts = {}
    for path in paths:
        for entry, (seen, found) in _load(path).items():
            before = total.get(entry, (0, 0))
            total[entry] = before[0] + seen, before[1] + found
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
