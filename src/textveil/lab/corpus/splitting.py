"""Splitting a corpus into chunks: tasks for workers, and one file of tokens for gensim.

split/BLOCK.txt         the documents of a block, one per line; a chunk is a token, with its words joined by underscores
split/BLOCK.json        the mark of a finished block: the numbers of its documents, words and tokens
tokens.txt              all blocks in order
split.json              the sums over all blocks
"""

from __future__ import annotations

import json
import operator
import shutil
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textveil.bundles.bundle import Bundle
from textveil.execution import Executor
from textveil.lab.corpus.inputs import Block, Corpus
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.progress import Progress
from textveil.storage.atomic import make_folder, writing
from textveil.storage.resumable import damaged_file
from textveil.text.documents import Document
from textveil.text.matching import LONGEST
from textveil.text.words import find_words

LONGEST_LINE = 10_000
"""The number of tokens that gensim reads from a line. It drops the rest."""


@dataclass(frozen=True, slots=True)
class SplitMark:
    """The result of a finished task, or the sum of several."""

    size: int = 0
    documents: int = 0
    words: int = 0
    tokens: int = 0

    def __add__(self, other: SplitMark) -> SplitMark:
        return SplitMark(*map(operator.add, astuple(self), astuple(other)))

    def write(self, path: Path) -> SplitMark:
        """Write the mark, which completes the task."""
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
        """Write the tokens and then the mark."""
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
    """Load the decomposer once per worker."""
    return DECOMPOSERS.load(decomposition)(Bundle(bundle))


def do_split(task: SplitTask) -> SplitMark:
    """Run a task on any worker."""
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
    """Split a corpus, or resume splitting it.

    Args:
        corpus: The corpus.
        folder: The folder for the parts and for the file of tokens.
        executor: Where the work runs.
        workers: The number of workers for which the corpus is divided into blocks.
        bundle: A bundle with the lexicons.
        decomposition: The name of the decomposition.
        progress: Is told about the progress.

    Returns:
        The file of tokens, next to ``split.json``.
    """
    tokens = folder / "tokens.txt"
    if tokens.exists():
        return tokens
    parts = folder / "split"
    make_folder(parts)
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
        while finished:  # first, so that progress resumes where it was
            total += finished.pop()
        total += mark
        fraction = min(1.0, total.size / corpus.size) if corpus.size else None
        progress(f"splitting by {decomposition}", total.words, fraction)
    sum(finished, total).write(folder / "split.json")
    join_files([parts / f"{name}.txt" for name in names], tokens)
    shutil.rmtree(parts)
    return tokens


def read_documents(tokens: Path) -> Iterator[list[str]]:
    """The tokens of every document. A document of more than ``LONGEST_LINE`` tokens has several lines."""
    waiting: list[str] = []
    with tokens.open(encoding="utf-8") as lines:
        for line in lines:
            part = line.split()
            waiting += part
            if len(part) < LONGEST_LINE:
                yield waiting
                waiting = []
    if waiting:
        yield waiting


def join_files(parts: Sequence[Path], whole: Path) -> None:
    """Concatenate files."""
    with writing(whole) as stream:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, stream, 1 << 20)


def join_tokens(tokens: Sequence[Path]) -> Path:
    """The file of tokens to train on: that of the corpus, joined with that of the background if there is one."""
    if len(tokens) == 1:
        return tokens[0]
    joined = tokens[-1].with_name("all.txt")
    join_files(tokens, joined)
    return joined


@dataclass(frozen=True, slots=True)
class DocumentTask:
    """Count the documents of a block that have each expression."""

    block: Block
    expressions: Path
    output: Path

    def run(self) -> int:
        """Write the counts; return the number of bytes of the block."""
        numbers = _load_numbers(self.expressions)
        counts: Counter[int] = Counter()
        for texts in self.block.read():
            for text in texts:
                if text is not None:
                    counts.update(_find(list(find_words(text)), numbers))
        found = np.zeros(len(numbers), dtype=np.int64)
        found[list(counts.keys())] = list(counts.values())
        with writing(self.output) as stream:
            np.save(stream, found, allow_pickle=False)
        return self.block.size


def _find(words: list[str], numbers: dict[str, int]) -> set[int]:
    """The numbers of the expressions in a document."""
    found = set()
    for length in range(2, LONGEST + 1):
        shifted = (words[start:] for start in range(length))
        found |= {numbers[ngram] for ngram in map(" ".join, zip(*shifted, strict=False)) if ngram in numbers}
    return found


@cache
def _load_numbers(path: Path) -> dict[str, int]:
    """Load the expressions once per worker."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return {expression: number for number, expression in enumerate(lines)}


def run_documents(task: DocumentTask) -> int:
    """Run a task on any worker."""
    return task.run()


def count_documents(
    corpus: Corpus,
    folder: Path,
    executor: Executor,
    *,
    workers: int,
    expressions: Sequence[str],
    progress: Progress,
) -> dict[str, int]:
    """Count the documents with each expression, or resume counting them.

    Args:
        corpus: The corpus.
        folder: The folder for the counts of blocks.
        executor: Where the work runs.
        workers: The number of workers for which the corpus is divided into blocks.
        expressions: Expressions of several words, with spaces between words.
        progress: Is told about the progress.
    """
    wanted = sorted(set(expressions))
    content = ("\n".join(wanted) + "\n").encode()
    listed = folder / f"{zlib.crc32(content):08x}.txt"
    if folder.exists() and not listed.exists():
        shutil.rmtree(folder)  # it has the counts of other expressions
    make_folder(folder)
    with writing(listed) as stream:
        stream.write(content)
    outputs: list[Path] = []

    def tasks() -> Iterator[DocumentTask]:
        for name, block in corpus.blocks(workers):
            outputs.append(folder / f"{name}.npy")
            if not outputs[-1].exists():
                yield DocumentTask(block, listed, outputs[-1])

    done = 0
    for size in executor.map(run_documents, tasks()):
        done += size
        progress("finding documents", done, min(1.0, done / corpus.size) if corpus.size else None)
    totals = sum(map(_load, outputs), np.zeros(len(wanted), dtype=np.int64))
    return dict(zip(wanted, totals.tolist(), strict=True))


def _load(path: Path) -> npt.NDArray[np.int64]:
    try:
        return np.load(path, allow_pickle=False)  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError) as error:
        raise damaged_file(path) from error
