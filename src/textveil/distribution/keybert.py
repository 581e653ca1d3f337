"""Words that mean what the whole document means are important."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from textveil.distribution.base import EncoderDistributor, Score
from textveil.extras import require
from textveil.language.text import Document
from textveil.models.encoders import SentenceEncoder
from textveil.models.files import EXTRA


class KeyBERT(EncoderDistributor):
    """KeyBERT's score of every word: the cosine of its embedding with that of the document, to four digits."""

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
