"""Ordered texts with cached scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from textveil.progress import Progress, ignore_progress
from textveil.randomness import SeededRandomness
from textveil.storage.score_cache import Key, Row, ScoreCache, hash_text, sign
from textveil.storage.secret_key import load_key

PART_TEXTS = 512
"""Texts to score before the scores are written to disk."""

SAMPLE_SEED = 42


class Texts(Sequence[str]):
    """A list of texts with a cache of the scores computed from them.

    Args:
        texts: The texts.
        folder: The folder of the cache, in which each list of texts has its own subfolder. ``None`` caches in memory.
            Hashes of texts are keyed there, with the secret of the folder.
    """

    def __init__(self, texts: Sequence[str], folder: Path | None = None) -> None:
        self._texts = tuple(texts)
        self._folder = folder
        self._caches: dict[str, ScoreCache] = {}
        self._samples: dict[int, Texts] = {}

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, position: int) -> str: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[str, ...]: ...

    def __getitem__(self, position: int | slice) -> str | tuple[str, ...]:
        return self._texts[position]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    @cached_property
    def keys(self) -> list[Key]:
        """The hash of every text."""
        return [hash_text(text) for text in self._texts]

    @cached_property
    def hash(self) -> str:
        """A plain SHA-256 of all texts in order. Caches do not store it."""
        return hashlib.sha256(b"".join(self.keys)).hexdigest()

    def sample(self, size: int | None) -> Texts:
        """A sample of the texts, or all of them if there are no more. Lists of the same length share its positions."""
        if size is None or size >= len(self):
            return self
        if size not in self._samples:
            chosen = SeededRandomness(SAMPLE_SEED).stream(0).permutation(len(self))[:size]
            self._samples[size] = Texts([self._texts[position] for position in chosen], self._folder)
        return self._samples[size]

    def cached(self, identity: Mapping[str, object], *, in_memory: bool = False) -> ScoreCache:
        """The cache of the scores with this identity; ``in_memory`` writes nothing to the folder."""
        name = json.dumps([identity, in_memory], sort_keys=True)
        if name not in self._caches:
            self._caches[name] = ScoreCache(None, identity) if in_memory else self._open_cache(identity)
        return self._caches[name]

    def _open_cache(self, identity: Mapping[str, object]) -> ScoreCache:
        if self._folder is None:
            return ScoreCache(None, identity)
        secret = load_key(self._folder)
        return ScoreCache(self._folder / sign(bytes.fromhex(self.hash), secret).hex()[:16], identity, secret)

    def score(
        self,
        identity: Mapping[str, object],
        work: Callable[[list[int]], Sequence[Row]],
        *,
        keys: Sequence[Key] | None = None,
        in_memory: bool = False,
        stage: str = "scoring",
        progress: Progress = ignore_progress,
    ) -> list[Row]:
        """A row of numbers for every text: cached ones, and new ones, which are cached part by part.

        Args:
            identity: Everything that the numbers depend on besides the texts.
            work: Computes the rows of the texts at the given positions.
            keys: The keys of the cache; by default the hashes of the texts.
            in_memory: Write nothing to the folder of the cache.
            stage: The name of the work in progress reports.
            progress: Receives progress reports.
        """
        cached, keys = self.cached(identity, in_memory=in_memory), self.keys if keys is None else keys
        missing = cached.find_missing(keys)
        missing.sort(key=lambda position: -len(self._texts[position]))  # texts of similar length together
        for start in range(0, len(missing), PART_TEXTS):
            progress(stage, start, start / len(missing))
            part = missing[start : start + PART_TEXTS]
            rows = (np.asarray(row, dtype=np.float64) for row in work(part))
            cached.add({keys[position]: row for position, row in zip(part, rows, strict=True)})
        if missing:
            progress(stage, len(missing), 1.0)
        return [cached[key] for key in keys]
