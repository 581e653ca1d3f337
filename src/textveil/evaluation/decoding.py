"""Decoding whole texts: the most likely originals, for an attacker who knows the mechanism and the language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textveil.bundles.prior import NgramPrior
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers

BEAM = 40
"""The number of partial texts that are followed."""


class Slot(NamedTuple):
    """The place of a chunk: the rows that it may have had, and the log-likelihood of each.

    A chunk that was released in clear has one row. ``UNKNOWN`` is a chunk outside the vocabulary.
    """

    rows: RowNumbers
    log_likelihoods: Floats


def decode(slots: Sequence[Slot], prior: NgramPrior, *, weight: float = 1.0) -> RowNumbers:
    """The most likely rows of a text, by beam search.

    The score of a text is the sum of the log-likelihoods of its chunks and of their log-probabilities in the language.

    Args:
        slots: The places of the text, from left to right.
        prior: The language model.
        weight: The weight of the language model.
    """
    reach = prior.order - 1
    contexts = np.full((1, reach), UNKNOWN)
    scores = np.zeros(1)
    steps: list[tuple[RowNumbers, RowNumbers]] = []
    for slot in slots:
        number = len(slot.rows)
        spoken = np.zeros((len(contexts), number))
        known = np.flatnonzero(slot.rows != UNKNOWN)
        if len(known):
            spoken[:, known] = prior.score(
                np.repeat(contexts, len(known), axis=0), np.tile(slot.rows[known], len(contexts))
            ).reshape(len(contexts), len(known))
        totals = (scores[:, None] + weight * spoken + slot.log_likelihoods).ravel()
        kept = np.argsort(-totals, kind="stable")[:BEAM]
        before, chosen = np.divmod(kept, number)
        scores = totals[kept]
        steps.append((before, slot.rows[chosen]))
        contexts = np.concatenate([contexts[before], slot.rows[chosen][:, None]], axis=1)[:, 1:]
    return _trace(steps)


def _trace(steps: Sequence[tuple[RowNumbers, RowNumbers]]) -> RowNumbers:
    """The rows of the best text, followed back from its end."""
    decoded = np.empty(len(steps), dtype=np.int64)
    place = 0
    for number in range(len(steps) - 1, -1, -1):
        before, rows = steps[number]
        decoded[number] = rows[place]
        place = int(before[place])
    return decoded
