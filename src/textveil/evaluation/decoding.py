"""Decoding whole texts: the most likely original of each chunk, for an attacker who knows mechanism and language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textveil.bundles.prior import NgramPrior
from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers


class Slot(NamedTuple):
    """The place of a chunk: the rows that it may have had, and the evidence for each, as a log-likelihood.

    A chunk that was released in clear has one row. ``UNKNOWN`` stands for a chunk outside the vocabulary, or for all
    rows that are not listed. It has no probability in the language, so the evidence for it includes that.
    """

    rows: RowNumbers
    evidence: Floats


def decode(slots: Sequence[Slot], prior: NgramPrior, log_frequencies: Floats) -> RowNumbers:
    """The row of each place with the largest probability, given all places, by the forward-backward algorithm.

    The probability of a text is the product of the likelihoods of its chunks and of their probabilities in the
    language, each after the chunk before. It is summed over all texts that have a row at a place. This finds more
    chunks than the most likely text as a whole, which prefers frequent words where evidence is weak. ``UNKNOWN`` is
    not chosen if there is another row.

    Args:
        slots: The places of the text, from left to right.
        prior: The language model. Its n-grams of two entries are used.
        log_frequencies: The log-probability of every entry where the chunk before is unknown. The language model alone
            would understate words that follow few different ones.
    """
    if not slots:
        return np.empty(0, dtype=np.int64)
    bigrams = prior.shorten(2)
    before = [np.array([UNKNOWN]), *(slot.rows for slot in slots[:-1])]
    steps = [
        _speak(rows, slot.rows, bigrams, log_frequencies) + slot.evidence
        for rows, slot in zip(before, slots, strict=True)
    ]
    forward = [_log_sum(steps[0], 0)]
    for step in steps[1:]:
        forward.append(_log_sum(forward[-1][:, None] + step, 0))
    backward = [np.zeros(len(slots[-1].rows))]
    for step in steps[:0:-1]:
        backward.append(_log_sum(step + backward[-1], 1))
    return np.array(
        [_choose(slot.rows, left + right) for slot, left, right in zip(slots, forward, backward[::-1], strict=True)]
    )


def _speak(before: RowNumbers, rows: RowNumbers, bigrams: NgramPrior, log_frequencies: Floats) -> Floats:
    """The log-probability of each row (columns) after each row before (rows); 0 for ``UNKNOWN``."""
    logs = np.zeros((len(before), len(rows)))
    known = np.flatnonzero(rows != UNKNOWN)
    contexts = np.repeat(before[:, None], len(known), axis=0)[:, : bigrams.order - 1]
    logs[:, known] = bigrams.score(contexts, np.tile(rows[known], len(before))).reshape(len(before), len(known))
    logs[np.ix_(before == UNKNOWN, known)] = log_frequencies[rows[known]]
    return logs


def _log_sum(logs: Floats, axis: int) -> Floats:
    largest = logs.max(axis=axis, keepdims=True)
    sums: Floats = np.log(np.exp(logs - largest).sum(axis=axis)) + largest.squeeze(axis)
    return sums


def _choose(rows: RowNumbers, logs: Floats) -> int:
    """The row with the largest value; ``UNKNOWN`` only if it is alone."""
    return int(rows[np.where(rows == UNKNOWN, -np.inf, logs).argmax()]) if len(rows) > 1 else int(rows[0])
