"""Lexicons: chunks are the collocations of three association measures, or the entries of WordNet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.methods.decomposition.base import Decomposer, build_chunks
from textveil.text.documents import Chunk, Document
from textveil.text.matching import Expression


class LexiconDecomposer(Decomposer):
    """Takes the longest expressions of the bundle's lexicon, from left to right."""

    def __init__(self, bundle: Bundle, **options: Any) -> None:
        super().__init__(bundle, **options)
        self.index = bundle.lexicon(self.name)

    def decompose(self, documents: Sequence[Document]) -> list[list[Chunk]]:
        """One chunk per expression, without stopwords at its edges."""
        return [build_chunks(*found) for found in zip(documents, self.find(documents), strict=True)]

    def find(self, documents: Sequence[Document]) -> list[list[Expression]]:
        """The expressions of every document."""
        return self.index.find(documents)


class PMI(LexiconDecomposer):
    """Collocations by pointwise mutual information."""

    name = "pmi"


class LLR(LexiconDecomposer):
    """Collocations by log-likelihood ratio."""

    name = "llr"


class TScore(LexiconDecomposer):
    """Collocations by t-score."""

    name = "tscore"


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
