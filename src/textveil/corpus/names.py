"""Finding the names of people among a corpus's words, so that no bundle writes them.

Two things tell a name: spaCy takes a word for a part of a person's name, and inside sentences it is capitalised. Both
are counted in a sample of the corpus, and a word is a name when one of a few rules says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from textveil.atomic import output_error, writing
from textveil.corpus.blocks import Block
from textveil.corpus.inputs import Corpus
from textveil.errors import InputError
from textveil.execution import Executor
from textveil.extras import require
from textveil.progress import Progress
from textveil.stopwords import ENGLISH
from textveil.text import WORD

RULES = ((0.5, 0.5), (0.1, 0.9))
"""For each rule: in what share of its occurrences a name is a person's, and in what share it is capitalised."""
SAMPLE = 20_000
"""How many documents spaCy reads."""
LONGEST_TEXT = 2000
"""How many characters of each it reads."""
_INSIDE_SENTENCE = re.compile(r"(?<=[\w,;] )\w+")  # behind a word or a comma: no sentence begins here


@dataclass(frozen=True, slots=True)
class NameTask:
    """Count names and capitals in every so many documents of a block."""

    name: str
    block: Block
    folder: Path
    model: str
    step: int

    def run(self) -> None:
        """Write the counts."""
        counts = NameCounts()
        texts = [text for texts in self.block.read() for text in texts if text is not None]
        counts.add(texts[:: self.step], _load_model(self.model))
        with writing(self.folder / f"{self.name}.json") as stream:
            stream.write(json.dumps(counts.as_dict(), ensure_ascii=False).encode(errors="replace"))


class NameCounts:
    """How often words occur, how often as a part of a person's name, and how often capitalised inside a sentence."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.named: Counter[str] = Counter()
        self.inside: Counter[str] = Counter()
        self.capital: Counter[str] = Counter()

    def add(self, texts: Sequence[str], model: Any) -> None:
        """Count the words of texts."""
        for text in texts:
            words = _INSIDE_SENTENCE.findall(text)
            self.inside.update(word.lower() for word in words)
            self.capital.update(word.lower() for word in words if word.istitle())
        for document in model.pipe((text[:LONGEST_TEXT] for text in texts), batch_size=64):
            for token in document:
                words = WORD.findall(token.text.lower())
                self.seen.update(words)
                if token.ent_type_ == "PERSON":
                    self.named.update(words)

    def merge(self, values: Mapping[str, Mapping[str, int]]) -> None:
        """Add what another task has counted."""
        for kind, counts in values.items():
            getattr(self, kind).update(counts)

    def as_dict(self) -> dict[str, dict[str, int]]:
        """What was counted."""
        return {kind: dict(getattr(self, kind)) for kind in ("seen", "named", "inside", "capital")}

    def is_name(self, word: str) -> bool:
        """Whether a word is taken for a name."""
        if word in ENGLISH or not self.named[word]:
            return False
        named = self.named[word] / self.seen[word]
        capital = self.capital[word] / self.inside[word] if self.inside[word] else 0.0
        return any(named >= least_named and capital >= least_capital for least_named, least_capital in RULES)

    def choose(self, entries: Iterable[str]) -> list[str]:
        """The entries of which a word is a name."""
        return [entry for entry in entries if any(map(self.is_name, entry.split("_")))]


@cache
def _load_model(model: str) -> Any:
    return require("spacy", extra="prepare").load(model, exclude=["parser", "lemmatizer", "attribute_ruler"])


def do_names(task: NameTask) -> int:
    """Do a task, wherever this is; the bytes of the corpus that it stands for."""
    task.run()
    return task.block.size


def count_names(
    corpus: Corpus, folder: Path, executor: Executor, *, documents: int, model: str, progress: Progress
) -> NameCounts:
    """Count names and capitals in a sample of a corpus, or in what is left of it.

    Args:
        corpus: What to read.
        folder: Where to keep what was counted.
        executor: Where the work is done.
        documents: How many documents the corpus has.
        model: A model of spaCy that tells people's names: its name or folder.
        progress: Is told how far it is.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    step = max(1, documents // SAMPLE)
    names: list[str] = []

    def tasks() -> Iterator[NameTask]:
        for name, block in corpus.blocks(executor.workers):
            names.append(name)
            if not (folder / f"{name}.json").exists():
                yield NameTask(name, block, folder, model, step)

    done = 0
    for size in executor.map(do_names, tasks()):
        done += size
        progress("finding names", done, min(1.0, done / corpus.size) if corpus.size else None)
    counts = NameCounts()
    for name in names:
        try:
            counts.merge(json.loads((folder / f"{name}.json").read_bytes()))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{str(folder / name)!r} cannot be read. Start over with --overwrite.") from error
    return counts
