"""Ranks of candidates, the AUC of scores, and the AUC by chance."""

from __future__ import annotations

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.evaluation.base import EXTRA, Interval
from textveil.evaluation.dataset import Codes
from textveil.extras import require

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
