"""Bootstrap intervals: the range in which a value would lie for other texts of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.vectors import Floats
from textveil.extras import require
from textveil.lab.metrics.base import EXTRA, Interval, Reading
from textveil.lab.metrics.dataset import Codes
from textveil.randomness import SeededRandomness

RESAMPLES = 1000
SHARE = 0.95
"""The share of resamples whose statistic lies in the interval."""
FEW = 50
"""With fewer texts, an interval is too wide for a conclusion: a share of one half has 36 % to 64 % at 50 texts."""
SEED = 42
_AT_A_TIME = 1 << 21
"""Numbers to resample at a time, so that memory is bounded."""

Statistic = Callable[..., Floats]
"""Takes arrays of shape (resamples, numbers) and returns a number for each resample."""


def bootstrap(statistic: Statistic, *values: npt.ArrayLike) -> Interval | None:
    """The 95 % interval of a statistic over texts, and over draws of noise if there are several.

    Every resample draws as many texts as there are, with replacement. With several draws of noise it also draws as many
    draws, with replacement, and takes each chosen text from each chosen draw. This suits draws whose texts share
    something, such as the attacker that was trained on them. For noise that is independent in every text the interval
    is somewhat too wide; the mean over draws of every text gives the exact one. Resamples are the same in every run.

    Args:
        statistic: Computes the statistic of each resample. It gets an array of shape (resamples, numbers) for each of
            the values, and must reduce the last axis.
        values: One or several arrays with a number for every text, of shape (texts,) or (texts, draws). All have the
            same shape.

    Returns:
        The interval; ``None`` if the texts do not show how texts differ: fewer than two, or all the same.

    >>> bootstrap(lambda x, y: x.sum(axis=1) / y.sum(axis=1), [1, 3] * 50, [4, 4] * 50)
    Interval(low=0.45..., high=0.5...)
    """
    tables = [_as_table(each) for each in values]
    texts, draws = tables[0].shape
    if texts < 2:
        return None
    found = [
        statistic(*(table[rows, columns].reshape(len(rows), -1) for table in tables))
        for rows, columns in _resample(texts, draws)
    ]
    interval = take_interval(np.concatenate(found))
    return None if interval.low == interval.high else interval


def bootstrap_mean(values: npt.ArrayLike) -> Interval | None:
    """The 95 % interval of a mean over texts, and over draws of noise if there are several; see :func:`bootstrap`.

    Args:
        values: A number for every text, of shape (texts,) or (texts, draws). Texts whose number is NaN in all draws are
            skipped.

    Returns:
        The interval; that of :func:`bound_agreement` if all numbers are 0 or all are 1, as shares can be. ``None`` for
        fewer than two texts, and for texts that all have another number.

    >>> bootstrap_mean([0.4, 0.5, 0.6] * 30)
    Interval(low=0.48..., high=0.51...)
    >>> bootstrap_mean([1.0] * 100)
    Interval(low=0.963..., high=1.0)
    """
    table = _as_table(values)
    known = ~np.isnan(table)
    return bootstrap_ratio(np.where(known, table, 0), known)


def average(values: npt.ArrayLike) -> Reading:
    """The mean over texts with its interval; see :func:`bootstrap_mean`."""
    return Reading(float(np.mean(np.asarray(values))), bootstrap_mean(values))


def bootstrap_ratio(counts: npt.ArrayLike, totals: npt.ArrayLike) -> Interval | None:
    """The 95 % interval of a share of words or chunks, which are resampled together with their text.

    Args:
        counts: The number that is counted in every text, of shape (texts,) or (texts, draws).
        totals: The number of all words or chunks of every text, in the same shape. Texts that have none are skipped.

    Returns:
        The interval; that of :func:`bound_agreement` if nothing is counted in any text, or everything in all. ``None``
        for fewer than two texts, and for texts that all have another share.

    >>> bootstrap_ratio([1, 0, 1, 0] * 25, [2, 2, 2, 2] * 25)
    Interval(low=0.2..., high=0.3...)
    >>> bootstrap_ratio([0] * 100, [2] * 100)
    Interval(low=0.0, high=0.036...)
    """
    counted, total = _as_table(counts), _as_table(totals)
    used = total.any(axis=1)
    counted, total = counted[used], total[used]
    for share in (0, 1):
        if len(total) > 1 and (counted == share * total).all():
            return bound_agreement(share, len(total))
    return bootstrap(lambda x, y: _divide(x.sum(axis=1), y.sum(axis=1)), counted, total)


def bound_agreement(share: int, texts: int) -> Interval:
    """The 95 % interval of a share that is 0 or 1 in all texts, by Clopper and Pearson: resamples cannot differ.

    Args:
        share: 0 or 1.
        texts: The number of texts. Words and chunks of a text depend on each other, so they count as one.

    >>> bound_agreement(1, 50), bound_agreement(0, 50)
    (Interval(low=0.928..., high=1.0), Interval(low=0.0, high=0.071...))
    """
    distance = 1 - ((1 - SHARE) / 2) ** (1 / texts)
    return Interval(1 - distance, 1.0) if share else Interval(0.0, distance)


def take_interval(samples: Floats) -> Interval:
    """The central 95 % of some numbers. NaN is skipped.

    >>> [round(bound) for bound in take_interval(np.arange(1001.0))]
    [25, 975]
    """
    low, high = np.nanquantile(samples, [(1 - SHARE) / 2, (1 + SHARE) / 2])
    return Interval(float(low), float(high))


def describe_few(texts: int, name: str = "texts") -> list[str]:
    """The caveat for a measurement on few texts; none for enough.

    >>> describe_few(12, "test texts")
    ['Only 12 test texts: too few for a conclusion, which needs at least 50.']
    """
    return [] if texts >= FEW else [f"Only {texts} {name}: too few for a conclusion, which needs at least {FEW}."]


def _resample(texts: int, draws: int) -> Iterator[tuple[Any, Any]]:
    """The rows and columns of every resample, in blocks that index a table of texts and draws."""
    generator = SeededRandomness(SEED).stream(0)
    block = max(1, _AT_A_TIME // (texts * draws))
    for start in range(0, RESAMPLES, block):
        size = min(block, RESAMPLES - start)
        rows = generator.integers(texts, size=(size, texts))
        columns = generator.integers(draws, size=(size, draws))
        yield rows[:, :, None], columns[:, None, :]


def _as_table(values: npt.ArrayLike) -> Floats:
    """Numbers as a table with a row per text and a column per draw."""
    table = np.asarray(values, dtype=np.float64)
    return table[:, None] if table.ndim == 1 else table


def _divide(counts: Floats, totals: Floats) -> Floats:
    """The ratios of some resamples; NaN for a resample that has nothing to count."""
    ratios: Floats = np.divide(counts, totals, out=np.full(len(totals), np.nan), where=totals > 0)
    return ratios


AUC_BY_CHANCE = 0.5
"""The AUC of random scores."""
Z = 1.96
"""The number of standard deviations between the mean and the end of a 95 % interval."""
DECIMALS = 6
"""Scores that agree in these decimals are ties: equal texts, read in different batches."""


def count_above(scores: Floats, right: Codes) -> Floats:
    """For some columns of every row, the number of columns with a higher score, and of others with the same score.

    Args:
        scores: The scores of candidates (columns).
        right: The columns to rank, of shape (rows, columns).

    >>> count_above(np.array([[0.5, 0.9, 0.5], [0.1, 0.2, 0.3]]), np.array([[0], [2]])).tolist()
    [[[1.0, 1.0]], [[0.0, 0.0]]]
    """
    rounded = np.round(scores, DECIMALS)
    ordered, own = np.sort(rounded, axis=1), np.take_along_axis(rounded, right, axis=1)
    low, high = (
        np.array([np.searchsorted(*pair, side=side) for pair in zip(ordered, own, strict=True)]).reshape(own.shape)
        for side in ("left", "right")
    )
    return np.stack([scores.shape[1] - high, high - low - 1], axis=-1).astype(np.float64)


def find_auc_by_chance(members: Floats, seeds: int = 1) -> Interval:
    """The 95 % interval of the AUC of random scores (Mann and Whitney), or of the mean AUC of several seeds.

    Args:
        members: 1 for every member and 0 for every other text.
        seeds: The number of seeds. Each one draws as many members, independently.

    >>> find_auc_by_chance(np.array([1.0, 0.0] * 150))
    Interval(low=0.434..., high=0.565...)
    """
    inside = members.sum()
    outside = len(members) - inside
    error = Z * np.sqrt((len(members) + 1) / max(1, 12 * inside * outside) / seeds)
    return Interval(float(max(0.0, AUC_BY_CHANCE - error)), float(min(1.0, AUC_BY_CHANCE + error)))


def find_auc(scores: Floats, members: Floats) -> float:
    """The probability that a member has a higher score than another text. Ties count half.

    >>> find_auc(np.array([0.9, 0.4, 0.4, 0.1]), np.array([1, 1, 0, 0]))
    0.875
    """
    return float(find_aucs(scores[None], members[None])[0])


def find_aucs(scores: Floats, members: Floats) -> Floats:
    """The AUC of every row, from the ranks of the members (Mann and Whitney)."""
    ranks = require("scipy.stats", extra=EXTRA).rankdata(scores, axis=1)
    inside = members.sum(axis=1)
    outside = members.shape[1] - inside
    above = (ranks * members).sum(axis=1) - inside * (inside + 1) / 2
    aucs: Floats = np.where(inside * outside > 0, above / np.maximum(1, inside * outside), AUC_BY_CHANCE)
    return aucs
