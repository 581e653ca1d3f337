"""Training word2vec on a file of tokens, for the entries of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.corpus.settings import Training
from textveil.corpus.vocabulary import Vocabulary, save_vectors
from textveil.execution import Executor
from textveil.extras import require
from textveil.progress import Progress, ignore_progress
from textveil.threads import limit_threads

VOCABULARY = "vocabulary"
"""The folder of the entries of a decomposition."""
TRAINED = "word2vec"
"""The folder of its trained vectors."""


def train(
    tokens: Path,
    entries: Sequence[str],
    training: Training,
    *,
    workers: int,
    progress: Progress = ignore_progress,
) -> npt.NDArray[Any]:
    """Train on a file of tokens with one document per line; the vectors of the entries, in their order.

    All other tokens are dropped before training, as gensim drops rare ones.
    """
    training.check()
    word2vec = require("gensim.models", extra="prepare").Word2Vec
    rules = require("gensim.utils", extra="prepare")
    callbacks = require("gensim.models.callbacks", extra="prepare")

    class Reporting(callbacks.CallbackAny2Vec):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.epochs = 0

        def on_epoch_end(self, model: Any) -> None:
            self.epochs += 1
            progress("training", self.epochs, self.epochs / training.epochs)

    wanted = frozenset(entries)

    def choose(word: str, _count: int, _min_count: int) -> int:
        return int(rules.RULE_KEEP if word in wanted else rules.RULE_DISCARD)

    model = word2vec(
        corpus_file=str(tokens),
        vector_size=training.dimensions,
        window=training.window,
        min_count=1,
        trim_rule=choose,
        epochs=training.epochs,
        negative=training.negative,
        sg=int(training.architecture == "skip-gram"),
        seed=training.seed,
        workers=workers,
        callbacks=[Reporting()],
    )
    return np.array(model.wv.vectors[[model.wv.key_to_index[entry] for entry in entries]])


@dataclass(frozen=True, slots=True)
class TrainTask:
    """Train the vectors of a decomposition, beside those of others.

    Args:
        decomposition: The name of the decomposition.
        tokens: The file of tokens.
        folder: The folder of the decomposition, with its vocabulary.
        training: The parameters of word2vec.
        threads: The number of threads. With one, the result is always the same.
    """

    decomposition: str
    tokens: Path
    folder: Path
    training: Training
    threads: int = 1

    @property
    def entries(self) -> Sequence[str]:
        """The entries to train."""
        return Vocabulary.load(self.folder / VOCABULARY).entries

    @property
    def output(self) -> Path:
        """The folder of the vectors, which appears when they are complete."""
        return self.folder / TRAINED

    def run(self) -> str:
        """Write the vectors; return the name of the decomposition."""
        if not self.output.exists():  # a worker that was killed may have finished
            limit_threads(self.threads)
            save_vectors(train(self.tokens, self.entries, self.training, workers=self.threads), self.output)
        return self.decomposition


def do_train(task: TrainTask) -> str:
    """Run a task on any worker."""
    return task.run()


def train_beside(tasks: Sequence[TrainTask], executor: Executor, memory: int, progress: Progress) -> None:
    """Train several decompositions at a time, each on its share of the cores. A last one that is alone is left out.

    Args:
        tasks: A task per decomposition.
        executor: Where the work runs.
        memory: The number of bytes of memory that all trainings at a time may use, approximately.
        progress: Is told about finished trainings.
    """
    sizes = [estimate_memory(len(task.entries), task.training) for task in tasks]
    beside = max(1, min(executor.workers, memory // max(sizes, default=1)))
    for start in range(0, len(tasks), beside):
        group = tasks[start : start + beside]
        if len(group) == 1:
            continue
        # A worker of a cluster has one core.
        threads = 1 if executor.name == "ray" else max(1, executor.workers // len(group))
        for task in group:
            progress(f"training {task.decomposition}", 0, 0.0)
        for name in executor.map(do_train, [replace(task, threads=threads) for task in group]):
            progress(f"training {name}", tasks[0].training.epochs, 1.0)


def estimate_memory(entries: int, training: Training) -> int:
    """The approximate bytes of memory that a training needs: two matrices in single precision, and the vocabulary."""
    return _BASE_BYTES + entries * (2 * 4 * training.dimensions + _ENTRY_BYTES)


_BASE_BYTES = 256 << 20  # the libraries, and the tokens that are left out
_ENTRY_BYTES = 1000
