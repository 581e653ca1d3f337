"""Ordered texts with cached scores."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from textveil.progress import Progress, ignore_progress
from textveil.randomness import SeededRandomness
from textveil.storage.score_cache import Key, Row, ScoreCache, hash_text, sign
from textveil.storage.secret_key import PROCESS_KEY, load_key

PART_TEXTS = 32
"""Texts to score at a time."""
WRITE_SECONDS = 5.0
"""The largest time between two writes of scores to disk, apart from the time of one part."""

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

    @cached_property
    def folder(self) -> Path | None:
        """The folder of everything that is cached for this list of texts, named by a keyed hash."""
        if self._folder is None:
            return None
        return self._folder / sign(bytes.fromhex(self.hash), load_key(self._folder)).hex()[:16]

    def sign(self, key: Key) -> Key:
        """The keyed hash of a hash, with the secret of the cache."""
        return sign(key, PROCESS_KEY if self._folder is None else load_key(self._folder))

    def _open_cache(self, identity: Mapping[str, object]) -> ScoreCache:
        return ScoreCache(self.folder, identity, None if self._folder is None else load_key(self._folder))

    def score(
        self,
        identity: Mapping[str, object],
        work: Callable[[list[int]], Sequence[Row]],
        *,
        keys: Sequence[Key] | None = None,
        in_memory: bool = False,
        part_texts: int | None = None,
        stage: str = "scoring",
        progress: Progress = ignore_progress,
    ) -> list[Row]:
        """A row of numbers for every text: cached ones, and new ones, which are cached part by part.

        Scores are written every few seconds, and before an exception leaves this method. Parts do not depend on
        cached scores: after an interruption, a model reads the same texts together as without it.

        Args:
            identity: Everything that the numbers depend on besides the texts.
            work: Computes the rows of the texts at the given positions.
            keys: The keys of the cache; by default the hashes of the texts.
            in_memory: Write nothing to the folder of the cache.
            part_texts: The number of texts to score at a time; by default :data:`PART_TEXTS`.
            stage: The name of the work in progress reports.
            progress: Receives progress reports.
        """
        cached, keys = self.cached(identity, in_memory=in_memory), self.keys if keys is None else keys
        missing = set(cached.find_missing(keys))
        if missing:
            done, total = 0, len(missing)
            with _writing_regularly(cached) as add:
                for part in self._divide(keys, part_texts or PART_TEXTS):
                    if chosen := [position for position in part if position in missing]:
                        progress(stage, done, done / total)
                        rows = (np.asarray(row, dtype=np.float64) for row in work(chosen))
                        add({keys[position]: row for position, row in zip(chosen, rows, strict=True)})
                        done += len(chosen)
            progress(stage, total, 1.0)
        return [cached[key] for key in keys]

    def _divide(self, keys: Sequence[Key], size: int) -> Iterator[list[int]]:
        """Parts of the positions of distinct keys, with texts of similar length together, the longest first."""
        first: dict[Key, int] = {}
        for position, key in enumerate(keys):
            first.setdefault(key, position)
        order = sorted(first.values(), key=lambda position: -len(self._texts[position]))
        return (order[start : start + size] for start in range(0, len(order), size))


@contextmanager
def _writing_regularly(cached: ScoreCache) -> Iterator[Callable[[dict[Key, Row]], None]]:
    """A function that adds rows to a cache, at the latest after some seconds, and in any case at the end."""
    waiting: dict[Key, Row] = {}
    written = time.monotonic()

    def write() -> None:
        nonlocal written
        if waiting:
            cached.add(waiting)
            waiting.clear()
        written = time.monotonic()

    def add(rows: dict[Key, Row]) -> None:
        waiting.update(rows)
        if time.monotonic() - written >= WRITE_SECONDS:
            write()

    try:
        yield add
    finally:  # also after an interruption
        write()
