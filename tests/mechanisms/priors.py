"""A language model that is a table, for tests of mechanisms."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from textveil.bundles.vectors import UNKNOWN


class TablePrior:
    """A bigram model: the log-probabilities of all entries after each entry, and without a context."""

    order = 2
    identity: ClassVar = {"name": "prior", "sha256": "0" * 64}

    @property
    def entries(self) -> int:
        return self.table.shape[1]

    def __init__(self, table: np.ndarray) -> None:
        self.table = np.log(table / table.sum(axis=1, keepdims=True)).astype(np.float32)  # the last row: no context

    @classmethod
    def random(cls, entries: int, seed: int = 3) -> TablePrior:
        return cls(np.random.default_rng(seed).gamma(0.3, size=(entries + 1, entries)) + 1e-6)

    @classmethod
    def constant(cls, entries: int) -> TablePrior:
        return cls(np.ones((entries + 1, entries)))

    def restrict(self, rows: np.ndarray) -> TablePrior:
        restricted = TablePrior.__new__(TablePrior)
        restricted.table = self.table[:, rows]
        return restricted

    def fill(self, contexts: np.ndarray, out: np.ndarray) -> None:
        assert contexts.shape == (len(out), 1)
        assert (contexts >= UNKNOWN).all()  # nothing that is not written yet
        out[:] = self.table[contexts[:, -1]]

    @property
    def unigrams(self) -> np.ndarray:
        return self.table[-1]

    def find_changes(self, context: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        assert context.shape == (1,)
        if context[-1] == UNKNOWN:
            return 0.0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        return 0.0, np.arange(self.table.shape[1]), self.table[context[-1]]
