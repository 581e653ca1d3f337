"""Building the prior of a decomposition from its file of tokens: number the tokens, count n-grams, estimate, measure.

rows/000000.npy             the documents of a block of the file as rows of the vocabulary
counted/3-20-17-40.npz      the n-grams of three entries, in 20 documents or more, that begin with the rows 17 to 39
prior                       the finished prior
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.prior import Ngrams, PriorTable, compress_prior, read_prior
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.errors import ParameterError
from textveil.lab.corpus.resumption import Reading, Task, load_arrays, loading, save_arrays
from textveil.lab.corpus.settings import PriorOptions
from textveil.lab.corpus.splitting import LONGEST_LINE
from textveil.storage.atomic import make_folder, writing

LARGEST_COUNT = 4
"""The discounts depend on the numbers of n-grams that occur once, twice, three times and four times."""
_FALLBACK = (0.5, 1.0, 1.5)  # for so few n-grams that the estimates are not valid


@dataclass(frozen=True, slots=True)
class FrequentNgrams:
    """The counts of the n-grams of one length that a model may keep.

    Attributes:
        keys: The n-grams as numbers, ascending; see :class:`textveil.bundles.prior.Ngrams`.
        counts: The number of occurrences of each.
        contexts: The contexts of these n-grams, ascending.
        totals: The number of occurrences of all n-grams in each context, also of those that the model may not keep.
        histogram: The number of all n-grams that occur this often, from 0 to ``LARGEST_COUNT`` times.
    """

    keys: RowNumbers
    counts: RowNumbers
    contexts: RowNumbers
    totals: RowNumbers
    histogram: RowNumbers


def estimate(
    counts: RowNumbers, levels: Sequence[FrequentNgrams], *, most_ngrams: int | None = None
) -> tuple[Floats, list[Ngrams]]:
    """Estimate the probabilities of a model.

    Args:
        counts: The number of occurrences of each entry.
        levels: The n-grams of two entries, of three entries, and so on. The suffix of an n-gram is in the level below.
        most_ngrams: The largest number of n-grams. Those with the largest gain in likelihood are kept.

    Returns:
        The log-probabilities of all entries without a context, and the kept n-grams of each length.
    """
    entries = len(counts)
    kept = _choose(counts, levels, most_ngrams)
    modified, totals = _modify(counts, levels, kept)
    lower = _smooth_unigrams(modified[0])
    unigrams, ngrams = np.log(lower), []
    for number, level in enumerate(levels):
        below = lower[_find_suffixes(levels, number, entries)]
        places = np.searchsorted(level.contexts, level.keys // entries)
        histogram = level.histogram + _count_small(modified[number + 1]) - _count_small(level.counts)
        discounts = _discount(modified[number + 1], _estimate_discounts(histogram))
        own = np.where(kept[number], modified[number + 1] - discounts, 0.0)
        own_sums = np.bincount(places, weights=own, minlength=len(level.contexts))
        rests = (totals[number] - own_sums) / totals[number]
        lower = own / totals[number][places] + rests[places] * below
        ngrams.append(Ngrams(level.keys[kept[number]], np.log(lower[kept[number]])))
    return unigrams, ngrams


def _find_suffixes(levels: Sequence[FrequentNgrams], number: int, entries: int) -> RowNumbers:
    """The places of the suffixes of the n-grams of a level in the level below, or among the entries."""
    suffixes: RowNumbers = levels[number].keys % entries ** (number + 1)
    return suffixes if number == 0 else np.searchsorted(levels[number - 1].keys, suffixes)


def _smooth_unigrams(counts: RowNumbers) -> Floats:
    """The probability of each entry without a context: its discounted count, and a part of all discounts."""
    total = int(counts.sum())
    if total == 0:
        return np.full(len(counts), 1 / len(counts))
    discounts = _discount(counts, _estimate_discounts(_count_small(counts)))
    smoothed: Floats = (counts - discounts + discounts.sum() / len(counts)) / total
    return smoothed


def _choose(
    counts: RowNumbers, levels: Sequence[FrequentNgrams], most_ngrams: int | None
) -> list[np.ndarray[tuple[int], np.dtype[np.bool]]]:
    """Which n-grams of each level are kept."""
    number = sum(len(level.keys) for level in levels)
    if most_ngrams is None or number <= most_ngrams:
        return [np.ones(len(level.keys), dtype=bool) for level in levels]
    gains, lower = [], counts / counts.sum()
    for place, level in enumerate(levels):
        if len(level.keys) == 0:
            gains.append(np.zeros(0))
            continue
        below = lower[_find_suffixes(levels, place, len(counts))]
        lower = level.counts / level.totals[np.searchsorted(level.contexts, level.keys // len(counts))]
        gains.append(level.counts * np.log(lower / below))
        gains[-1][gains[-1].argmax()] = np.inf  # no level may be empty below one that is not
    order = np.argsort(-np.concatenate(gains), kind="stable")
    chosen = np.zeros(number, dtype=bool)
    chosen[order[:most_ngrams]] = True
    return np.split(chosen, np.cumsum([len(level.keys) for level in levels])[:-1])


def _modify(
    counts: RowNumbers, levels: Sequence[FrequentNgrams], kept: Sequence[np.ndarray]
) -> tuple[list[RowNumbers], list[RowNumbers]]:
    """The counts of entries and n-grams without what longer n-grams explain, and the sums of all counts by context."""
    modified = [counts.astype(np.int64), *(level.counts.astype(np.int64) for level in levels)]
    totals = [level.totals.astype(np.int64) for level in levels]
    for number in range(len(levels) - 1, -1, -1):
        keys = levels[number].keys[kept[number]]
        explained = modified[number + 1][kept[number]] - 1
        np.subtract.at(modified[0], keys % len(counts), explained)
        for lower, level in enumerate(levels[:number]):
            suffixes = keys % len(counts) ** (lower + 2)
            np.subtract.at(modified[lower + 1], np.searchsorted(level.keys, suffixes), explained)
            np.subtract.at(totals[lower], np.searchsorted(level.contexts, suffixes // len(counts)), explained)
    return modified, totals


def _count_small(counts: RowNumbers) -> RowNumbers:
    """The number of n-grams that occur this often, from 0 to ``LARGEST_COUNT`` times."""
    return np.bincount(np.minimum(counts, LARGEST_COUNT + 1), minlength=LARGEST_COUNT + 2)[: LARGEST_COUNT + 1]


def _estimate_discounts(histogram: RowNumbers) -> tuple[float, ...]:
    """The discounts of n-grams that occur once, twice, and more often: equation 26 of Chen and Goodman."""
    once, twice, thrice, four_times = (float(size) for size in histogram[1 : LARGEST_COUNT + 1])
    if not once * twice * thrice:
        return _FALLBACK
    share = once / (once + 2 * twice)
    discounts = (1 - 2 * share * twice / once, 2 - 3 * share * thrice / twice, 3 - 4 * share * four_times / thrice)
    return (
        discounts
        if all(0 < discount < most for discount, most in zip(discounts, (1, 2, 3), strict=True))
        else _FALLBACK
    )


def _discount(counts: RowNumbers, discounts: Sequence[float]) -> Floats:
    """The discount of each count; 0 for 0."""
    return np.array([0.0, *discounts])[np.minimum(counts, len(discounts))]


HELD_OUT = 100
"""One of this many documents is not counted. Perplexity is measured on these documents."""
BLOCK_BYTES = 8 << 20
"""The approximate number of bytes of a block of the file of tokens."""
_MOST_MEASURED = 2_000_000  # tokens
_MOST_KEYS = 2**63  # the number of an n-gram is one of 64 bits, with a sign
_LEAST_NGRAMS = 1 << 16  # in memory, however little there is
_BYTES_PER_NGRAM = 96  # with copies while they are sorted


def number_tokens(output: Path, *, tokens: Path, start: int, stop: int, vocabulary: Path) -> None:
    """Write the documents between two byte positions as rows of the vocabulary.

    A word that is not in the vocabulary has the number V, the number of entries. V + 1 precedes every document that is
    counted, and V + 2 every document that is held out.
    """
    numbers = _load_numbers(vocabulary)
    unknown = len(numbers)
    kind = np.uint16 if unknown + 2 < 1 << 16 else np.uint32
    parts: list[npt.NDArray[Any]] = [np.zeros(0, dtype=kind)]
    continues = False
    with tokens.open("rb") as stream:
        stream.seek(start)
        while stream.tell() < stop:
            line = stream.readline()
            words = line.split()
            rows = [numbers.get(word, unknown) for word in words]
            if not continues:
                rows.insert(0, unknown + (2 if zlib.crc32(line) % HELD_OUT == 0 else 1))
            parts.append(np.array(rows, dtype=kind))
            continues = len(words) == LONGEST_LINE
    with writing(output) as stream:
        np.save(stream, np.concatenate(parts), allow_pickle=False)


@cache
def _load_numbers(vocabulary: Path) -> dict[bytes, int]:
    """Load the vocabulary once per worker."""
    return {entry: row for row, entry in enumerate(vocabulary.read_bytes().removesuffix(b"\n").split(b"\n"))}


@dataclass(frozen=True, slots=True)
class NgramCounting:
    """Counts the n-grams of one length whose first entry is in a range of rows, and writes the frequent ones.

    Args:
        blocks: The folder of numbered blocks.
        entries: The number of entries of the vocabulary.
        length: The number of entries of an n-gram.
        low: The first row of the range.
        high: The row after the last one.
        min_documents: N-grams that occur in fewer documents are not frequent.
        most: The number of n-grams that are in memory before they are merged.
    """

    blocks: Path
    entries: int
    length: int
    low: int
    high: int
    min_documents: int
    most: int

    def __call__(self, output: Path) -> None:
        """Write the frequent n-grams."""
        counted = np.zeros((3, 0), dtype=np.int64)
        waiting: list[npt.NDArray[np.int64]] = []
        for path in list_blocks(self.blocks):
            waiting.append(self._count(np.load(path, allow_pickle=False)))
            if sum(part.shape[1] for part in waiting) > self.most:
                counted, waiting = _merge([counted, *waiting]), []
        keys, counts, documents = _merge([counted, *waiting])
        frequent = documents >= self.min_documents
        contexts, places = np.unique(keys // self.entries, return_inverse=True)
        totals = np.bincount(places, weights=counts, minlength=len(contexts)).astype(np.int64)
        needed = np.unique(places[frequent])
        small = _count_small(counts)
        with writing(output) as stream:
            np.savez(stream, keys[frequent], counts[frequent], contexts[needed], totals[needed], small)

    def _count(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The n-grams of a block, their occurrences, and the number of documents with each of them."""
        counted, documents = mark_documents(rows, self.entries)
        firsts = counted[: max(0, len(counted) - self.length + 1)]
        places = np.flatnonzero((firsts >= self.low) & (firsts < self.high))
        keys = counted[places].astype(np.int64)
        for step in range(1, self.length):
            known = counted[places + step] < self.entries
            places = places[known]
            keys = keys[known] * self.entries + counted[places + step]
        order = np.argsort(keys, kind="stable")  # documents remain in order, too
        keys, documents = keys[order], documents[places[order]]
        appears = (np.diff(keys, prepend=-1) != 0) | (np.diff(documents, prepend=-1) != 0)
        return _add_equal(np.stack([keys, np.ones_like(keys), appears]))


def _merge(parts: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Add up the counts of equal n-grams; ascending."""
    joined = np.concatenate(parts, axis=1)
    return _add_equal(joined[:, np.argsort(joined[0], kind="stable")])


def _add_equal(ordered: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Add up the columns of equal n-grams, which are adjacent."""
    starts = np.flatnonzero(np.diff(ordered[0], prepend=-1) != 0)
    if len(starts) == 0:
        return ordered
    return np.concatenate([ordered[:1, starts], np.add.reduceat(ordered[1:], starts, axis=1)])


def mark_documents(rows: npt.NDArray[Any], entries: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The rows of a block with held-out documents as unknown words, and the number of the document of each row."""
    marks = np.flatnonzero(rows > entries)
    documents = np.repeat(np.arange(len(marks)), np.diff(marks, append=len(rows)))
    held_out = (rows[marks] == entries + 2)[documents]
    return np.where(held_out, entries, rows).astype(rows.dtype), documents


def list_blocks(folder: Path) -> list[Path]:
    """The numbered blocks in order."""
    return sorted(folder.glob("*.npy"))


@dataclass(frozen=True, slots=True)
class PriorBuilder:
    """Builds the prior of one decomposition, or resumes building it.

    Args:
        tokens: A file of tokens with one document per line; see :mod:`textveil.lab.corpus.splitting`.
        folder: The folder for unfinished and finished files. Its name is that of the decomposition.
        options: The settings of the prior.
        reading: Where the work runs.
        memory: The number of bytes of memory that counting may use.
    """

    tokens: Path
    folder: Path
    options: PriorOptions
    reading: Reading
    memory: int

    def run(self, entries: Sequence[str]) -> PriorTable:
        """Build the prior over the entries of a vocabulary."""
        if len(entries) ** self.options.order >= _MOST_KEYS:
            raise ParameterError(
                f"{len(entries):,} entries are too many for `prior_order={self.options.order}`. Lower `prior_order`."
            )
        vocabulary = self.folder / "vocabulary.txt"
        with writing(vocabulary) as stream:
            stream.write(("\n".join(entries) + "\n").encode())
        self._number(vocabulary)
        counts, described = self._survey(len(entries))
        levels = [self._count(counts, length) for length in range(2, self.options.order + 1)]
        table = self._estimate(counts, levels, described)
        save_arrays(self.folder / "prior", table.arrays, table.description)
        for name in ("rows", "counted"):
            shutil.rmtree(self.folder / name)
        vocabulary.unlink()
        return table

    def _number(self, vocabulary: Path) -> None:
        folder = self.folder / "rows"
        make_folder(folder)
        number = partial(number_tokens, tokens=self.tokens, vocabulary=vocabulary)
        tasks = (
            Task(folder / f"{block:06}.npy", stop - start, partial(number, start=start, stop=stop))
            for block, (start, stop) in enumerate(divide_lines(self.tokens, BLOCK_BYTES))
        )
        self.reading.run(f"numbering {self.folder.name}", tasks, self.tokens.stat().st_size)

    def _survey(self, entries: int) -> tuple[RowNumbers, dict[str, Any]]:
        """The number of occurrences of each entry, and the size of the text."""
        counts = np.zeros(entries + 1, dtype=np.int64)
        documents = held_out = 0
        for path in list_blocks(self.folder / "rows"):
            rows = np.load(path, allow_pickle=False)
            documents += int((rows == entries + 1).sum())
            held_out += int((rows == entries + 2).sum())
            counts += np.bincount(mark_documents(rows, entries)[0], minlength=entries + 2)[: entries + 1]
        return counts[:entries], {"documents": documents, "tokens": int(counts[:entries].sum()), "held_out": held_out}

    def _count(self, counts: RowNumbers, length: int) -> FrequentNgrams:
        folder, documents = self.folder / "counted", self.options.min_documents
        make_folder(folder)
        most = max(_LEAST_NGRAMS, self.memory // self.reading.executor.processes // _BYTES_PER_NGRAM)
        tasks = (
            Task(
                folder / f"{length}-{documents}-{low}-{high}.npz",
                int(counts[low:high].sum()),
                NgramCounting(self.folder / "rows", len(counts), length, low, high, documents, most),
            )
            for low, high in divide_rows(counts, most)
        )
        outputs = self.reading.run(f"counting {length}-grams of {self.folder.name}", tasks, int(counts.sum()))
        *arrays, histograms = zip(*map(_load_arrays, outputs), strict=True)
        keys, numbers, contexts, totals = map(np.concatenate, arrays)
        return FrequentNgrams(keys, numbers, contexts, totals, np.sum(histograms, axis=0))

    def _estimate(self, counts: RowNumbers, levels: list[FrequentNgrams], described: dict[str, Any]) -> PriorTable:
        """Estimate the prior, and measure it beside the priors of shorter n-grams."""
        self.reading.progress(f"estimating {self.folder.name}", 0, None)
        documents = list(self._read_held_out(len(counts)))
        perplexities: dict[str, float | None] = {}
        for order in range(1, self.options.order + 1):
            arrays = compress_prior(*estimate(counts, levels[: order - 1], most_ngrams=self.options.most_ngrams))
            table = PriorTable(arrays, {})
            prior = read_prior(
                lambda name, _, arrays=arrays: arrays[name],  # type: ignore[misc]
                entries=len(counts),
                order=table.describe()["order"],
                identity={},
            )
            measured = prior.perplexity(documents)
            perplexities[str(order)] = None if np.isnan(measured) else round(measured, 2)
        return PriorTable(arrays, {**asdict(self.options), **described, "perplexity": perplexities})

    def _read_held_out(self, entries: int) -> Iterator[RowNumbers]:
        """The rows of the held-out documents, up to a limit."""
        measured = 0
        for path in list_blocks(self.folder / "rows"):
            rows = np.load(path, allow_pickle=False).astype(np.int64)
            marks = np.flatnonzero(rows > entries)
            for start, stop in zip(marks, np.append(marks[1:], len(rows)), strict=True):
                if rows[start] == entries + 2 and measured < _MOST_MEASURED:
                    document = rows[start + 1 : stop]
                    measured += len(document)
                    yield np.where(document == entries, UNKNOWN, document)


def _load_arrays(path: Path) -> list[npt.NDArray[Any]]:
    with loading(path), np.load(path, allow_pickle=False) as arrays:
        return [arrays[f"arr_{number}"] for number in range(5)]


def divide_lines(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """Byte ranges of about this size that begin and end with a document.

    A document of more than ``LONGEST_LINE`` tokens has several lines. All but the last have exactly that many tokens.
    """
    end, start = path.stat().st_size, 0
    with path.open("rb") as stream:
        while start < end:
            stream.seek(min(end, start + size) - 1)
            stream.readline()  # it may have begun anywhere, so it tells nothing
            while stream.tell() < end and stream.readline().count(b" ") == LONGEST_LINE - 1:
                pass
            yield start, stream.tell()
            start = stream.tell()


def divide_rows(counts: RowNumbers, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows with at most this many occurrences together; a row with more is a range of its own."""
    low = occurrences = 0
    for row, count in enumerate(counts.tolist()):
        if occurrences + count > most and row > low:
            yield low, row
            low, occurrences = row, 0
        occurrences += count
    yield low, len(counts)


def load_prior(folder: Path) -> PriorTable:
    """The prior that :class:`PriorBuilder` wrote to a folder."""
    return PriorTable(*load_arrays(folder))
