"""Training word2vec on a file of tokens, for the entries of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.corpus.settings import Training
from textveil.extras import require
from textveil.progress import Progress, ignore_progress


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
