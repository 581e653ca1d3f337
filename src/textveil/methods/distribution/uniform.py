"""Uniform: every word is equally important."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.methods.distribution.base import Distributor, Score
from textveil.text.documents import Document


class Uniform(Distributor):
    """The budget divided evenly over the words that take part."""

    name = "uniform"
    data_independent = True

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """A score of 1 for every word."""
        return [[1.0] * len(document.words) for document in documents]
