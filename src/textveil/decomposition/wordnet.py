"""Chunks that are entries of WordNet, in any form that its morphology leads back to an entry."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.decomposition.base import LexiconDecomposer
from textveil.language.text import Document
from textveil.language.word_stream import Expression


class WordNet(LexiconDecomposer):
    """What ``nltk.corpus.wordnet.synsets`` finds for words joined by underscores; the lexicon has all their forms."""

    name = "wordnet"

    def find(self, documents: Sequence[Document]) -> list[list[Expression]]:
        """The entries of WordNet in every document. A word may have underscores of its own."""
        found = self.index.find(documents)
        for number, document in enumerate(documents):
            if "_" in document.text:
                found[number] = self.index.find_joined(document)
        return found
