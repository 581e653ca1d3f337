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


def decode(slots: Sequence[Slot], prior: NgramPrior, *, beam: int = BEAM) -> RowNumbers:
    """The most likely rows of a text, by beam search from left to right.

    The score of a text is the sum of the log-likelihoods of its chunks and of their log-probabilities in the language.
    Of the partial texts that end alike, so that the language model cannot tell them apart from there on, only the best
    one is followed. With bigrams and a beam as wide as the slots, the search is therefore exact: it is Viterbi's.

    Args:
        slots: The places of the text, from left to right.
        prior: The language model.
        beam: The number of partial texts that are followed.
    """
    contexts = np.full((1, prior.order - 1), UNKNOWN)
    scores = np.zeros(1)
    steps: list[tuple[RowNumbers, RowNumbers]] = []
    for slot in slots:
        totals = (scores[:, None] + _speak(slot.rows, contexts, prior) + slot.log_likelihoods).ravel()
        before, chosen = np.divmod(np.argsort(-totals, kind="stable"), len(slot.rows))
        extended = np.concatenate([contexts[before], slot.rows[chosen][:, None]], axis=1)[:, 1:]
        kept = _find_distinct(extended, prior.entries)[:beam]
        before, chosen = before[kept], chosen[kept]
        scores = totals[before * len(slot.rows) + chosen]
        contexts = extended[kept]
        steps.append((before, slot.rows[chosen]))
    return _trace(steps)


def _speak(rows: RowNumbers, contexts: RowNumbers, prior: NgramPrior) -> Floats:
    """The log-probability of each row (columns) after each context (rows); 0 for ``UNKNOWN``."""
    logs = np.zeros((len(contexts), len(rows)))
    known = np.flatnonzero(rows != UNKNOWN)
    pairs = np.repeat(contexts, len(known), axis=0), np.tile(rows[known], len(contexts))
    logs[:, known] = prior.score(*pairs).reshape(len(contexts), len(known))
    return logs


def _find_distinct(contexts: RowNumbers, entries: int) -> RowNumbers:
    """The position of the first of all contexts that are alike, ascending."""
    numbers = np.zeros(len(contexts), dtype=np.int64)
    for column in contexts.T:
        numbers = numbers * (entries + 1) + column - UNKNOWN
    _, first = np.unique(numbers, return_index=True)
    positions: RowNumbers = np.sort(first)
    return positions


def _trace(steps: Sequence[tuple[RowNumbers, RowNumbers]]) -> RowNumbers:
    """The rows of the best text, followed back from its end."""
    decoded = np.empty(len(steps), dtype=np.int64)
    place = 0
    for number in range(len(steps) - 1, -1, -1):
        before, rows = steps[number]
        decoded[number] = rows[place]
        place = int(before[place])
    return decoded
