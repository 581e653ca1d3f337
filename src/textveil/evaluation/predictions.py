"""The predictions of classifiers on test texts, and their macro F1 with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.evaluation.base import EXTRA, Interval
from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.uncertainty import RESAMPLES, SEED, bound_agreement, take_interval
from textveil.extras import require
from textveil.randomness import SeededRandomness

_AT_A_TIME = 1 << 21
"""Labels to resample at a time, so that memory is bounded."""
_LABELS = 4_000_000
"""Labels to resample in all, so that time is bounded."""
_LEAST_RESAMPLES = 200


@dataclass(frozen=True)
class Predictions:
    """What classifiers predicted for test texts, by seed. Every seed has its own test texts; some are in several.

    Args:
        classes: The number of classes.
        true: The class of every text that is in a test set.
        tested: The positions in ``true`` of the test texts of every seed.
        predicted: The predicted classes of the test texts of every seed.
    """

    classes: int
    true: Codes
    tested: tuple[Codes, ...]
    predicted: tuple[Codes, ...]

    @classmethod
    def of(cls, classes: Classes, tests: Sequence[Codes], predicted: Sequence[Codes]) -> Predictions:
        """The predictions for the test texts at the given positions, for every seed."""
        texts, places = np.unique(np.concatenate(tests), return_inverse=True)
        tested = np.split(places, np.cumsum([len(test) for test in tests])[:-1])
        return cls(len(classes.names), classes.codes[texts], tuple(tested), tuple(predicted))

    @property
    def texts(self) -> int:
        """The number of different test texts."""
        return len(self.true)

    @cached_property
    def by_seed(self) -> list[float]:
        """The macro F1 of every seed."""
        return [macro_f1(self.true[tested], predicted, self.classes) for tested, predicted in self._pairs()]

    @property
    def f1(self) -> float:
        """The mean macro F1 of the seeds."""
        return float(np.mean(self.by_seed))

    def find_interval(self) -> Interval:
        """The 95 % interval of the F1: the bootstrap over test texts, which are drawn within their class.

        The F1 of a resample is lower than that of the texts on average, since a small class can lose its texts. The
        interval is moved by this difference. If all predictions are right, resamples cannot differ. The lower end is
        then that of Clopper and Pearson.
        """
        if all((self.true[tested] == predicted).all() for tested, predicted in self._pairs()):
            return bound_agreement(1, self.texts)
        scores = self._resampled
        low, high = np.clip(take_interval(scores + self.f1 - scores.mean()), 0, 1)
        return Interval(float(low), float(high))

    def find_ratio(self, other: Predictions) -> Interval:
        """The 95 % interval of the F1 divided by another one for the same test texts, which are drawn together.

        If both are equal in all resamples, the lower end is that of Clopper and Pearson.
        """
        scores, others = self._resampled, other._resampled
        ratios: Floats = np.divide(scores, others, out=np.full(len(scores), np.nan), where=others > 0)
        if np.nanmin(ratios) == np.nanmax(ratios):
            return bound_agreement(1, self.texts)
        low, high = take_interval(ratios + self.f1 / other.f1 - np.nanmean(ratios))
        return Interval(max(low, 0.0), high)

    @cached_property
    def _resampled(self) -> Floats:
        """The F1 of resamples of the test texts. Predictions for the same texts have the same resamples."""
        generator = SeededRandomness(SEED).stream(0)
        members = [np.flatnonzero(self.true == code) for code in range(self.classes)]
        found = []
        for size in split_resamples(self.texts):
            drawn = [group[generator.integers(len(group), size=(size, len(group)))] for group in members if len(group)]
            weights = count(np.concatenate(drawn, axis=1), self.texts)
            found.append(self.score_labels(np.broadcast_to(self.true, weights.shape), weights))
        return np.concatenate(found)

    def score_labels(self, labels: Any, weights: Floats | None = None) -> Floats:
        """The mean macro F1 of the seeds for other labels of the texts, or for other weights.

        Args:
            labels: The classes of all texts, of shape (samples, texts).
            weights: The weight of every text in every sample; by default 1.
        """
        scores = [
            score_samples(labels[:, tested], predicted, self.classes, None if weights is None else weights[:, tested])
            for tested, predicted in self._pairs()
        ]
        means: Floats = np.mean(scores, axis=0)
        return means

    def _pairs(self) -> Iterator[tuple[Codes, Codes]]:
        return zip(self.tested, self.predicted, strict=True)


def macro_f1(true: Any, predicted: Any, classes: int) -> float:
    """The mean F1 over all classes.

    >>> round(macro_f1([0, 0, 1, 1], [0, 0, 1, 0], 2), 3)
    0.733
    """
    metrics = require("sklearn.metrics", extra=EXTRA)
    return float(metrics.f1_score(true, predicted, labels=range(classes), average="macro", zero_division=0.0))


def score_samples(labels: Any, predicted: Codes, classes: int, weights: Floats | None = None) -> Floats:
    """The macro F1 of the same predictions for many samples of labels. A class that a sample lacks does not count.

    Args:
        labels: The classes of the texts, of shape (samples, texts).
        predicted: The predicted classes.
        classes: The number of classes.
        weights: The weight of every text in every sample; by default 1.

    >>> score_samples(np.array([[0, 0, 1, 1], [0, 0, 1, 0]]), np.array([0, 0, 1, 0]), 2).round(3).tolist()
    [0.733, 1.0]
    """
    used = np.ones(labels.shape) if weights is None else weights
    repeated = np.broadcast_to(predicted, labels.shape)
    hits = 2 * count(labels, classes, used * (labels == repeated))
    sizes = count(labels, classes, used) + count(repeated, classes, used)
    scores = np.divide(hits, sizes, out=np.zeros_like(hits), where=sizes > 0)
    found: Floats = scores.sum(axis=1) / np.maximum((sizes > 0).sum(axis=1), 1)
    return found


def count(numbers: Any, size: int, weights: Floats | None = None) -> Floats:
    """How often every number below ``size`` occurs in every row, or the sum of its weights.

    >>> count(np.array([[0, 2, 2], [1, 1, 1]]), 3).tolist()
    [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    """
    rows = len(numbers)
    places = (numbers + size * np.arange(rows)[:, None]).ravel()
    counts = np.bincount(places, None if weights is None else weights.ravel(), minlength=rows * size)
    return counts.reshape(rows, size).astype(np.float64)


def split_resamples(texts: int) -> list[int]:
    """The sizes of the parts in which labels are resampled: fewer resamples for very many texts.

    >>> split_resamples(60), sum(split_resamples(10_000)), sum(split_resamples(1_000_000))
    ([1000], 400, 200)
    """
    resamples = min(RESAMPLES, max(_LEAST_RESAMPLES, _LABELS // texts))
    size = max(1, _AT_A_TIME // texts)
    return [min(size, resamples - start) for start in range(0, resamples, size)]
