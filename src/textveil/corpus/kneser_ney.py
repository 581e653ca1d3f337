"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman, 1999) of counts of n-grams, some of which are left out.

A kept n-gram explains its occurrences, so it counts once in the shorter context, as Kneser and Ney proposed. An n-gram
that is left out explains nothing, so there it counts with all its occurrences (Siivola, Hirsimäki and Virpioja, 2007).
If all n-grams are kept, this is the published method. An occurrence without a known entry before it always counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textveil.bundles.prior import Ngrams
from textveil.bundles.vectors import Floats, RowNumbers

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
        suffixes = level.keys % entries ** (number + 1)
        below = lower[suffixes if number == 0 else np.searchsorted(levels[number - 1].keys, suffixes)]
        places = np.searchsorted(level.contexts, level.keys // entries)
        histogram = level.histogram + _count_small(modified[number + 1]) - _count_small(level.counts)
        discounts = _discount(modified[number + 1], _estimate_discounts(histogram))
        own = np.where(kept[number], modified[number + 1] - discounts, 0.0)
        own_sums = np.bincount(places, weights=own, minlength=len(level.contexts))
        rests = (totals[number] - own_sums) / totals[number]
        lower = own / totals[number][places] + rests[places] * below
        ngrams.append(Ngrams(level.keys[kept[number]], np.log(lower[kept[number]])))
    return unigrams, ngrams


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
    for length, level in enumerate(levels, start=1):
        if len(level.keys) == 0:
            gains.append(np.zeros(0))
            continue
        suffixes = level.keys % len(counts) ** length
        below = lower[suffixes if length == 1 else np.searchsorted(levels[length - 2].keys, suffixes)]
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
