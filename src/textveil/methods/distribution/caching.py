"""Scores that are kept: those of a document depend on neither the budget nor the decomposition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.errors import ParameterError
from textveil.methods.distribution.base import Distributor, Score
from textveil.storage.score_cache import ScoreCache, hash_text
from textveil.text.documents import Document
from textveil.version import __version__


class CachedDistributor(Distributor):
    """A distributor that scores a document once.

    Scores are found by a keyed hash of the document's text, and cached in memory, 8 bytes per word. In a folder they
    are stored beyond the process, for every distributor with its model and versions. No text is written. Several
    processes may share a folder.

    Args:
        distributor: What gives the scores that are not known yet.
        folder: Where scores are kept; by default, in memory only.
    """

    def __init__(self, distributor: Distributor, folder: Path | None = None) -> None:
        if isinstance(distributor, CachedDistributor):
            raise ParameterError("The scores of this distributor are cached already.")
        self.distributor = distributor
        self.name = distributor.name
        self.data_independent = distributor.data_independent
        self.invert = distributor.invert
        self.unscored = distributor.unscored
        self._kept = ScoreCache(folder, self.identity)

    def as_dict(self) -> dict[str, Any]:
        """As without the cache: the scores are the same."""
        return self.distributor.as_dict()

    @property
    def description(self) -> str:
        """As without the cache."""
        return self.distributor.description

    @property
    def versions(self) -> dict[str, str]:
        """As without the cache."""
        return self.distributor.versions

    @property
    def software(self) -> dict[str, str]:
        """As without the cache."""
        return self.distributor.software

    @property
    def identity(self) -> dict[str, object]:
        """All that scores depend on, besides the document."""
        return {"distributor": self.description, "versions": {"textveil": __version__, **self.software}}

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The scores that are known, and those of the distributor for other documents."""
        keys = [hash_text(document.text) for document in documents]
        if missing := self._kept.find_missing(keys):
            scores = self.distributor.score([documents[position] for position in missing])
            rows = (np.array(row, dtype=np.float64) for row in scores)  # None becomes NaN
            self._kept.add({keys[position]: row for position, row in zip(missing, rows, strict=True)})
        return [[None if math.isnan(score) else score for score in self._kept[key].tolist()] for key in keys]
