"""KeyBERT: words whose meaning is near that of the document are important."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import cast

import numpy as np

from textveil.methods.distribution.base import EncoderDistributor, Score
from textveil.models.encoders import SentenceEncoder, Values
from textveil.models.word_embeddings import WordEmbeddings, normalize
from textveil.registry import Option
from textveil.text.documents import Document

DIGITS = 4


class KeyBERT(EncoderDistributor):
    """KeyBERT's score: the cosine between the embeddings of word and document, rounded to four digits.

    A word is embedded once; after that, only documents are.
    """

    name = "keybert"
    invert = True
    packages = ("sentence-transformers", "torch", "transformers")

    options = (
        Option(
            "keep_words",
            bool,
            False,
            "Embed the whole vocabulary of the encoder once, and keep it in the cache folder for later runs.",
            changes_results=False,
        ),
    )
    keep_words: bool

    def load(self) -> SentenceEncoder:
        """Load the encoder as a sentence encoder."""
        return SentenceEncoder.open(self.files, **self.settings)

    @cached_property
    def words(self) -> WordEmbeddings:
        """The embeddings of words that were seen, and of the encoder's vocabulary if it is kept."""
        identity = {"model": self.files.sha256, "precision": self.precision, "versions": self.versions}
        return WordEmbeddings(cast("SentenceEncoder", self.encoder), identity, keep=self.keep_words)

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The similarity of every word to its document."""
        return [[round(cosine, DIGITS) for cosine in row.tolist()] for row in self.compare(documents)]

    def compare(self, documents: Sequence[Document]) -> list[Values]:
        """The cosine between every word and its document, not rounded."""
        texts = list({document.text: None for document in documents if document.words})
        if not texts:
            return [np.empty(0) for _ in documents]
        embedded = dict(zip(texts, normalize(cast("SentenceEncoder", self.encoder).embed(texts)), strict=True))
        distinct = {word: None for document in documents for word in document.words}
        rows = dict(zip(distinct, self.words.find(list(distinct)), strict=True))
        return [
            np.array([rows[word] for word in document.words]) @ embedded[document.text]
            if document.words
            else np.empty(0)
            for document in documents
        ]
