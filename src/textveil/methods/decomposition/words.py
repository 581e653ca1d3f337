"""One chunk per word: the reference point, which looks at no text, so that the profile proven needs no draft."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.methods.decomposition.base import Decomposer, single_words
from textveil.text.documents import Chunk, Document


class Words(Decomposer):
    """Every word is a chunk of its own."""

    name = "words"
    data_independent = True

    @property
    def versions(self) -> dict[str, str]:
        """Nothing else decides what a word is."""
        return {}

    def decompose(self, documents: Sequence[Document]) -> list[list[Chunk]]:
        """One chunk per word."""
        return [single_words(0, len(document.words)) for document in documents]
