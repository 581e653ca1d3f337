"""Words that mean what the whole document means are important."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.distribution.base import EncoderDistributor, Score
from textveil.encoders import EXTRA, Batch, Encoder, Values, choose_device, reading_model
from textveil.extras import require
from textveil.text import Document


class KeyBERT(EncoderDistributor):
    """KeyBERT's score of every word: the cosine of its embedding with that of the document, to four digits."""

    name = "keybert"
    invert = True
    packages = ("keybert", "scikit-learn", "sentence-transformers", "torch", "transformers")

    def load(self) -> Encoder:
        """Load the encoder as a sentence encoder, with the pooling that it comes with."""
        transformers = require("sentence_transformers", extra=EXTRA)
        with reading_model(self.files):
            model = transformers.SentenceTransformer(
                str(self.files.folder),
                device=choose_device(self.device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": "float32"},
            )
        return Encoder(
            self.files,
            model,
            model.tokenizer,
            window=model.max_seq_length,
            batch_size=self.batch_size,
            device=self.device,
        )

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
        keywords = keybert.KeyBERT(self.encoder.model).extract_keywords(
            list(known),
            vectorizer=vectorizers.CountVectorizer(analyzer=known.__getitem__, vocabulary=vocabulary),
            top_n=len(vocabulary),
            doc_embeddings=self._embed(list(known)),
            word_embeddings=self._embed(vocabulary),
        )
        return list(map(dict, [keywords] if len(known) == 1 else keywords))

    def _embed(self, texts: Sequence[str]) -> Values:
        """The embedding of every text; of a long one, the mean over its windows."""
        return np.array([text.average() for text in self.encoder.read(texts, self._look)])

    def _look(self, batch: Batch) -> Any:
        with self.encoder.torch.inference_mode():
            features = {"input_ids": batch.ids, "attention_mask": batch.mask}
            return self.encoder.model(features)["sentence_embedding"]
