"""Runs: sorted keys with their counts, in Arrow files that are read and merged range by range.

A key is a word, or a pair of ids in one 64-bit integer (:mod:`textveil.corpus.counting.pairs`). One part of the corpus
writes one run. All runs together are far larger than memory, so they are merged range by range, and each range fits.
"""

from __future__ import annotations

import bisect
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textveil.corpus.counting.pairs import NONE, Pairs
from textveil.corpus.counting.words import Ids
from textveil.errors import InputError
from textveil.storage.atomic import writing

Counts = NDArray[np.int64]
Key = str | int

BATCH_ROWS = 1 << 12
"""The number of rows in a batch, the smallest piece that is read."""
LEAST_BATCHES = 16
"""The least number of batches of a run. Their first keys show how its keys are distributed."""


class Keys(ABC):
    """An array of keys, sorted except where a method says otherwise."""

    arrow_type: ClassVar[Any]

    @abstractmethod
    def to_arrow(self) -> Any:
        """The keys as an Arrow array."""

    @abstractmethod
    def locate(self, key: Key) -> int:
        """The number of keys that are smaller than ``key``."""

    @abstractmethod
    def cut(self, start: int, stop: int) -> Keys:
        """The keys from ``start`` up to ``stop``."""

    @abstractmethod
    def take(self, places: NDArray[np.intp]) -> Keys:
        """The keys at these indices."""

    @abstractmethod
    def first(self) -> Key:
        """The first key of a non-empty array."""

    @abstractmethod
    def last(self) -> Key:
        """The last key of a non-empty array."""

    @abstractmethod
    def find_in(self, others: Keys) -> NDArray[np.int64]:
        """The index of every key in another array; -1 if it is not there."""

    @abstractmethod
    def __len__(self) -> int: ...

    @classmethod
    @abstractmethod
    def join(cls, keys: Sequence[Keys]) -> Keys:
        """Concatenate arrays."""

    @abstractmethod
    def order(self) -> NDArray[np.intp]:
        """The indices that sort the keys."""

    @abstractmethod
    def changes(self) -> NDArray[np.bool_]:
        """Whether each key except the first differs from its predecessor."""

    @classmethod
    def sum_equal(cls, keys: Sequence[Keys], counts: Counts) -> tuple[Keys, Counts]:
        """The distinct keys of several arrays, not all of them empty, with the sums of their counts."""
        joined = cls.join(keys)
        order = joined.order()
        joined, counts = joined.take(order), counts[order]
        del order
        starts = np.flatnonzero(np.concatenate(([True], joined.changes())))
        return joined.take(starts), np.add.reduceat(counts, starts)


@dataclass(frozen=True, slots=True)
class PairKeys(Keys):
    """Pairs of numbers."""

    values: Pairs
    arrow_type = pa.uint64()

    @classmethod
    def from_arrow(cls, array: Any) -> PairKeys:
        """The keys of an Arrow array."""
        return cls(array.to_numpy())

    def to_arrow(self) -> Any:
        """The pairs as an Arrow array."""
        return pa.array(self.values)

    def locate(self, key: Key) -> int:
        """The number of pairs that are smaller."""
        return int(np.searchsorted(self.values, np.uint64(key)))

    def cut(self, start: int, stop: int) -> PairKeys:
        """A selection of the pairs."""
        return PairKeys(self.values[start:stop])

    def take(self, places: NDArray[np.intp]) -> PairKeys:
        """A selection of the pairs."""
        return PairKeys(self.values[places])

    def first(self) -> Key:
        """The first pair."""
        return int(self.values[0])

    def last(self) -> Key:
        """The last pair."""
        return int(self.values[-1])

    def find_in(self, others: Keys) -> NDArray[np.int64]:
        """The indices of the pairs in another array."""
        assert isinstance(others, PairKeys)  # noqa: S101 # kinds of keys are never mixed
        places = np.searchsorted(others.values, self.values)
        places[places == len(others)] = 0
        return np.where(others.values[places] == self.values, places, -1)

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def join(cls, keys: Sequence[Keys]) -> PairKeys:
        """Concatenate arrays of pairs."""
        return cls(np.concatenate([np.asarray(part.to_arrow()) for part in keys]))

    def order(self) -> NDArray[np.intp]:
        """The indices that sort the pairs."""
        return np.argsort(self.values)

    def changes(self) -> NDArray[np.bool_]:
        """Whether each pair differs from its predecessor."""
        changed: NDArray[np.bool_] = self.values[1:] != self.values[:-1]
        return changed


@dataclass(frozen=True, slots=True)
class WordKeys(Keys):
    """Words, sorted by code points."""

    values: Any
    arrow_type = pa.large_string()

    @classmethod
    def from_words(cls, words: Sequence[str]) -> WordKeys:
        """The keys of sorted words."""
        return cls(pa.array(words, cls.arrow_type))

    @classmethod
    def from_arrow(cls, array: Any) -> WordKeys:
        """The keys of an Arrow array."""
        return cls(array)

    def to_arrow(self) -> Any:
        """The words as an Arrow array."""
        return self.values

    def locate(self, key: Key) -> int:
        """The number of words that are smaller."""
        return bisect.bisect_left(range(len(self)), key, key=lambda row: self.values[row].as_py())

    def cut(self, start: int, stop: int) -> WordKeys:
        """A selection of the words."""
        return WordKeys(self.values[start:stop])

    def take(self, places: NDArray[np.intp]) -> WordKeys:
        """A selection of the words."""
        return WordKeys(self.values.take(pa.array(places)))

    def first(self) -> Key:
        """The first word."""
        return str(self.values[0].as_py())

    def last(self) -> Key:
        """The last word."""
        return str(self.values[-1].as_py())

    def find_in(self, others: Keys) -> NDArray[np.int64]:
        """The indices of the words in another array."""
        places = pc.index_in(self.values, value_set=others.to_arrow())
        return np.asarray(places.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def join(cls, keys: Sequence[Keys]) -> WordKeys:
        """Concatenate arrays of words."""
        return cls(pa.chunked_array([part.to_arrow() for part in keys], cls.arrow_type).combine_chunks())

    def order(self) -> NDArray[np.intp]:
        """The indices that sort the words by code points, which is the order of UTF-8."""
        return np.asarray(pc.sort_indices(self.values)).astype(np.intp)

    def changes(self) -> NDArray[np.bool_]:
        """Whether each word differs from its predecessor."""
        changed = pc.not_equal(self.values[1:], self.values[:-1])
        return np.asarray(changed.to_numpy(zero_copy_only=False), bool)


_KINDS: dict[Any, type[PairKeys | WordKeys]] = {kind.arrow_type: kind for kind in (PairKeys, WordKeys)}


class Run(NamedTuple):
    """A run on disk: its file, and the first key and the number of rows of every batch."""

    path: Path
    firsts: list[Key]
    sizes: list[int]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.sizes)


def write_run(path: Path, keys: Keys, counts: Ids | Counts) -> Run:
    """Write sorted, distinct keys with their counts.

    The first batch is shorter, by a different length in every file. Parts of a corpus are alike. If their batches began
    at the same ranks, they would begin at nearly the same keys, and nothing would show the distribution in between.
    """
    batch = pa.record_batch({"key": keys.to_arrow(), "count": pa.array(counts)})
    rows = max(1, min(BATCH_ROWS, len(keys) // LEAST_BATCHES))
    shorter = 1 + zlib.crc32(path.name.encode()) % rows
    starts = [0, *range(shorter, len(keys), rows)] if len(keys) else []
    sizes = [stop - start for start, stop in pairwise([*starts, len(keys)])]
    with writing(path) as stream, pa.ipc.new_file(stream, batch.schema) as writer:
        for start, size in zip(starts, sizes, strict=True):
            writer.write_batch(batch.slice(start, size))
    return Run(path, [keys.cut(start, start + 1).first() for start in starts], sizes)


def read_run(path: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[Keys, Counts]]:
    """Stream the batches of a run from ``start`` up to ``stop``."""
    try:
        with pa.OSFile(str(path)) as file:
            reader = pa.ipc.open_file(file)
            kind = _KINDS[reader.schema.field("key").type]
            for number in range(start, reader.num_record_batches if stop is None else stop):
                batch = reader.get_batch(number)
                yield kind.from_arrow(batch.column(0)), batch.column(1).to_numpy()
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"{str(path)!r} cannot be read. If other machines take part, they must see this folder. Otherwise, set "
            "`overwrite=True` to start over."
        ) from error


class Stretch(NamedTuple):
    """A range of batches of a run."""

    path: Path
    start: int
    stop: int


class KeyRange(NamedTuple):
    """The keys from ``low`` up to ``high``, and the batches that hold them. ``None`` means no limit."""

    low: Key | None
    high: Key | None
    stretches: list[Stretch]

    def read(self) -> tuple[list[Keys], Counts]:
        """The keys of every run in the range, and the counts of all keys."""
        found, counts = [], [np.empty(0, np.int64)]
        for stretch in self.stretches:
            for keys, numbers in read_run(*stretch):
                start = 0 if self.low is None else keys.locate(self.low)
                stop = len(keys) if self.high is None else keys.locate(self.high)
                if start < stop:
                    # A copy, because a view would hold the whole batch in memory.
                    found.append(keys.take(np.arange(start, stop)))
                    counts.append(numbers[start:stop].astype(np.int64))
        return found, np.concatenate(counts)


def plan_cuts(runs: Sequence[Run], rows: int) -> list[Key]:
    """The keys at which all runs are cut into ranges of about ``rows`` rows."""
    batches: list[Any] = sorted(
        (first, size) for run in runs for first, size in zip(run.firsts, run.sizes, strict=True)
    )
    cuts: list[Key] = []
    begun, before = 0, None
    for first, size in batches:
        if begun + size > rows and begun and first != before:
            cuts.append(first)
            begun = 0
        begun, before = begun + size, first
    return cuts


def make_ranges(runs: Sequence[Run], cuts: Sequence[Key]) -> Iterator[KeyRange]:
    """The ranges between cuts, in order."""
    for low, high in pairwise([None, *cuts, None]):
        stretches = []
        for run in runs:
            firsts: list[Any] = run.firsts
            start = 0 if low is None else max(0, bisect.bisect_right(firsts, low) - 1)
            stop = len(firsts) if high is None else bisect.bisect_left(firsts, high)
            if start < stop:
                stretches.append(Stretch(run.path, start, stop))
        yield KeyRange(low, high, stretches)


def merge_range(wanted: KeyRange, min_count: int) -> tuple[Keys, Counts, int]:
    """The frequent keys of a range, their counts, and the number of distinct keys."""
    found, counts = wanted.read()
    if not found:
        return PairKeys(np.empty(0, np.uint64)), counts, 0
    keys, counts = type(found[0]).sum_equal(found, counts)
    frequent = np.flatnonzero(counts >= min_count)
    return keys.take(frequent), counts[frequent], len(keys)


def map_words(pieces: Sequence[Path], folder: Path) -> WordKeys:
    """The words of a table of several pieces, memory-mapped from files."""
    ends, text = folder / "words.ends", folder / "words.text"
    size = 0
    with writing(ends) as ends_stream, writing(text) as text_stream:
        ends_stream.write(np.int64(0).tobytes())
        for piece in pieces:
            for keys, _ in read_run(piece):
                _, offsets, letters = keys.to_arrow().buffers()
                places = np.frombuffer(offsets, np.int64, len(keys) + 1)
                ends_stream.write((places[1:] - places[0] + size).tobytes())
                text_stream.write(letters[places[0] : places[-1]])
                size += int(places[-1] - places[0])
    if size == 0:
        return WordKeys.from_words([])
    buffers = [pa.py_buffer(np.memmap(path, np.uint8, "r")) for path in (ends, text)]
    return WordKeys(pa.Array.from_buffers(WordKeys.arrow_type, len(buffers[0]) // 8 - 1, [None, *buffers]))


def find_rows(keys: Keys, pieces: Sequence[Path]) -> Ids:
    """The row of every key in a table of several pieces; :data:`NONE` if it is not there."""
    rows = np.full(len(keys), NONE)
    passed = 0
    start = 0
    for piece in pieces if len(keys) else ():
        for others, _ in read_run(piece):
            start += keys.cut(start, len(keys)).locate(others.first())
            stop = start + keys.cut(start, len(keys)).locate(others.last())
            stop = min(stop + 1, len(keys))
            places = keys.cut(start, stop).find_in(others)
            rows[start:stop] = np.where(places < 0, NONE, (places + passed).astype(np.uint32))
            passed += len(others)
    return rows
