"""The originals of an evaluation, prepared once for many obfuscations."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from textveil.errors import InputError, ParameterError
from textveil.progress import Progress, ignore_progress
from textveil.randomness import SeededRandomness
from textveil.storage.score_cache import PROCESS_KEY, Key, Row, ScoreCache, hash_text, load_key, sign
from textveil.text.words import has_word

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
            self._caches[name] = ScoreCache(None, identity)
            if not in_memory and self._folder is not None:
                self._caches[name] = ScoreCache(self.folder, identity, load_key(self._folder))
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
        done, total, waiting, written = 0, len(missing), dict[Key, Row](), time.monotonic()
        try:
            for part in self._divide(keys, part_texts or PART_TEXTS) if missing else ():
                if chosen := [position for position in part if position in missing]:
                    progress(stage, done, done / total)
                    rows = (np.asarray(row, dtype=np.float64) for row in work(chosen))
                    waiting |= {keys[position]: row for position, row in zip(chosen, rows, strict=True)}
                    done += len(chosen)
                if waiting and time.monotonic() - written >= WRITE_SECONDS:
                    cached.add(waiting)
                    waiting, written = {}, time.monotonic()
        finally:  # also after an interruption
            if waiting:
                cached.add(waiting)
        if missing:
            progress(stage, total, 1.0)
        return [cached[key] for key in keys]

    def _divide(self, keys: Sequence[Key], size: int) -> Iterator[list[int]]:
        """Parts of the positions of distinct keys, with texts of similar length together, the longest first."""
        first: dict[Key, int] = {}
        for position, key in enumerate(keys):
            first.setdefault(key, position)
        order = sorted(first.values(), key=lambda position: -len(self._texts[position]))
        return (order[start : start + size] for start in range(0, len(order), size))


TEST_SHARE = 0.1
"""The share of every class to test on."""
FOLDS = 10
"""The number of parts of a cross-validation."""

Codes = npt.NDArray[np.int64]


class Split(NamedTuple):
    """The positions of training and test texts."""

    train: Codes
    test: Codes


@dataclass(frozen=True)
class Classes:
    """The classes of texts: sorted names, and the class number of every text."""

    column: str
    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, values: Sequence[str | None], rows: Sequence[int], column: str) -> Classes:
        """The classes of the given rows of a column.

        Raises:
            InputError: A value is missing, there is only one class, or a class has a single member.
        """
        for row in rows:
            if values[row] is None:
                raise InputError(f"Row {row + 1} has no {column}. Fill it in, or remove the row from both files.")
        names, first, codes, counts = np.unique(
            [str(values[row]) for row in rows], return_index=True, return_inverse=True, return_counts=True
        )
        if len(names) < 2:
            raise InputError(f"All texts have the same {column}. Choose a column with at least two values.")
        if counts.min() < 2:
            alone = rows[int(first[counts.argmin()])]
            raise InputError(
                f"Row {alone + 1} is the only one with its {column}. A class needs two texts, one for training and one "
                "for testing. Remove the row, or merge the class with another."
            )
        return cls(column, tuple(map(str, names)), codes.astype(np.int64))

    @property
    def hash(self) -> str:
        """A hash of the names and of the class of every text."""
        return hashlib.sha256(repr(self.names).encode() + self.codes.tobytes()).hexdigest()

    def split(self, seed: int) -> Split:
        """A random split by seed: a tenth of every class, but at least one text, is the test set."""
        generator = SeededRandomness(seed).stream(0)
        test: list[Codes] = []
        for code in range(len(self.names)):
            members = generator.permutation(np.flatnonzero(self.codes == code))
            test.append(members[: max(1, round(TEST_SHARE * len(members)))])
        chosen = np.zeros(len(self.codes), dtype=bool)
        chosen[np.concatenate(test)] = True
        return Split(np.flatnonzero(~chosen), np.flatnonzero(chosen))

    def fold(self, seed: int) -> list[Split]:
        """The splits of a cross-validation: every text is a test text once, and every part has its share of a class."""
        generator = SeededRandomness(seed).stream(0)
        parts = np.empty(len(self.codes), dtype=np.int64)
        for code in range(len(self.names)):
            members = generator.permutation(np.flatnonzero(self.codes == code))
            parts[members] = np.arange(len(members)) % FOLDS
        return [Split(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)]


class Dataset:
    """Original texts, with the label of a task and an attribute to protect.

    All metrics skip rows whose original contains no word. The number of these rows is reported. A label or attribute
    that cannot be learned, because a class has a single member for example, stops only the metrics that need it.

    Args:
        texts: The originals; ``None`` for a missing one.
        label: The label of every text, which a task predicts.
        attribute: The attribute of every text that an attacker wants to infer, such as its author.
        folder: The folder of cached scores. No text is written to it. By default scores are cached in memory.
        sample: Read at most this number of rows, always the same ones. By default all rows are read.

    Raises:
        InputError: No original contains a word.
        ParameterError: The label or attribute has not one value per text.
    """

    def __init__(
        self,
        texts: Sequence[str | None],
        *,
        label: Sequence[str | None] | None = None,
        attribute: Sequence[str | None] | None = None,
        folder: Path | None = None,
        sample: int | None = None,
    ) -> None:
        _check_texts(texts, "original")
        self.rows = [row for row, text in enumerate(texts) if text is not None and has_word(text)]
        if not self.rows:
            raise InputError("No original contains a word. Check the column of the texts.")
        self.size = len(texts)
        self.left_out = self.size - len(self.rows)
        """The number of rows whose original contains no word."""
        self.sampled_from: int | None = None
        """The number of rows that a sample was drawn from; ``None`` if all were read."""
        if sample is not None and sample < len(self.rows):
            self.sampled_from = len(self.rows)
            order = SeededRandomness(SAMPLE_SEED).stream(0).permutation(len(self.rows))
            self.rows = [self.rows[position] for position in sorted(order[:sample].tolist())]
        self._folder = folder
        self.originals = Texts([texts[row] or "" for row in self.rows], folder)
        self.problems: dict[str, str] = {}
        """The reason why the label or the attribute cannot be learned, by column."""
        self.label = self._classes(label, "label")
        self.attribute = self._classes(attribute, "attribute")

    def _classes(self, values: Sequence[str | None] | None, column: str) -> Classes | None:
        if values is None:
            return None
        if len(values) != self.size:
            raise ParameterError(
                f"`{column}` must have {self.size:,} values, one per text. Got {len(values):,} instead."
            )
        try:
            return Classes.of(values, self.rows, column)
        except InputError as error:
            self.problems[column] = str(error)
            return None

    def pair(self, obfuscated: Sequence[str | None]) -> Texts:
        """The obfuscated texts of the originals. A missing one counts as empty.

        Raises:
            InputError: Their number differs from that of the originals.
        """
        if len(obfuscated) != self.size:
            raise InputError(
                f"There are {self.size:,} originals and {len(obfuscated):,} obfuscated texts. Give the same rows in "
                "the same order."
            )
        _check_texts(obfuscated, "obfuscated text")
        return Texts([obfuscated[row] or "" for row in self.rows], self._folder)


def _check_texts(texts: Sequence[object], what: str) -> None:
    if isinstance(texts, str | bytes):
        raise ParameterError("`texts` must be a list of strings. Got a single string instead.")
    for row, text in enumerate(texts, start=1):
        if text is not None and not isinstance(text, str):
            raise ParameterError(f"The {what} of row {row} must be a string. Got {type(text).__name__} instead.")
