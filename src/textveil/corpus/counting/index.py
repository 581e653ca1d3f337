"""The index of all runs of a length, and the ranges of keys in which they are merged.

The index grows with the corpus. It is therefore held in arrays: see :attr:`Index.nbytes`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textveil.corpus.counting.runs import Counts, Key, KeyRange, Keys, Run, make_keys

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
            names.append(run.path.name)
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

    @property
    def nbytes(self) -> int:
        """The memory of the arrays: 20 bytes per batch of pairs, and 16 per run."""
        arrays = self.starts.nbytes + self.sizes.nbytes + self.places.nbytes
        return arrays + int(self.firsts.to_arrow().nbytes)

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
