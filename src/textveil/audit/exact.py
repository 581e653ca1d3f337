"""Exact log-ratios: what the probabilities of a mechanism with a closed form say about two texts."""

from __future__ import annotations

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.mechanisms import Mechanism, Request
from textveil.mechanisms.base import ASKED
from textveil.mechanisms.exponential import Exponential
from textveil.mechanisms.fluent import Fluent
from textveil.mechanisms.sampling import PRECISION

TOLERANCE = 2 * PRECISION
"""The rounding error of a log-ratio for each word: both probabilities have a relative error of ``PRECISION``."""


def find_exact_ratio(mechanism: Mechanism, first: Request, second: Request) -> float | None:
    """The log-ratio of an answer to two texts, in the direction in which it is larger; ``None`` without a closed form.

    For ``exponential`` it is the largest log-ratio of all answers. For ``fluent``, the probabilities of a word depend
    on the words written before. The answer is then written from left to right, with the largest ratio at each word that
    differs and the likeliest entry at all others. So it is exact for this answer, and there may be worse ones.

    Args:
        mechanism: The mechanism.
        first: What it is asked for one text.
        second: What it is asked for a neighbor of that text, with the same shares.
    """
    if not isinstance(mechanism, Exponential):
        return None
    return max(_write_worst(mechanism, first, second), _write_worst(mechanism, second, first))


def _write_worst(mechanism: Exponential, likely: Request, unlikely: Request) -> float:
    """The log-ratio of the worst answer: likely for one text, unlikely for the other."""
    places = [mechanism.place(request, slice(None)) for request in (likely, unlikely)]
    written = np.full(len(likely.rows), ASKED) if likely.context is None else likely.context.copy()
    asked = np.flatnonzero(written == ASKED)
    total = 0.0
    for step, place in enumerate(asked):
        points = np.stack([place_of[step] for place_of in places])
        logs = _channel(mechanism, points, float(likely.shares[step]), written[:place])
        ratios = logs[0] - logs[1]
        differ = bool((points[0] != points[1]).any())
        chosen = int(ratios.argmax() if differ else logs[0].argmax())
        total += float(ratios[chosen]) if differ else 0.0
        written[place] = mechanism.space.writable[chosen]
    return total


def _channel(mechanism: Exponential, points: Floats, share: float, before: RowNumbers) -> Floats:
    """The log-probabilities of all entries at two points, after what was written before."""
    shares = np.full(len(points), share)
    if not isinstance(mechanism, Fluent):
        return mechanism.log_channel(points, shares)
    reach = mechanism.prior.order - 1
    context = np.concatenate([np.full(reach, UNKNOWN), before])[len(before) :]
    return mechanism.log_channel(points, shares, np.tile(context, (len(points), 1)))
