"""Training word2vec on a file of tokens, for the entries of a vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import Matrix, find_axes, find_unit
from textveil.errors import SmallCorpusError
from textveil.execution import Executor
from textveil.extras import require
from textveil.lab.corpus.resumption import load_arrays, loading, save_arrays
from textveil.lab.corpus.settings import Selection, Training
from textveil.lab.corpus.splitting import read_documents
from textveil.models.encoders import SentenceEncoder
from textveil.models.files import ModelFiles
from textveil.progress import Progress, ignore_progress
from textveil.text.documents import spoken
from textveil.threads import limit_threads


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The entries of a decomposition in order of decreasing frequency.

    Attributes:
        entries: The entries.
        counts: The number of occurrences of each, in all documents.
        documents: The number of documents with each of them, except documents of the background.
        total: The number of these documents.
    """

    entries: Sequence[str]
    counts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    total: int

    def save(self, folder: Path) -> None:
        """Write the vocabulary to a folder, which appears when it is complete."""
        described = {"entries": list(self.entries), "total": self.total}
        save_arrays(folder, {"counts": self.counts, "documents": self.documents}, described)

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Open a folder that :meth:`save` wrote."""
        arrays, described = load_arrays(folder)
        with loading(folder):
            return cls(described["entries"], arrays["counts"], arrays["documents"], described["total"])


def choose_entries(tokens: Sequence[Path], selection: Selection) -> Vocabulary:
    """Choose the chunks that occur often enough, in enough documents.

    Args:
        tokens: The file of tokens, and that of the background if there is one. Documents of the background count as
            much, but not for ``documents``.
        selection: The thresholds.

    Raises:
        SmallCorpusError: No chunk occurs often enough.
    """
    counts, documents, total = _count(tokens[0])
    others: Counter[str] = Counter()
    for background in tokens[1:]:
        more, others, _ = _count(background)
        counts.update(more)
    frequent = [
        entry
        for entry, count in counts.items()
        if count >= selection.min_entry_count and documents[entry] + others[entry] >= selection.min_documents
    ]
    if not frequent:
        raise SmallCorpusError(_explain_empty(selection, counts, documents + others))
    entries = sorted(frequent, key=lambda entry: (-counts[entry], entry))[: selection.most_entries]
    return Vocabulary(
        entries,
        np.array([counts[entry] for entry in entries], dtype=np.int64),
        np.array([documents[entry] for entry in entries], dtype=np.int64),
        total,
    )


def _count(tokens: Path) -> tuple[Counter[str], Counter[str], int]:
    """The number of occurrences of each token, the number of documents with it, and of all documents."""
    counts: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    total = 0
    for document in read_documents(tokens):
        counts.update(document)
        documents.update(set(document))
        total += 1
    return counts, documents, total


def _explain_empty(selection: Selection, counts: Counter[str], documents: Counter[str]) -> str:
    most = max(counts.values(), default=0)
    if most < selection.min_entry_count:
        name, least, found = "min_entry_count", selection.min_entry_count, f"occurs {most} times"
    else:
        name, least = "min_documents", selection.min_documents
        found = f"is in {max(documents.values(), default=0)} documents"
    return (
        f"The corpus is too small for `{name}={least}`: the most frequent chunk {found}. "
        f"Lower `{name}`, or use more text."
    )


def save_vectors(matrix: npt.NDArray[Any], folder: Path) -> None:
    """Write the vectors of a vocabulary to a folder, which appears when it is complete."""
    save_arrays(folder, {"matrix": matrix})


def load_vectors(folder: Path) -> npt.NDArray[Any]:
    """Open a folder that :func:`save_vectors` wrote. The matrix is memory-mapped."""
    with loading(folder):
        return load_arrays(folder)[0]["matrix"]


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
    def output(self) -> Path:
        """The folder of the vectors, which appears when they are complete."""
        return self.folder / TRAINED


def do_train(task: TrainTask) -> str:
    """Write the vectors of a task, on any worker; return the name of the decomposition."""
    if not task.output.exists():  # a worker that was killed may have finished
        limit_threads(task.threads)
        entries = Vocabulary.load(task.folder / VOCABULARY).entries
        save_vectors(train(task.tokens, entries, task.training, workers=task.threads), task.output)
    return task.decomposition


def train_beside(tasks: Sequence[TrainTask], executor: Executor, memory: int, progress: Progress) -> None:
    """Train several decompositions at a time, each on its share of the cores. A last one that is alone is left out.

    Args:
        tasks: A task per decomposition.
        executor: Where the work runs.
        memory: The number of bytes of memory that all trainings at a time may use, approximately.
        progress: Is told about finished trainings.
    """
    sizes = [estimate_memory(len(Vocabulary.load(task.folder / VOCABULARY).entries), task.training) for task in tasks]
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


_BATCH_SIZE = 64  # entries are short
_REPORTED = 4096  # entries between two reports of progress


def embed_entries(files: ModelFiles, entries: Sequence[str], progress: Progress = ignore_progress) -> Matrix:
    """Let a sentence encoder read every entry as it is spoken: ``new_york`` as "new york"."""
    encoder = SentenceEncoder.open(files, batch_size=_BATCH_SIZE, device=None)
    parts = []
    for start in range(0, len(entries), _REPORTED):
        parts.append(encoder.embed([spoken(entry) for entry in entries[start : start + _REPORTED]]))
        done = min(start + _REPORTED, len(entries))
        progress("encoding", done, done / len(entries))
    return np.concatenate(parts).astype(np.float32)


def join_vectors(matrices: Sequence[npt.NDArray[Any]], dimensions: int) -> Matrix:
    """Join vectors of the same entries, and project them on their principal axes.

    Each matrix is divided by its median distance first, so that all count the same.
    """
    scaled = [np.asarray(matrix, dtype=np.float32) / find_unit(matrix) for matrix in matrices]
    joined = np.concatenate(scaled, axis=1)
    joined -= joined.mean(axis=0, dtype=np.float64).astype(np.float32)
    axes = find_axes((joined.T @ joined).astype(np.float64))[:, :dimensions].astype(np.float32)
    projected: Matrix = joined @ axes
    return projected
