"""Texts in their order, and the numbers that are kept of them."""

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
from textveil.storage.score_cache import Key, Row, ScoreCache, hash_text

PART_TEXTS = 512
"""Texts that are scored between two moments at which the scores are put on the disk."""

SAMPLE_SEED = 42


class Texts(Sequence[str]):
    """A list of texts; what is worked out of them is kept, in a folder of their own.

    Args:
        texts: The texts.
        folder: Below it, a folder for these very texts in this order; ``None`` keeps numbers in memory only.
    """

    def __init__(self, texts: Sequence[str], folder: Path | None = None) -> None:
        self._texts = tuple(texts)
        self._folder = folder
        self._kept: dict[str, ScoreCache] = {}
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
        """A hash of all texts in their order."""
        return hashlib.sha256(b"".join(self.keys)).hexdigest()

    def sample(self, size: int | None) -> Texts:
        """Some of the texts, the same ones for lists of the same length; all of them if there are no more."""
        if size is None or size >= len(self):
            return self
        if size not in self._samples:
            chosen = SeededRandomness(SAMPLE_SEED).stream(0).permutation(len(self))[:size]
            self._samples[size] = Texts([self._texts[position] for position in chosen], self._folder)
        return self._samples[size]

    def kept(self, identity: Mapping[str, object]) -> ScoreCache:
        """The numbers that are kept under this identity."""
        name = json.dumps(identity, sort_keys=True)
        if name not in self._kept:
            folder = None if self._folder is None else self._folder / self.hash[:16]
            self._kept[name] = ScoreCache(folder, identity)
        return self._kept[name]

    def score(
        self,
        identity: Mapping[str, object],
        work: Callable[[list[int]], Sequence[Row]],
        *,
        keys: Sequence[Key] | None = None,
        stage: str = "scoring",
        progress: Progress = ignore_progress,
    ) -> list[Row]:
        """A row of numbers for every text: those that are kept, and new ones, which are kept part by part.

        Args:
            identity: All that the numbers depend on, besides the texts.
            work: Gives the rows of the texts at some positions.
            keys: What the numbers are found by, if not the texts alone.
            stage: What ``progress`` is told is being done.
            progress: Is told how far the work is.
        """
        kept, keys = self.kept(identity), self.keys if keys is None else keys
        missing = kept.find_missing(keys)
        missing.sort(key=lambda position: -len(self._texts[position]))  # those of about the same length together
        for start in range(0, len(missing), PART_TEXTS):
            progress(stage, start, start / len(missing))
            part = missing[start : start + PART_TEXTS]
            rows = (np.asarray(row, dtype=np.float64) for row in work(part))
            kept.add({keys[position]: row for position, row in zip(part, rows, strict=True)})
        if missing:
            progress(stage, len(missing), 1.0)
        return [kept[key] for key in keys]
