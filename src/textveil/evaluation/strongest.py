"""The strongest of several attackers that rank candidates, and the success that the strongest has by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.evaluation.base import Interval
from textveil.evaluation.dataset import Codes
from textveil.evaluation.uncertainty import SEED, bootstrap_ratio, show_bounds, take_interval
from textveil.randomness import SeededRandomness

GUESSES = 10
VALUES = ("top_1", f"top_{GUESSES}", "auc")
"""The measures of success: the share found with one guess and with ten, and the AUC."""
PERMUTATIONS = 400
_STREAM = 2
"""Another stream than those of the bootstrap and of the chance of classifiers."""
_DECIMALS = 12
"""Sums over texts in another order agree in these decimals."""


def permute_truth(texts: int) -> Codes:
    """The text whose right candidate a text gets, by permutation (rows) and text (columns). The same in every run."""
    generator = SeededRandomness(SEED).stream(_STREAM)
    return generator.permuted(np.tile(np.arange(texts), (PERMUTATIONS, 1)), axis=1)


def score_ranks(ranks: Floats, candidates: int) -> Floats:
    """The success of ranks, with the measures of ``VALUES`` on the last axis. Ties are broken at random.

    Args:
        ranks: On the last axis, the number of candidates above the right one, and of others with the same score.
        candidates: The number of candidates.

    >>> score_ranks(np.array([[0.0, 0.0], [2.0, 1.0]]), 5).round(3).tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 0.375]]
    """
    above, ties = ranks[..., 0], ranks[..., 1]
    guessed = [np.clip((guesses - above) / (ties + 1), 0, 1) for guesses in (1, GUESSES)]
    return np.stack([*guessed, 1 - (above + ties / 2) / max(1, candidates - 1)], axis=-1)


def balance_classes(codes: Codes) -> Floats:
    """Weights of texts with which every class counts the same."""
    weights: Floats = 1 / np.bincount(codes)[codes]
    return weights


@dataclass(frozen=True, slots=True)
class Success:
    """The success of an attacker.

    Args:
        values: The success over all texts, by measure.
        intervals: Its 95 % intervals.
        permuted: The success under every permutation of the right candidates, with the measures as columns.
        candidates: The number of candidates.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, Interval | None]
    permuted: Floats
    candidates: int

    @classmethod
    def over(cls, scores: Floats, permuted: Floats, candidates: int, *, codes: Codes | None = None) -> Success:
        """The success over texts. With ``codes``, every class counts the same.

        Args:
            scores: The success with every text, from :func:`score_ranks`.
            permuted: The sum of weighted scores under every permutation.
            candidates: The number of candidates.
            codes: The class of every text.
        """
        weights = np.ones(len(scores)) if codes is None else balance_classes(codes)
        columns = dict(zip(VALUES, scores.T, strict=True))
        if candidates <= GUESSES:  # ten guesses always succeed
            del columns[f"top_{GUESSES}"]
        values = {name: round(float(np.average(each, weights=weights)), _DECIMALS) for name, each in columns.items()}
        intervals = {name: bootstrap_ratio(each * weights, weights) for name, each in columns.items()}
        return cls(values, intervals, np.round(permuted / weights.sum(), _DECIMALS), candidates)


@dataclass(frozen=True, slots=True)
class Strongest:
    """The attacker with the highest success with one guess; among equals the one with the highest AUC.

    Args:
        attacker: Its name.
        success: Its success.
        attackers: The number of attackers that it was chosen from.
        chance: The mean success, under permutations, of the attacker that is then the strongest.
        chance_intervals: The central 95 % of it.
    """

    attacker: str
    success: Success
    attackers: int
    chance: Mapping[str, float]
    chance_intervals: Mapping[str, Interval]

    @classmethod
    def of(cls, found: Mapping[str, Success]) -> Strongest:
        """Choose the strongest attacker, and find its success by chance.

        The best of several attackers exceeds the chance of each of them, because it was chosen for its success. So the
        attackers are compared with the truth permuted, in the same way for all of them, and the best is chosen again.
        """
        name = max(found, key=lambda each: (found[each].values["top_1"], found[each].values["auc"]))
        permuted = np.stack([each.permuted for each in found.values()])  # attackers, permutations, measures
        first, last = VALUES.index("top_1"), VALUES.index("auc")
        best = np.lexsort((permuted[..., last], permuted[..., first]), axis=0)[-1]
        chosen = permuted[best, np.arange(permuted.shape[1])]
        columns = {measure: chosen[:, VALUES.index(measure)] for measure in found[name].values}
        return cls(
            name,
            found[name],
            len(found),
            {measure: float(column.mean()) for measure, column in columns.items()},
            {measure: take_interval(column) for measure, column in columns.items()},
        )

    def name_values(self, prefix: str) -> dict[str, float]:
        """The values and the levels of chance, with a prefix."""
        return {
            **{f"{prefix}{name}": value for name, value in self.success.values.items()},
            **{f"{prefix}chance_{name}": level for name, level in self.chance.items()},
        }

    def name_intervals(self, prefix: str) -> dict[str, Interval | None]:
        """The intervals of the values and of chance, with a prefix."""
        return {
            **{f"{prefix}{name}": interval for name, interval in self.success.intervals.items()},
            **{f"{prefix}chance_{name}": interval for name, interval in self.chance_intervals.items()},
        }

    def describe_chance(self) -> str:
        """The success with one guess beside chance. It cannot be told from chance within the interval of chance."""
        level, interval = self.chance["top_1"], self.chance_intervals["top_1"]
        shown = f"{level:.2%}{show_bounds(interval, '.2%')}"
        of_best = f" for the best of {self.attackers} attackers" if self.attackers > 1 else ""
        hidden = self.success.values["top_1"] <= interval.high
        return f"This cannot be told from chance, {shown}{of_best}." if hidden else f"Chance is {shown}{of_best}."
