"""Return rates: how often a mechanism gives a word back, and the share at which it does so at a stated rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.bundles.vectors import RowNumbers
from textveil.methods.mechanisms.base import Mechanism, Request
from textveil.randomness import SeededRandomness

LARGEST_RATE = 0.5
"""At the largest share, by default, a word returns in half of the cases."""
SMALLEST_RATE = 0.05
"""Below the share with this rate, hardly any word returns."""

_DRAWS = 500
_STEPS = 6
_LENGTH = 10
_LIMIT = 2.0**40


def draw_entries(mechanism: Mechanism, counts: Any | None) -> RowNumbers:
    """Entries that may be written, drawn by their frequency in the corpus if that is known; the same ones each time."""
    writable = mechanism.vectors.writable
    weights = None if counts is None else counts[writable] / counts[writable].sum()
    drawn: RowNumbers = SeededRandomness(0).stream(0).choice(writable, _DRAWS, p=weights)
    return drawn


def measure_returns(mechanism: Mechanism, share: float, entries: RowNumbers) -> float:
    """The fraction of these entries that a mechanism gives back at a share."""
    # A mechanism with a language model decodes word by word; short documents side by side are faster than a long one.
    documents = np.array_split(entries, max(1, len(entries) // _LENGTH)) if mechanism.uses_prior else [entries]
    streams = SeededRandomness(0)
    chosen = mechanism.perturb(
        [Request(rows, np.full(len(rows), share), streams.stream(1 + number)) for number, rows in enumerate(documents)]
    )
    return float(np.mean(np.concatenate(chosen) == entries))


def find_share(mechanism: Mechanism, rate: float, entries: RowNumbers) -> float:
    """The share up to which a mechanism gives these entries back at less than a rate, to about one percent.

    If the rate is always or never reached, as with a single entry, it is an end of the searched range.
    """
    spread = np.linalg.norm(mechanism.space.take(entries) - mechanism.space.center, axis=1).mean()
    low = high = mechanism.space.dimensions / (4 * float(spread) + 1 / _LIMIT)  # a guess, which doubling corrects
    while measure_returns(mechanism, high, entries) < rate and high < _LIMIT:
        low, high = high, 2 * high
    while measure_returns(mechanism, low, entries) >= rate and low > 1 / _LIMIT:
        low, high = low / 2, low
    for _ in range(_STEPS):
        middle = float(np.sqrt(low * high))
        if measure_returns(mechanism, middle, entries) < rate:
            low = middle
        else:
            high = middle
    return low
