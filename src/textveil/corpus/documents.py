"""Counting the documents of a corpus that have an expression, so that a bundle quotes nobody.

1f2e3d4c.txt    the expressions; the name of the file tells lists apart
BLOCK.npy       the number of documents of a block with each expression
"""

from __future__ import annotations

import shutil
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textveil.corpus.blocks import Block
from textveil.corpus.inputs import Corpus
from textveil.execution import Executor
from textveil.language.matching import LONGEST
from textveil.language.words import find_words
from textveil.progress import Progress
from textveil.storage.atomic import make_folder, writing
from textveil.storage.resumable import damaged_file


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
