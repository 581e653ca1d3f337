"""Training word2vec on a file of tokens."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.corpus.settings import Training
from textveil.errors import SmallCorpusError
from textveil.extras import require
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import writing_folder
from textveil.storage.resumable import damaged_file


@dataclass(frozen=True, slots=True)
class TrainedVectors:
    """Entries in order of decreasing frequency, their counts, and their vectors."""

    entries: Sequence[str]
    counts: npt.NDArray[Any]
    matrix: npt.NDArray[Any]

    def save(self, folder: Path) -> None:
        """Write the vectors to a folder, which appears when it is complete."""
        with writing_folder(folder) as unfinished:
            (unfinished / "entries.json").write_text(json.dumps(list(self.entries)), encoding="utf-8")
            np.save(unfinished / "counts.npy", self.counts, allow_pickle=False)
            np.save(unfinished / "matrix.npy", self.matrix, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> TrainedVectors:
        """Open a folder that :meth:`save` wrote. The matrix is memory-mapped."""
        try:
            entries = json.loads((folder / "entries.json").read_bytes())
            counts = np.load(folder / "counts.npy", allow_pickle=False)
            matrix = np.load(folder / "matrix.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise damaged_file(folder) from error
        return cls(entries, counts, matrix)


def train(tokens: Path, training: Training, *, workers: int, progress: Progress = ignore_progress) -> TrainedVectors:
    """Train on a file of tokens with one document per line.

    Raises:
        SmallCorpusError: No token occurs often enough.
    """
    training.check()
    word2vec = require("gensim.models", extra="prepare").Word2Vec
    callbacks = require("gensim.models.callbacks", extra="prepare")

    class Reporting(callbacks.CallbackAny2Vec):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.epochs = 0

        def on_epoch_end(self, model: Any) -> None:
            self.epochs += 1
            progress("training", self.epochs, self.epochs / training.epochs)

    try:
        model = word2vec(
            corpus_file=str(tokens),
            vector_size=training.dimensions,
            window=training.window,
            min_count=training.min_entry_count,
            epochs=training.epochs,
            negative=training.negative,
            sg=int(training.skip_gram),
            max_final_vocab=training.most_entries,
            seed=training.seed,
            workers=workers,
            callbacks=[Reporting()],
        )
    except RuntimeError as error:  # gensim: you must first build vocabulary before training the model
        raise SmallCorpusError(
            f"The corpus is too small for `min_entry_count={training.min_entry_count}`: the most frequent chunk occurs "
            f"{_count_most_frequent(tokens)} times. Lower `min_entry_count`, or use more text."
        ) from error
    counts = [model.wv.get_vecattr(entry, "count") for entry in model.wv.index_to_key]
    return TrainedVectors(model.wv.index_to_key, np.array(counts, dtype=np.int64), model.wv.vectors)


def _count_most_frequent(tokens: Path) -> int:
    counts: Counter[str] = Counter()
    with tokens.open(encoding="utf-8") as lines:
        for line in lines:
            counts.update(line.split())
    return max(counts.values(), default=0)
