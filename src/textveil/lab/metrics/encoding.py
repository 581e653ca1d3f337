"""Embeddings of texts by a sentence encoder, computed once for all metrics that use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache

import numpy as np

from textveil.lab.metrics.base import identify, read_versions
from textveil.lab.metrics.dataset import Texts
from textveil.models.encoders import BATCH_SIZE, DEFAULT_ENCODER, SentenceEncoder, Values
from textveil.models.files import MODEL_SOURCES, ModelFiles
from textveil.progress import Progress, ignore_progress
from textveil.registry import Option
from textveil.storage.score_cache import Row

PACKAGES = ("sentence-transformers", "torch", "transformers")
"""The packages that run an encoder."""
ENCODER_OPTION = Option(
    "model",
    str,
    DEFAULT_ENCODER,
    f"Sentence encoder: {MODEL_SOURCES}.",
    changes_results=False,  # its files do, and they are recorded
)
"""The option of metrics that use one encoder."""
BATCH_OPTION = Option(
    "batch_size", int, BATCH_SIZE, "Windows of text to encode at a time.", least=1, changes_results=False
)
LOADED = 3
"""The number of encoders to hold in memory. The paper uses three."""


@dataclass
class CachedEncoder:
    """An encoder that computes the embedding of a text once.

    Embeddings are cached in memory, with their texts. Metrics that use the same encoder share them.

    Args:
        files: The files of the encoder.
        batch_size: Windows of text to encode at a time.
        device: The PyTorch device; by default a GPU if there is one.
        truncate: Cut texts after the encoder's window.
        keep_embeddings: Write the embeddings of originals to the cache on disk.
    """

    files: ModelFiles
    _: KW_ONLY
    batch_size: int = BATCH_SIZE
    device: str | None = None
    truncate: bool = False
    keep_embeddings: bool = False

    @cached_property
    def model(self) -> SentenceEncoder:
        """The encoder, loaded on first use."""
        return _load(self.files, self.files.sha256, self.batch_size, self.device)

    @property
    def record(self) -> dict[str, object]:
        """Everything about the encoder that embeddings depend on."""
        return {"model": self.files.as_dict(), "truncate": self.truncate}

    def embed_all(self, texts: Texts, *, originals: bool = False, progress: Progress = ignore_progress) -> Values:
        """The embeddings of all texts.

        Args:
            texts: The texts.
            originals: Whether the texts are originals, whose embeddings can be kept on disk.
            progress: Receives progress reports.
        """

        def work(positions: list[int]) -> list[Row]:
            return list(self._read(texts, positions))

        stage = f"{'originals' if originals else 'embeddings'}, {self.files.name}"
        in_memory = not (originals and self.keep_embeddings)
        return np.array(texts.score(self._identity, work, in_memory=in_memory, stage=stage, progress=progress))

    def embed(self, texts: Texts, positions: Sequence[int]) -> Values:
        """The embeddings of the texts at some positions, cached in memory."""
        cached = texts.cached(self._identity, in_memory=True)
        keys = [texts.keys[position] for position in positions]
        if missing := cached.find_missing(keys):
            rows = self._read(texts, [positions[number] for number in missing])
            cached.add({keys[number]: row for number, row in zip(missing, rows, strict=True)})
        return np.array([cached[key] for key in keys])

    @property
    def _identity(self) -> dict[str, object]:
        return identify("embedding", read_versions(PACKAGES), **self.record)

    def _read(self, texts: Texts, positions: Sequence[int]) -> Values:
        return self.model.embed([texts[position] for position in positions], truncate=self.truncate)


@lru_cache(maxsize=LOADED)
def _load(files: ModelFiles, _sha256: str, batch_size: int, device: str | None) -> SentenceEncoder:
    """Load an encoder once per process. Its hash is a part of the key, since files can change."""
    return SentenceEncoder.open(files, batch_size=batch_size, device=device)


def normalize_rows(rows: Values) -> Values:
    """Rows of length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    normalized: Values = rows / np.where(lengths > 0, lengths, 1)
    return normalized
