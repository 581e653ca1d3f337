"""KeyBERT: words whose meaning is near that of the document are important."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from textveil.distribution.base import EncoderDistributor, Score
from textveil.extras import require
from textveil.language.text import Document
from textveil.models.encoders import SentenceEncoder
from textveil.models.files import EXTRA


class KeyBERT(EncoderDistributor):
    """KeyBERT's score: the cosine between the embeddings of word and document, rounded to four digits."""

    name = "keybert"
    invert = True
    packages = ("keybert", "scikit-learn", "sentence-transformers", "torch", "transformers")

    def load(self) -> SentenceEncoder:
        """Load the encoder as a sentence encoder."""
        return SentenceEncoder.open(self.files, batch_size=self.batch_size, device=self.device)

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The similarity of every word to its document."""
        known = {document.text: document.words for document in documents if document.words}
        found = dict(zip(known, self._extract(known), strict=True))
        return [[found[document.text][word] for word in document.words] for document in documents]

    def _extract(self, known: dict[str, tuple[str, ...]]) -> list[dict[str, float]]:
        """The scores of the words of several texts, by KeyBERT."""
        if not known:
            return []
        keybert = require("keybert", extra=EXTRA)
        vectorizers = require("sklearn.feature_extraction.text", extra=EXTRA)
        vocabulary = sorted({word for words in known.values() for word in words})
        encoder = cast("SentenceEncoder", self.encoder)
        keywords = keybert.KeyBERT(encoder.model).extract_keywords(
            list(known),
            vectorizer=vectorizers.CountVectorizer(analyzer=known.__getitem__, vocabulary=vocabulary),
            top_n=len(vocabulary),
            doc_embeddings=encoder.embed(list(known)),
            word_embeddings=encoder.embed(vocabulary),
        )
        return list(map(dict, [keywords] if len(known) == 1 else keywords))
