"""The level of chance: the macro F1 of a classifier that has learned nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from textveil.evaluation.base import Interval
from textveil.evaluation.predictions import Predictions, split_resamples
from textveil.evaluation.uncertainty import SEED, take_interval
from textveil.randomness import SeededRandomness

_STREAM = 1
"""Another stream than that of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Chance:
    """The F1 that predictions have by chance: its mean and its 95 % interval."""

    level: float
    interval: Interval

    @classmethod
    def of(cls, predictions: Predictions) -> Chance:
        """The F1 of the same predictions after the labels of the test texts were permuted, many times.

        The permutation keeps how often each class occurs and how often it is predicted. It removes everything that the
        classifier knows about single texts. Labels are permuted once for all seeds, since a text can be in the test
        sets of several seeds. No classifier is trained.
        """
        generator = SeededRandomness(SEED).stream(_STREAM)
        found = []
        for size in split_resamples(predictions.texts):
            labels = np.tile(predictions.true, (size, 1))
            found.append(predictions.score_labels(generator.permuted(labels, axis=1)))
        scores = np.concatenate(found)
        return cls(float(scores.mean()), take_interval(scores))

    @classmethod
    def over(cls, several: Iterable[Predictions]) -> Chance:
        """The chance of several classifiers: that of the one whose interval ends highest.

        A classifier that predicts one class for all texts has a low F1 by chance. One that guesses has a higher one. No
        F1 that a guess reaches shows that something was learned.
        """
        return max(map(cls.of, several), key=lambda chance: chance.interval.high)

    def reaches(self, f1: float) -> bool:
        """Whether an F1 cannot be told from chance: the interval of chance ends at or above it."""
        return f1 <= self.interval.high
