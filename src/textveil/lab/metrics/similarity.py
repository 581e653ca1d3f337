"""Semantic similarity: the cosine between sentence embeddings of original and obfuscated texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.errors import ParameterError
from textveil.lab.metrics.base import SAMPLE_OPTION, Case, Measurement, Metric, identify, read_versions
from textveil.lab.metrics.encoding import BATCH_OPTION, PACKAGES, CachedEncoder, normalize_rows
from textveil.lab.metrics.uncertainty import average, describe_few
from textveil.models.encoders import DEFAULT_ENCODER, Values
from textveil.models.files import DEVICE_OPTION, MODEL_SOURCES, ModelFiles
from textveil.registry import Option
from textveil.storage.score_cache import Row, hash_text


class Similarity(Metric):
    """The cosine between the embeddings of original and obfuscated text, averaged over pairs and encoders.

    A text that is longer than an encoder's window is read in several windows, whose mean is taken. Nothing is cut,
    unless ``truncate`` is set.

    Args:
        options: The encoders (``models``), whether to ``truncate`` texts, the ``sample`` of pairs, the ``batch_size``,
            the ``device``, and whether to write the embeddings of originals to the cache (``keep_embeddings``).
    """

    name = "similarity"

    options = (
        Option(
            "models",
            object,
            (DEFAULT_ENCODER,),
            f"Sentence encoders: {MODEL_SOURCES}.",
            flag="--encoders",
            changes_results=False,  # their files do, and they are recorded
        ),
        Option(
            "truncate",
            bool,
            False,
            "Cut texts after an encoder's window, as in the paper. By default long texts are read in several windows.",
        ),
        SAMPLE_OPTION,
        BATCH_OPTION,
        DEVICE_OPTION,
        Option(
            "keep_embeddings",
            bool,
            False,
            "Write the embeddings of the originals to the cache, so that later runs need not compute them. Texts can "
            "be reconstructed from embeddings.",
            changes_results=False,
        ),
    )
    models: Sequence[str | Path]
    truncate: bool
    sample: int | None
    batch_size: int
    device: str | None
    keep_embeddings: bool

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.models, str | Path) or not isinstance(self.models, Sequence) or not self.models:
            raise ParameterError("`models` of similarity must be a list of at least one encoder.")
        read_versions(PACKAGES)
        files = [ModelFiles.find(model) for model in self.models]
        if len({each.name for each in files}) < len(files):
            raise ParameterError("Two of the `models` of similarity have the same name. Remove or rename one.")
        self.encoders = [
            CachedEncoder(
                each,
                batch_size=self.batch_size,
                device=self.device,
                truncate=self.truncate,
                keep_embeddings=self.keep_embeddings,
            )
            for each in files
        ]

    def as_dict(self) -> dict[str, Any]:
        """The record of the metric, with its encoders."""
        return {**super().as_dict(), "models": [encoder.files.as_dict() for encoder in self.encoders]}

    @property
    def description(self) -> str:
        """The encoders with their hashes, whether texts are cut, and the sample if there is one."""
        details = [encoder.files.description for encoder in self.encoders]
        details += ["truncate"] if self.truncate else []
        details += [] if self.sample is None else [f"sample {self.sample}"]
        return f"{self.name} ({', '.join(details)})"

    @property
    def versions(self) -> dict[str, str]:
        """The packages that run the encoders."""
        return read_versions(PACKAGES)

    def measure(self, case: Case) -> Measurement:
        """Compare every pair with every encoder."""
        found = {encoder.files.name: self._compare(encoder, case) for encoder in self.encoders}
        cosines = np.mean(list(found.values()), axis=0)
        cosine = average(cosines)
        return self.report(
            f"The mean cosine similarity of {len(cosines):,} original and obfuscated texts is "
            f"{cosine.show('.3f', first=True)}; identical texts have 1.",
            {"cosine": cosine},
            caveats=describe_few(len(cosines), "pairs of texts"),
            encoders={name: float(np.mean(each)) for name, each in found.items()},
            pairs=len(cosines),
        )

    def _compare(self, encoder: CachedEncoder, case: Case) -> Values:
        """The cosine of every pair, which is cached."""
        originals, obfuscated = case.originals.sample(self.sample), case.obfuscated.sample(self.sample)

        def find_cosines(positions: list[int]) -> list[Row]:
            first = encoder.embed_all(originals, originals=True, progress=case.progress)[positions]
            products = normalize_rows(first) * normalize_rows(encoder.embed(obfuscated, positions))
            return list(products.sum(axis=1, keepdims=True))

        cosines = obfuscated.score(
            identify("cosine", self.versions, **encoder.record),
            find_cosines,
            keys=[hash_text(*pair) for pair in zip(originals, obfuscated, strict=True)],
            stage=f"similarity, {encoder.files.name}",
            progress=case.progress,
        )
        return np.concatenate(cosines)
