"""How near an obfuscated text is in meaning: the cosine of sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from textveil.errors import ParameterError
from textveil.evaluation.base import Case, Measurement, Metric, identify
from textveil.extras import require_version
from textveil.models.encoders import BATCH_SIZE, DEFAULT_ENCODER, SentenceEncoder, Values
from textveil.models.files import EXTRA, ModelFiles
from textveil.storage.score_cache import Row, hash_text

PAPER_ENCODERS = ("all-minilm-l6-v2", "all-mpnet-base-v2", "gte-small")
_PACKAGES = ("sentence-transformers", "torch", "transformers")


class Similarity(Metric):
    """The cosine between the embeddings of original and obfuscated text, averaged over pairs and encoders.

    A text that is longer than an encoder's window is read in windows, of which the mean is taken; nothing is cut.

    Args:
        models: Sentence encoders: resources, folders, or OWNER/NAME in the cache of Hugging Face.
        sample: Pairs that are compared at most, always the same ones; by default all.
        batch_size: Windows of text that are read at a time.
        device: A device of PyTorch; by default a GPU if there is one.
    """

    name = "similarity"

    def __init__(
        self,
        *,
        models: Sequence[str | Path] = (DEFAULT_ENCODER,),
        sample: int | None = None,
        batch_size: int = BATCH_SIZE,
        device: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(models, str | Path) or not models:
            raise ParameterError("The models of similarity must be a list of one or more.")
        if sample is not None and sample < 1:
            raise ParameterError("Similarity needs a sample of one pair, at least.")
        for package in _PACKAGES:
            require_version(package, extra=EXTRA)
        self.encoders = [_CachedEncoder(ModelFiles.find(model), sample, batch_size, device) for model in models]

    @property
    def description(self) -> str:
        """The encoders with the hashes of their files."""
        return f"{self.name} ({', '.join(encoder.files.description for encoder in self.encoders)})"

    @property
    def versions(self) -> dict[str, str]:
        """Of the packages that run the encoders."""
        return {package: require_version(package, extra=EXTRA) for package in _PACKAGES}

    def measure(self, case: Case) -> Measurement:
        """Compare every pair, with every encoder."""
        means = {encoder.files.name: float(np.mean(encoder.compare(case, self.versions))) for encoder in self.encoders}
        cosine = float(np.mean(list(means.values())))
        return self.say(
            f"{cosine:.3f}: how near the obfuscated texts are in meaning, where 1 is the same text.",
            {"cosine": cosine},
            encoders=means,
        )


class _CachedEncoder:
    """An encoder whose embeddings of originals, and cosines of pairs, are kept."""

    def __init__(self, files: ModelFiles, sample: int | None, batch_size: int, device: str | None) -> None:
        self.files = files
        self._sample = sample
        self._batch_size = batch_size
        self._device = device

    @cached_property
    def model(self) -> SentenceEncoder:
        """The encoder, loaded on first use."""
        return SentenceEncoder.open(self.files, batch_size=self._batch_size, device=self._device)

    def compare(self, case: Case, versions: dict[str, str]) -> Values:
        """The cosine of every pair."""
        originals, obfuscated = case.originals.sample(self._sample), case.obfuscated.sample(self._sample)

        def embed(positions: list[int]) -> list[Row]:
            return list(self.model.embed([originals[position] for position in positions]))

        def find_cosines(positions: list[int]) -> list[Row]:
            rows = originals.score(
                identify(f"embedding {self.files.description}", versions),
                embed,
                stage=f"originals, {self.files.name}",
                progress=case.progress,
            )
            first = np.array([rows[position] for position in positions])
            second = self.model.embed([obfuscated[position] for position in positions])
            lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
            return list(((first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1))[:, None])

        kept = obfuscated.score(
            identify(f"cosine {self.files.description}", versions),
            find_cosines,
            keys=[hash_text(*pair) for pair in zip(originals, obfuscated, strict=True)],
            stage=f"similarity, {self.files.name}",
            progress=case.progress,
        )
        return np.concatenate(kept)
