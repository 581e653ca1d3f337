"""Splitting a corpus into chunks: tasks that workers do anywhere, and one file of tokens for gensim.

split/BLOCK.txt         the documents of a block, a line each; a chunk is a token, its words joined by underscores
split/BLOCK.json        mark of a block: its documents, words and tokens
tokens.txt              all blocks in order
split.json              what they have together
"""

from __future__ import annotations

import json
import operator
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path

from textveil.bundles.bundle import Bundle
from textveil.corpus.blocks import Block
from textveil.corpus.inputs import Corpus
from textveil.decomposition import DECOMPOSERS, Decomposer
from textveil.execution import Executor
from textveil.language.text import Document
from textveil.progress import Progress
from textveil.storage.atomic import output_error, writing
from textveil.storage.resumable import damaged_file

LONGEST_LINE = 10_000
"""gensim drops what is behind so many tokens of a line."""


@dataclass(frozen=True, slots=True)
class SplitMark:
    """What a finished task has done, or all of them together."""

    size: int = 0
    documents: int = 0
    words: int = 0
    tokens: int = 0

    def __add__(self, other: SplitMark) -> SplitMark:
        return SplitMark(*map(operator.add, astuple(self), astuple(other)))

    def write(self, path: Path) -> SplitMark:
        """Put the mark on the disk: the task is complete."""
        with writing(path) as stream:
            stream.write(json.dumps(asdict(self)).encode())
        return self

    @classmethod
    def load(cls, path: Path) -> SplitMark:
        """Read a mark."""
        try:
            return cls(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise damaged_file(path) from error


@dataclass(frozen=True, slots=True)
class SplitTask:
    """Split the documents of a block."""

    name: str
    block: Block
    folder: Path
    bundle: Path
    decomposition: str

    def run(self) -> SplitMark:
        """Write the tokens, then the mark."""
        decomposer = _load_decomposer(self.bundle, self.decomposition)
        documents = words = tokens = 0
        with writing(self.folder / f"{self.name}.txt") as stream:
            for texts in self.block.read():
                batch = [Document.parse(text) for text in texts if text is not None]
                for document, chunks in zip(batch, decomposer.decompose(batch), strict=True):
                    keys = list(map(document.key, chunks))
                    for start in range(0, len(keys), LONGEST_LINE):
                        line = " ".join(keys[start : start + LONGEST_LINE])
                        stream.write(line.encode(errors="replace") + b"\n")
                    documents, words, tokens = documents + 1, words + len(document.words), tokens + len(keys)
        return SplitMark(self.block.size, documents, words, tokens).write(self.folder / f"{self.name}.json")


@cache
def _load_decomposer(bundle: Path, decomposition: str) -> Decomposer:
    """Once for every worker, however many blocks it gets."""
    return DECOMPOSERS.load(decomposition)(Bundle(bundle))


def do_split(task: SplitTask) -> SplitMark:
    """Do a task, wherever this is."""
    return task.run()


def split_corpus(
    corpus: Corpus,
    folder: Path,
    executor: Executor,
    *,
    workers: int,
    bundle: Path,
    decomposition: str,
    progress: Progress,
) -> Path:
    """Split all of a corpus, or what is left of it; the file of tokens. ``split.json`` has what it is made of.

    Args:
        corpus: What to read.
        folder: Where to put the parts, and the file in the end.
        executor: Where the work is done.
        workers: How many workers the blocks of the corpus are made for.
        bundle: A bundle with the lexicons.
        decomposition: How to split.
        progress: Is told how far it is.
    """
    tokens = folder / "tokens.txt"
    if tokens.exists():
        return tokens
    parts = folder / "split"
    try:
        parts.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(parts, error) from error
    names: list[str] = []
    finished: list[SplitMark] = []

    def tasks() -> Iterator[SplitTask]:
        for name, block in corpus.blocks(workers):
            names.append(name)
            if (parts / f"{name}.json").exists():
                finished.append(SplitMark.load(parts / f"{name}.json"))
            else:
                yield SplitTask(name, block, parts, bundle, decomposition)

    total = SplitMark()
    for mark in executor.map(do_split, tasks()):
        while finished:  # first, so that progress begins where it was
            total += finished.pop()
        total += mark
        fraction = min(1.0, total.size / corpus.size) if corpus.size else None
        progress(f"splitting by {decomposition}", total.words, fraction)
    sum(finished, total).write(folder / "split.json")
    _join([parts / f"{name}.txt" for name in names], tokens)
    shutil.rmtree(parts)
    return tokens


def _join(parts: Sequence[Path], whole: Path) -> None:
    """Write files one behind the other."""
    with writing(whole) as stream:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, stream, 1 << 20)
