"""WordNet entries as chunks, in all forms that WordNet's morphology knows."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.methods.decomposition.base import LexiconDecomposer
from textveil.text.documents import Document
from textveil.text.matching import Expression


class WordNet(LexiconDecomposer):
    """The entries that ``nltk.corpus.wordnet.synsets`` finds for words joined by underscores."""

    name = "wordnet"

    def find(self, documents: Sequence[Document]) -> list[list[Expression]]:
        """The entries of WordNet in every document. A word may have underscores of its own."""
        found = self.index.find(documents)
        for number, document in enumerate(documents):
            if "_" in document.text:
                found[number] = self.index.find_joined(document)
        return found
