"""The prior of a decomposition: an n-gram model that says which entry is likely after the entries before it.

prior_unigrams.npy        the log-probability of each entry without a context
prior_values.npy          the log-probabilities that n-grams can have: at most 256
prior_2_contexts.npy      for n-grams of two entries: the numbers of the contexts that have n-grams, ascending
prior_2_backoffs.npy      the logarithm of the factor that entries without an n-gram get in each context
prior_2_offsets.npy       the position of the first n-gram of each context, and the number of all n-grams
prior_2_entries.npy       the last entry of each n-gram, ascending in each context
prior_2_codes.npy         the log-probability of each n-gram: a position in prior_values.npy

The same files exist for n-grams of three entries, and so on. A context of the rows a and b has the number a * V + b,
where V is the number of entries.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.files import Shape
from textveil.bundles.vectors import UNKNOWN, Floats, Matrix, RowNumbers
from textveil.errors import ParameterError

LONGEST_ORDER = 4
"""The largest number of entries of an n-gram."""

_CODES = 256
_LARGEST_LOG = 100.0
_NEARLY_ONE = 1e-4
_SMALLEST_REST = 1e-9
_BATCH = 1 << 16

ReadArray = Callable[[str, Shape], npt.NDArray[Any]]
Log = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PriorTable:
    """A prior as it is written into a bundle.

    Attributes:
        arrays: The content of each file, by the name between ``prior_`` and ``.npy``.
        description: Further statements for the manifest.
    """

    arrays: Mapping[str, npt.NDArray[Any]]
    description: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """The statements of the manifest, with the number of n-grams of each length."""
        numbers = {length: f"{length}_codes" for length in range(2, LONGEST_ORDER + 1)}
        ngrams = {str(length): len(self.arrays[name]) for length, name in numbers.items() if name in self.arrays}
        return {**self.description, "order": 1 + len(ngrams), "ngrams": ngrams}


@dataclass(frozen=True, slots=True)
class Ngrams:
    """The n-grams of one length that a prior has.

    Attributes:
        keys: The n-grams as numbers, ascending: for the rows a, b and c of V entries, (a * V + b) * V + c.
        log_probabilities: The log-probability of the last entry after the others.
    """

    keys: RowNumbers
    log_probabilities: Floats


@dataclass(frozen=True, slots=True)
class Level:
    """The n-grams of one length in compressed rows, one row per context.

    Attributes:
        contexts: The numbers of the contexts, ascending.
        backoffs: The logarithm of the factor of all entries without an n-gram, by context.
        offsets: The position of the first n-gram of each context, and the number of all n-grams.
        columns: The last entry of each n-gram, ascending in each context.
        values: The log-probability of each n-gram.
    """

    contexts: npt.NDArray[Any]
    backoffs: Log
    offsets: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    values: Log

    def find(self, keys: RowNumbers) -> RowNumbers:
        """The position of each context, or ``UNKNOWN``; a negative key is not a context."""
        wanted = np.clip(keys, 0, int(self.contexts[-1])).astype(self.contexts.dtype)  # no copy of the contexts
        places = np.searchsorted(self.contexts, wanted)
        return np.where(self.contexts[places].astype(np.int64) == keys, places, UNKNOWN)

    def find_one(self, key: int) -> int | None:
        """The position of one context, or ``None``."""
        if not 0 <= key <= self.contexts[-1]:
            return None
        place = int(self.contexts.searchsorted(self.contexts.dtype.type(key)))
        return place if self.contexts[place] == key else None

    def find_ngrams(self, places: RowNumbers, columns: RowNumbers) -> RowNumbers:
        """The position of the n-gram of a context and a column, or ``UNKNOWN``: a binary search in each context."""
        if len(self.columns) == 0:
            return np.full(len(places), UNKNOWN)
        low = np.where(places >= 0, self.offsets[places], 0).astype(np.int64)
        end = np.where(places >= 0, self.offsets[places + 1], 0).astype(np.int64)
        high = end.copy()
        while (low < high).any():
            middle = (low + high) // 2
            after = (low < high) & (self.columns[np.minimum(middle, len(self.columns) - 1)] < columns)
            high = np.where(after, high, np.minimum(middle, high))
            low = np.where(after, middle + 1, low)
        hit = (low < end) & (self.columns[np.minimum(low, len(self.columns) - 1)] == columns)
        return np.where(hit, low, UNKNOWN)

    def restrict(self, positions: RowNumbers) -> Level:
        """The same n-grams with other columns, without those whose column is ``UNKNOWN``."""
        columns = positions[self.columns]
        kept = columns != UNKNOWN
        before = np.concatenate([[0], np.cumsum(kept)])
        return Level(self.contexts, self.backoffs, before[self.offsets], columns[kept], self.values[kept])


class NgramPrior:
    """An interpolated n-gram model over the entries of a vocabulary.

    Args:
        unigrams: The log-probability of each column without a context.
        levels: The n-grams of two entries, of three entries, and so on.
        entries: The number of entries of the vocabulary; by default, the number of columns.
        identity: The name and the SHA-256 of the files, for certificates.
    """

    def __init__(
        self,
        unigrams: Log,
        levels: Sequence[Level] = (),
        *,
        entries: int | None = None,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        self.entries = len(unigrams) if entries is None else entries
        self.order = 1 + len(levels)
        self._identity = identity
        self._unigrams = unigrams
        self._levels = tuple(levels)

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """The name and the SHA-256 of the files, or of the numbers of a prior that has no files."""
        if self._identity is not None:
            return self._identity
        digest = hashlib.sha256(self._unigrams.tobytes())
        for level in self._levels:
            for array in (level.contexts, level.backoffs, level.offsets, level.columns, level.values):
                digest.update(np.ascontiguousarray(array).tobytes())
        return {"name": "prior", "sha256": digest.hexdigest()}

    @property
    def columns(self) -> int:
        """The number of entries that get a probability: all, unless the prior is restricted."""
        return len(self._unigrams)

    @property
    def unigrams(self) -> Log:
        """The log-probability of each column without a context."""
        return self._unigrams

    @property
    def ngrams(self) -> dict[str, int]:
        """The number of n-grams of each length."""
        return {str(length): len(level.values) for length, level in enumerate(self._levels, start=2)}

    def restrict(self, rows: RowNumbers) -> NgramPrior:
        """The same model with columns for these rows only; contexts keep the numbers of all entries.

        Its probabilities are those of the whole model, so they sum to less than 1.

        Args:
            rows: Rows of the vocabulary, ascending.
        """
        if self.columns != self.entries:
            raise ParameterError("A restricted prior cannot be restricted again. Restrict the prior of the bundle.")
        if len(rows) == 0 or rows[0] < 0 or rows[-1] >= self.entries or (np.diff(rows) <= 0).any():
            raise ParameterError(f"`rows` must be ascending numbers from 0 to {self.entries - 1}.")
        positions = np.full(self.entries, UNKNOWN, dtype=np.int64)
        positions[rows] = np.arange(len(rows))
        levels = [level.restrict(positions) for level in self._levels]
        return NgramPrior(self._unigrams[rows], levels, entries=self.entries, identity=self.identity)

    def log_probabilities(self, contexts: RowNumbers) -> Matrix:
        """The log-probability of every column after each context; see :meth:`fill`."""
        out = np.empty((len(contexts), self.columns), dtype=np.float32)
        self.fill(contexts, out)
        return out

    def fill(self, contexts: RowNumbers, out: Matrix) -> None:
        """Write the log-probability of every column after each context.

        Args:
            contexts: The rows of the ``order`` - 1 entries before, the latest one last. ``UNKNOWN``, for the beginning
                of a document or an unknown word, ends the context: what is before it has no influence.
            out: The log-probabilities, one row per context.
        """
        places = [level.find(keys) for level, keys in zip(self._levels, self._number(contexts), strict=True)]
        factors = np.zeros((len(contexts), self.order), dtype=np.float32)  # of unigrams, bigrams, ...
        for number in range(len(places) - 1, -1, -1):
            backoffs = np.where(places[number] >= 0, self._levels[number].backoffs[places[number]], 0)
            factors[:, number] = factors[:, number + 1] + backoffs
        np.add(self._unigrams, factors[:, :1], out=out)
        for number, (level, found) in enumerate(zip(self._levels, places, strict=True), start=1):
            rows = np.flatnonzero(found >= 0)  # the contexts that have n-grams: few assignments, each of many numbers
            starts, ends = level.offsets[found[rows]].tolist(), level.offsets[found[rows] + 1].tolist()
            for row, start, end, factor in zip(rows.tolist(), starts, ends, factors[rows, number], strict=True):
                out[row][level.columns[start:end]] = level.values[start:end] + factor

    def find_changes(self, context: RowNumbers) -> tuple[float, RowNumbers, Log]:
        """How the probabilities after one context differ from those without: see :meth:`fill`.

        Args:
            context: The rows of the ``order`` - 1 entries before, the latest one last.

        Returns:
            What is added to the log-probabilities of all columns, the columns that have another log-probability, and
            these log-probabilities.
        """
        added, columns, values = 0.0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        for level, key in zip(self._levels, self._number_one(context.tolist()), strict=True):
            place = level.find_one(key)
            if place is not None:
                part = slice(int(level.offsets[place]), int(level.offsets[place + 1]))
                backoff = level.backoffs[place]
                kept = np.ones(len(columns), dtype=bool)
                kept[_find_common(columns, level.columns[part])] = False
                columns = np.concatenate([columns[kept], level.columns[part]])
                values = np.concatenate([values[kept] + backoff, level.values[part]])
                added += float(backoff)
        return added, columns, values

    def _number_one(self, context: Sequence[int]) -> list[int]:
        """The number of a context of one entry, of two entries, and so on; negative if it ends before."""
        numbers = []
        number, base = 0, 1
        for row in reversed(context):
            number = UNKNOWN if row == UNKNOWN or number < 0 else number + row * base
            base *= self.entries
            numbers.append(number)
        return numbers

    def score(self, contexts: RowNumbers, columns: RowNumbers) -> Log:
        """The log-probability of one column after each context."""
        scores = self._unigrams[columns]
        for level, keys in zip(self._levels, self._number(contexts), strict=True):
            places = level.find(keys)
            ngrams = level.find_ngrams(places, columns)
            scores = scores + np.where(places >= 0, level.backoffs[places], np.float32(0))
            scores[ngrams >= 0] = level.values[ngrams[ngrams >= 0]]
        return scores

    def perplexity(self, sequences: Iterable[RowNumbers]) -> float:
        """The perplexity of the known entries of some documents; ``nan`` if there are none.

        Args:
            sequences: The rows of each document; ``UNKNOWN`` for unknown words.
        """
        if self.columns != self.entries:
            raise ParameterError("A restricted prior has no perplexity. Use the prior of the bundle.")
        gap = np.full(self.order - 1, UNKNOWN, dtype=np.int64)
        parts = [part for rows in sequences for part in (gap, np.asarray(rows, dtype=np.int64))]
        joined = np.concatenate(parts) if parts else gap
        if len(joined) < self.order:
            return float("nan")
        windows = np.lib.stride_tricks.sliding_window_view(joined, self.order)
        windows = windows[windows[:, -1] != UNKNOWN]
        total = 0.0
        for start in range(0, len(windows), _BATCH):
            some = windows[start : start + _BATCH]
            total += float(self.score(some[:, :-1], some[:, -1]).sum(dtype=np.float64))
        return float(np.exp(-total / len(windows))) if len(windows) else float("nan")

    def shorten(self, order: int) -> NgramPrior:
        """The same model without its longest n-grams."""
        return NgramPrior(self._unigrams, self._levels[: order - 1], entries=self.entries, identity=self.identity)

    def sum_probabilities(self) -> list[Floats]:
        """The sum of the probabilities of all entries: without a context, then in each context of each length."""
        sums = [np.exp(self._unigrams.astype(np.float64)).sum(keepdims=True)]
        for number, level in enumerate(self._levels, start=1):
            rows, starts = _unpack(level, number, self.entries)
            lower = np.exp(self.shorten(number).score(rows[:, 1:-1], rows[:, -1]).astype(np.float64))
            own = np.exp(level.values.astype(np.float64))
            rest = (1 - np.add.reduceat(lower, starts)) * np.exp(level.backoffs.astype(np.float64))
            sums.append(np.add.reduceat(own, starts) + rest)
        return sums

    def _number(self, contexts: RowNumbers) -> list[RowNumbers]:
        """The number of each context of one entry, of two entries, and so on; negative if it ends before."""
        if contexts.ndim != 2 or contexts.shape[1] != self.order - 1:
            raise ParameterError(f"A context of this prior has {self.order - 1} entries. Got {contexts.shape} instead.")
        if contexts.size and not UNKNOWN <= contexts.min() <= contexts.max() < self.entries:
            raise ParameterError(f"A context must have rows from 0 to {self.entries - 1}, or {UNKNOWN}.")
        keys = np.zeros(len(contexts), dtype=np.int64)
        known = np.ones(len(contexts), dtype=bool)
        numbers = []
        for length in range(1, self.order):
            column = contexts[:, -length].astype(np.int64)
            known = known & (column != UNKNOWN)
            keys = keys + column * self.entries ** (length - 1)
            numbers.append(np.where(known, keys, UNKNOWN))
        return numbers


def _unpack(level: Level, length: int, entries: int) -> tuple[RowNumbers, RowNumbers]:
    """The rows of all n-grams, of which contexts have ``length``, and the position of the first one of each context."""
    starts = level.offsets[:-1].astype(np.int64)
    keys = np.repeat(level.contexts.astype(np.int64), np.diff(level.offsets))
    rows = [keys // entries ** (length - 1 - place) % entries for place in range(length)]
    return np.stack([*rows, level.columns.astype(np.int64)], axis=1), starts


def compress_prior(log_unigrams: Floats, levels: Sequence[Ngrams]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a prior: n-grams in compressed rows, with one of 256 log-probabilities each.

    Rounding changes the sum of the probabilities in a context. The factor of the entries without an n-gram restores it.

    Args:
        log_unigrams: The log-probability of each entry.
        levels: The n-grams of two entries, of three entries, and so on. The first empty level ends the list.
    """
    entries = len(log_unigrams)
    levels = [_drop_full_contexts(ngrams, entries) for ngrams in levels]
    levels = list(itertools.takewhile(lambda ngrams: len(ngrams.keys), levels))
    logs = np.concatenate([np.zeros(0), *(ngrams.log_probabilities for ngrams in levels)])
    values = np.linspace(logs.min(initial=-1), logs.max(initial=-1), _CODES).astype(np.float32)
    arrays: dict[str, npt.NDArray[Any]] = {"unigrams": log_unigrams.astype(np.float32)}
    if levels:
        arrays["values"] = values
    prior = NgramPrior(arrays["unigrams"])
    for length, ngrams in enumerate(levels, start=2):
        level, codes = _compress_level(ngrams, values, prior)
        for name, array in [("contexts", level.contexts), ("offsets", level.offsets), ("entries", level.columns)]:
            arrays[f"{length}_{name}"] = array.astype(_smallest_type(int(array[-1] if name != "entries" else entries)))
        arrays |= {f"{length}_backoffs": level.backoffs, f"{length}_codes": codes}
        prior = NgramPrior(arrays["unigrams"], [*prior._levels, level])
    return arrays


def _smallest_type(largest: int) -> np.dtype[Any]:
    """The type of the smallest numbers that hold the largest one."""
    return np.dtype(np.uint16 if largest < 1 << 16 else np.uint32 if largest < 1 << 32 else np.uint64)


def _compress_level(ngrams: Ngrams, values: Log, shorter: NgramPrior) -> tuple[Level, npt.NDArray[np.uint8]]:
    """A level and the codes of its log-probabilities.

    Args:
        ngrams: Its n-grams.
        values: The log-probabilities that an n-gram can have, ascending.
        shorter: The prior of all shorter n-grams.
    """
    keys, logs = ngrams.keys, ngrams.log_probabilities
    contexts, starts = np.unique(keys // shorter.entries, return_index=True)
    offsets = np.append(starts, len(keys))
    above = np.clip(np.searchsorted(values, logs), 1, _CODES - 1)
    codes = above - (logs - values[above - 1] < values[above] - logs)
    rest = 1 - np.add.reduceat(np.exp(logs), starts)
    rounded_rest = 1 - np.add.reduceat(np.exp(values[codes].astype(np.float64)), starts)
    scarce = np.repeat(rounded_rest < rest / 2, np.diff(offsets))  # where rounding took what other entries need
    codes = np.where(scarce, above - 1, codes)
    blank = np.zeros(len(contexts), dtype=np.float32)
    level = Level(contexts, blank, offsets, keys % shorter.entries, values[codes])
    rows, _ = _unpack(level, shorter.order, shorter.entries)
    lower = np.exp(shorter.score(rows[:, 1:-1], rows[:, -1]).astype(np.float64))
    rest = np.maximum(1 - np.add.reduceat(np.exp(level.values.astype(np.float64)), starts), _SMALLEST_REST)
    lower_rest = np.maximum(1 - np.add.reduceat(lower, starts), _SMALLEST_REST)
    backoffs = np.log(rest / lower_rest).astype(np.float32)
    return Level(contexts, backoffs, offsets, level.columns, level.values), codes.astype(np.uint8)


def _drop_full_contexts(ngrams: Ngrams, entries: int) -> Ngrams:
    """Without the least likely n-gram of each context that has all entries, so that a factor can restore the sum."""
    _, starts, sizes = np.unique(ngrams.keys // entries, return_index=True, return_counts=True)
    kept = np.ones(len(ngrams.keys), dtype=bool)
    for start in starts[sizes == entries]:
        kept[start + ngrams.log_probabilities[start : start + entries].argmin()] = False
    return Ngrams(ngrams.keys[kept], ngrams.log_probabilities[kept])


def read_prior(read: ReadArray, *, entries: int, order: int, identity: Mapping[str, str]) -> NgramPrior:
    """Open the arrays of a prior and check them.

    Args:
        read: Opens an array by the name between ``prior_`` and ``.npy``, and checks its shape and its hash.
        entries: The number of entries of the vocabulary.
        order: The number of entries of the longest n-grams.
        identity: The name and the SHA-256 of the prior.

    Raises:
        ValueError: The arrays are not a prior. The message says why.
    """
    unigrams = np.asarray(read("unigrams", (entries,)))
    _check(_are_logs(unigrams), "log-probabilities that are not finite")
    _check(abs(np.exp(unigrams.astype(np.float64)).sum() - 1) < _NEARLY_ONE, "probabilities that do not sum to 1")
    values = np.asarray(read("values", (_CODES,))) if order > 1 else unigrams
    _check(_are_logs(values) and values.max() <= 0, "values that are not log-probabilities")
    levels = [_read_level(read, length, values, entries) for length in range(2, order + 1)]
    return NgramPrior(unigrams, levels, identity=identity)


def _read_level(read: ReadArray, length: int, values: Log, entries: int) -> Level:
    contexts = np.asarray(read(f"{length}_contexts", (None,)))
    offsets = np.asarray(read(f"{length}_offsets", (len(contexts) + 1,)))
    backoffs = np.asarray(read(f"{length}_backoffs", (len(contexts),)))
    columns = np.asarray(read(f"{length}_entries", (None,)))
    codes = np.asarray(read(f"{length}_codes", columns.shape))
    _check(len(contexts) and len(columns), "no n-grams of a length")
    _check(_ascend(contexts) and int(contexts[-1]) < entries ** (length - 1), "contexts that are not valid")
    _check(_ascend(offsets) and offsets[0] == 0 and offsets[-1] == len(columns), "offsets that do not fit its n-grams")
    _check(_are_logs(backoffs), "factors that are not finite")
    _check(_are_columns(columns, offsets, entries), "n-grams that are not in order")
    _check(codes.dtype == np.uint8, "codes of another type")
    return Level(contexts, backoffs, offsets, columns, values[codes])


def _check(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _are_logs(logs: npt.NDArray[Any]) -> bool:
    return logs.dtype == np.float32 and bool((np.abs(logs) < _LARGEST_LOG).all())  # NaN fails too


def _ascend(numbers: npt.NDArray[Any]) -> bool:
    return numbers.dtype.kind == "u" and bool((numbers[1:] > numbers[:-1]).all())


def _are_columns(columns: npt.NDArray[Any], offsets: npt.NDArray[Any], entries: int) -> bool:
    """Whether the columns are rows of the vocabulary that ascend in each context."""
    if columns.dtype.kind != "u" or int(columns.max()) >= entries:
        return False
    ascends = columns[1:] > columns[:-1]
    ascends[offsets[1:-1].astype(np.int64) - 1] = True  # from one context to the next
    return bool(ascends.all())


def _find_common(columns: RowNumbers, wanted: npt.NDArray[Any]) -> RowNumbers:
    """The positions of those of the wanted columns that occur among others, both of which ascend."""
    if len(columns) == 0:
        return columns
    places = np.minimum(columns.searchsorted(wanted), len(columns) - 1)
    found: RowNumbers = places[columns[places] == wanted]
    return found
