"""One chunk per word: the reference point, and what the proven profile needs."""

from __future__ import annotations

from textveil.decomposition.base import Decomposer
from textveil.text import Chunk, Document


class Words(Decomposer):
    """Every word is a chunk of its own."""

    name = "words"
    data_independent = True

    def decompose(self, document: Document) -> list[Chunk]:
        """One chunk per word."""
        return [Chunk(position, position + 1) for position in range(len(document.words))]
