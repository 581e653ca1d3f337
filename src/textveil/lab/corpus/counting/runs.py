"""Runs: sorted keys with their counts, in Arrow streams on disk that are read and merged range by range.

A key is a word, or a pair of ids in one 64-bit integer (:mod:`textveil.lab.corpus.counting.words`). One part of the
corpus writes one run. All runs together are far larger than memory, so they are merged range by range, and each
range fits.
"""

from __future__ import annotations

import bisect
import os
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textveil.errors import InputError
from textveil.lab.corpus.counting.words import NONE, Ids
from textveil.storage.atomic import writing


def to_arrow(values: NDArray[Any]) -> Any:
    """Numbers as an Arrow array.

    >>> to_arrow(np.array([3, 1], np.uint32)).to_pylist()
    [3, 1]
    """
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def to_numpy(array: Any) -> NDArray[Any]:
    """The numbers or truth values of an Arrow array without nulls."""
    if pa.types.is_boolean(array.type):  # stored as bits
        return to_numpy(array.cast(pa.uint8())).astype(bool)
    kind = np.dtype(array.type.to_pandas_dtype())  # a type of NumPy, despite the name
    if len(array) == 0:  # without a buffer
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def to_words(words: Sequence[str]) -> Any:
    """Words as an Arrow array.

    >>> to_words(["a", "né"]).to_pylist()
    ['a', 'né']
    """
    joined = "".join(words)
    text = joined.encode()
    ascii_only = len(text) == len(joined)
    ends = np.zeros(len(words) + 1, np.int64)
    sizes = map(len, words) if ascii_only else (len(word.encode()) for word in words)
    np.cumsum(np.fromiter(sizes, np.int64, len(words)), out=ends[1:])
    return pa.Array.from_buffers(pa.large_string(), len(words), [None, pa.py_buffer(ends), pa.py_buffer(text)])


Counts = NDArray[np.int64]
Key = str | int

BATCH_ROWS = 1 << 12
"""The number of rows in a batch, the smallest piece that is read."""
LEAST_BATCHES = 16
"""The least number of batches of a run. Their first keys show how its keys are distributed."""
TABLE_ROWS = 1 << 16
"""The number of rows in a batch of a table, which is always read from its beginning to its end."""
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


@dataclass(frozen=True, slots=True)
class Keys:
    """An array of keys, sorted except where a method says otherwise. These are pairs of numbers, in a NumPy array."""

    values: Any
    arrow_type: ClassVar[Any] = pa.uint64()

    @classmethod
    def from_arrow(cls, array: Any) -> Self:
        """The keys of an Arrow array."""
        return cls(to_numpy(array))

    def to_arrow(self) -> Any:
        """The keys as an Arrow array."""
        return to_arrow(self.values)

    def at(self, row: int) -> Key:
        """The key in a row; the last one for -1."""
        return int(self.values[row])

    def locate(self, key: Key) -> int:
        """The number of keys that are smaller than ``key``."""
        return int(np.searchsorted(self.values, np.uint64(key)))

    def take(self, places: NDArray[np.intp]) -> Self:
        """The keys at these indices."""
        return type(self)(self.values[places])

    def find_in(self, others: Keys) -> NDArray[np.int64]:
        """The index of every key in another array of the same kind; -1 if it is not there."""
        places = np.searchsorted(others.values, self.values)
        places[places == len(others)] = 0
        return np.where(others.values[places] == self.values, places, -1)

    def order(self) -> NDArray[np.intp]:
        """The indices that sort the keys."""
        return np.argsort(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def cut(self, start: int, stop: int) -> Self:
        """The keys from ``start`` up to ``stop``."""
        return type(self)(self.values[start:stop])

    @classmethod
    def join(cls, keys: Sequence[Keys]) -> Self:
        """Concatenate arrays."""
        return cls.from_arrow(pa.chunked_array([part.to_arrow() for part in keys], cls.arrow_type).combine_chunks())

    @classmethod
    def sum_equal(cls, keys: Sequence[Keys], counts: Counts) -> tuple[Self, Counts]:
        """The distinct keys of several arrays, not all of them empty, with the sums of their counts."""
        joined = cls.join(keys)
        order = joined.order()
        joined, counts = joined.take(order), counts[order]
        del order
        sorted_keys = joined.to_arrow()
        changes = to_numpy(pc.not_equal(sorted_keys[1:], sorted_keys[:-1]))
        starts = np.flatnonzero(np.concatenate(([True], changes)))
        return joined.take(starts), np.add.reduceat(counts, starts)


class WordKeys(Keys):
    """Words in an Arrow array, sorted by code points."""

    __slots__ = ()
    arrow_type = pa.large_string()

    @classmethod
    def from_words(cls, words: Sequence[str]) -> WordKeys:
        """The keys of sorted words."""
        return cls(to_words(words))

    @classmethod
    def from_arrow(cls, array: Any) -> Self:
        """The keys of an Arrow array."""
        return cls(array)

    def to_arrow(self) -> Any:
        """The words as an Arrow array."""
        return self.values

    def at(self, row: int) -> str:
        """A word."""
        return str(self.values[row].as_py())

    def locate(self, key: Key) -> int:
        """The number of words that are smaller."""
        return bisect.bisect_left(range(len(self)), key, key=self.at)

    def take(self, places: NDArray[np.intp]) -> Self:
        """A selection of the words."""
        return type(self)(self.values.take(to_arrow(places)))

    def find_in(self, others: Keys) -> NDArray[np.int64]:
        """The indices of the words in another array."""
        places = pc.index_in(self.values, value_set=others.values)
        nowhere = to_arrow(np.full(1, -1, np.int32))[0]
        return to_numpy(places.fill_null(nowhere)).astype(np.int64)

    def order(self) -> NDArray[np.intp]:
        """The indices that sort the words by code points, which is the order of UTF-8."""
        return to_numpy(pc.sort_indices(self.values)).astype(np.intp)


_KINDS: dict[Any, type[Keys]] = {kind.arrow_type: kind for kind in (Keys, WordKeys)}


def make_keys(keys: list[Any]) -> Keys:
    """Keys of one kind as an array."""
    return WordKeys.from_words(keys) if keys and isinstance(keys[0], str) else Keys(np.array(keys, np.uint64))


@dataclass(frozen=True, slots=True)
class Run:
    """A run on disk: its name, the first key and the number of rows of every batch, and the words of its part.

    ``places`` has the position of every batch in the file, and then the end of the last one. With it, some batches are
    read without the others: an Arrow file would find them by its footer, and reading that takes longer than they do.
    """

    name: str
    tokens: int
    firsts: list[Key]
    sizes: list[int]
    places: list[int]


def write_run(path: Path, keys: Keys, counts: Ids | Counts, *, tokens: int = 0) -> Run:
    """Write sorted, distinct keys with their counts.

    The first batch is shorter, by a different length in every file. Parts of a corpus are alike. If their batches began
    at the same ranks, they would begin at nearly the same keys, and nothing would show the distribution in between.
    """
    batch = _make_batch(keys, counts)
    rows = max(1, min(BATCH_ROWS, len(keys) // LEAST_BATCHES))
    shorter = 1 + zlib.crc32(path.name.encode()) % rows
    starts = [0, *range(shorter, len(keys), rows)] if len(keys) else []
    sizes = [stop - start for start, stop in pairwise([*starts, len(keys)])]
    places = _write_batches(path, batch.schema, (batch.slice(*piece) for piece in zip(starts, sizes, strict=True)))
    return Run(path.stem, tokens, [keys.at(start) for start in starts], sizes, places)


def _make_batch(keys: Keys, counts: Ids | Counts) -> Any:
    return pa.record_batch({"key": keys.to_arrow(), "count": to_arrow(counts)})


def _write_batches(path: Path, schema: Any, batches: Iterable[Any]) -> list[int]:
    """Write a stream of batches; their positions, and the end of the last one."""
    with writing(path) as stream:
        head = schema.serialize()
        stream.write(head)
        places = [len(head)]
        for batch in batches:
            message = batch.serialize()
            stream.write(message)
            places.append(places[-1] + len(message))
        stream.write(_END_OF_STREAM)
    return places


def join_runs(paths: Sequence[Path], joined: Path) -> None:
    """Write consecutive runs as one table with large batches, which is faster to read.

    Every part of the corpus reads the whole table. If it had as many files and batches as there are ranges, that would
    take a time that grows with the square of the corpus.
    """
    batches = (batch for path in paths for batch in read_run(path))
    first = next(batches, (Keys(np.empty(0, np.uint64)), np.empty(0, np.int64)))
    _write_batches(joined, _make_batch(*first).schema, _enlarge(chain([first], batches)))


def _enlarge(batches: Iterable[tuple[Keys, Counts]]) -> Iterator[Any]:
    waiting: list[tuple[Keys, Counts]] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += len(batch[0])
        if rows >= TABLE_ROWS:
            yield _join_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield _join_batches(waiting)


def _join_batches(batches: Sequence[tuple[Keys, Counts]]) -> Any:
    keys = type(batches[0][0]).join([keys for keys, _ in batches])
    return _make_batch(keys, np.concatenate([counts for _, counts in batches]))


def read_run(path: Path) -> Iterator[tuple[Keys, Counts]]:
    """Stream the batches of a run."""
    with _reading(path), path.open("rb") as file:
        file.seek(-len(_END_OF_STREAM), os.SEEK_END)
        if file.read() != _END_OF_STREAM:
            raise pa.ArrowInvalid("The end is missing.")
        file.seek(0)
        yield from _read_stream(file)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"{str(path)!r} cannot be read. If other machines take part, they must see this folder. Otherwise, set "
            "`overwrite=True` to start over."
        ) from error


def _read_stream(source: Any) -> Iterator[tuple[Keys, Counts]]:
    reader = pa.ipc.open_stream(source)
    kind = _KINDS[reader.schema.field("key").type]
    for batch in reader:
        yield kind.from_arrow(batch.column(0)), to_numpy(batch.column(1))


def _read_stretch(path: Path, head: int, start: int, stop: int) -> Iterator[tuple[Keys, Counts]]:
    """Stream some batches of a run: those between two positions, after a head of its own."""
    with _reading(path):
        with path.open("rb", buffering=0) as file:
            schema = file.read(head)
            file.seek(start)
            batches = file.read(stop - start)
        if len(batches) < stop - start:
            raise pa.ArrowInvalid("The end is missing.")
        yield from _read_stream(pa.py_buffer(schema + batches))


class KeyRange(NamedTuple):
    """The keys from ``low`` up to ``high``, and the batches that hold them. ``None`` means no limit.

    A range has batches of nearly every part of the corpus. It is sent to a worker, so it names their folder only once.

    Args:
        low: The first key.
        high: The key after the last one.
        folder: The folder of the runs.
        names: The files of the runs with such batches.
        places: For each of them the end of its head, and the positions where these batches begin and end.
    """

    low: Key | None
    high: Key | None
    folder: Path
    names: list[str]
    places: Counts

    def read(self) -> tuple[list[Keys], Counts]:
        """The keys of every run in the range, and the counts of all keys."""
        found, counts = [], [np.empty(0, np.int64)]
        for name, places in zip(self.names, self.places, strict=True):
            for keys, numbers in _read_stretch(self.folder / name, *places.tolist()):
                start = 0 if self.low is None else keys.locate(self.low)
                stop = len(keys) if self.high is None else keys.locate(self.high)
                if start < stop:
                    # A copy, because a view would hold the whole batch in memory.
                    found.append(keys.take(np.arange(start, stop)))
                    counts.append(numbers[start:stop].astype(np.int64))
        return found, np.concatenate(counts)


def merge_range(wanted: KeyRange, min_count: int) -> tuple[Keys, Counts, int]:
    """The frequent keys of a range, their counts, and the number of distinct keys."""
    found, counts = wanted.read()
    if not found:
        return Keys(np.empty(0, np.uint64)), counts, 0
    keys, counts = type(found[0]).sum_equal(found, counts)
    frequent = np.flatnonzero(counts >= min_count)
    return keys.take(frequent), counts[frequent], len(keys)


def map_words(table: Path, folder: Path) -> WordKeys:
    """The words of a table, memory-mapped from files."""
    ends, text = folder / "words.ends", folder / "words.text"
    size = 0
    with writing(ends) as ends_stream, writing(text) as text_stream:
        ends_stream.write(np.int64(0).tobytes())
        for keys, _ in read_run(table):
            _, offsets, letters = keys.to_arrow().buffers()
            places = np.frombuffer(offsets, np.int64, len(keys) + 1)
            ends_stream.write((places[1:] - places[0] + size).tobytes())
            text_stream.write(letters[places[0] : places[-1]])
            size += int(places[-1] - places[0])
    if size == 0:
        return WordKeys.from_words([])
    buffers = [pa.py_buffer(np.memmap(path, np.uint8, "r")) for path in (ends, text)]
    return WordKeys(pa.Array.from_buffers(WordKeys.arrow_type, len(buffers[0]) // 8 - 1, [None, *buffers]))


def find_rows(keys: Keys, table: Path) -> Ids:
    """The row of every key in a table; :data:`NONE` if it is not there."""
    rows = np.full(len(keys), NONE)
    passed = 0
    start = 0
    for others, _ in read_run(table) if len(keys) else ():
        start += keys.cut(start, len(keys)).locate(others.at(0))
        stop = start + keys.cut(start, len(keys)).locate(others.at(-1))
        stop = min(stop + 1, len(keys))
        places = keys.cut(start, stop).find_in(others)
        rows[start:stop] = np.where(places < 0, NONE, (places + passed).astype(np.uint32))
        passed += len(others)
    return rows


_CHUNK = 1 << 12
"""The number of keys that wait as Python objects until they are put into an array."""


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The batches of all runs in a folder, run after run.

    Args:
        folder: The folder of the runs.
        names: The file of every run.
        starts: The number of batches before each run, and then of all runs.
        firsts: The first key of every batch.
        sizes: The number of rows of every batch.
        places: The positions of the batches of every run in its file, and the end of its last one.
    """

    folder: Path
    names: Sequence[str]
    starts: Counts
    firsts: Keys
    sizes: NDArray[np.uint32]
    places: Counts

    @classmethod
    def gather(cls, folder: Path, runs: Iterable[Run]) -> Index:
        """Put the indexes of runs into arrays, one run after the other."""
        names: list[str] = []
        starts, sizes, places = array("q", [0]), array("I"), array("q")
        chunks: list[Keys] = []
        waiting: list[Key] = []
        for run in runs:
            names.append(f"{run.name}.keys")
            sizes.extend(run.sizes)
            places.extend(run.places)
            starts.append(len(sizes))
            waiting += run.firsts
            if len(waiting) >= _CHUNK:
                chunks.append(make_keys(waiting))
                waiting = []
        if waiting or not chunks:
            chunks.append(make_keys(waiting))
        firsts = type(chunks[0]).join(chunks)
        return cls(folder, names, np.array(starts), firsts, np.array(sizes, np.uint32), np.array(places))

    def make_range(self, low: Key | None, high: Key | None, start: Counts, stop: Counts) -> KeyRange:
        """The range with the batches of every run from ``start`` up to ``stop``."""
        (found,) = np.nonzero(start < stop)
        heads = self.starts[found] + found  # every earlier run has a position more than batches
        places = self.places[np.stack((heads, heads + start[found], heads + stop[found]), axis=1)]
        return KeyRange(low, high, self.folder, [self.names[run] for run in found.tolist()], places)


def plan_cuts(index: Index, rows: int) -> list[Key]:
    """The keys at which all runs are cut into ranges of about ``rows`` rows."""
    if index.sizes.sum() <= rows:
        return []
    keys, sizes = type(index.firsts).sum_equal([index.firsts], _estimate_rows(index))
    ends = np.cumsum(sizes)
    cuts: list[int] = []
    cut = before = 0
    while (cut := max(cut + 1, int(np.searchsorted(ends, before + rows, "right")))) < len(keys):
        cuts.append(cut)
        before = int(ends[cut - 1])
    chosen: list[Key] = keys.take(np.array(cuts, np.intp)).to_arrow().to_pylist()
    return chosen


def _estimate_rows(index: Index) -> Counts:
    """The rows from the beginning of each batch on, as if the last batch of a run were as large as the one before it.

    A batch counts where it begins, though its rows go on from there. With many runs this evens out, because as many
    rows are still to come from batches that began earlier. Only the last batches are shorter. By their own sizes, the
    last range would be several times too large, and the more so the more runs there are.
    """
    before = np.zeros_like(index.sizes)
    before[1:] = index.sizes[:-1]
    begins = index.starts[:-1]
    before[begins[begins < len(before)]] = 0
    return np.maximum(index.sizes, before).astype(np.int64)


def make_ranges(index: Index, cuts: Sequence[Key]) -> Iterator[KeyRange]:
    """The ranges between cuts, in order."""
    order = index.firsts.order()
    firsts = index.firsts.take(order)
    runs = np.repeat(np.arange(len(index.names), dtype=np.uint32), np.diff(index.starts))[order]
    del order
    passed = np.zeros(len(index.names), np.int64)
    begin = 0
    for low, high in pairwise([None, *cuts, None]):
        end = len(firsts) if high is None else firsts.locate(high)
        stop = passed + np.bincount(runs[begin:end], minlength=len(passed))
        # The last batch that begins before the range may reach into it.
        yield index.make_range(low, high, np.maximum(passed - 1, 0), stop)
        passed, begin = stop, end
