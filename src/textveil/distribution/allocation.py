"""From scores to shares: the step that all distributors share (the paper's algorithm 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Literal, TypeAlias

from textveil.distribution.base import Score
from textveil.errors import BudgetError, ParameterError

LEAST_BUDGET = 1e-200
"""With a smaller budget, a share could underflow to 0."""

Missing: TypeAlias = Literal["mean", "zero"]


def check_budget(epsilon: float) -> float:
    """The budget as a float, if it is positive and finite."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise BudgetError(f"`epsilon` must be a number. Got {type(epsilon).__name__} instead.")
    try:
        budget = float(epsilon)
    except OverflowError:
        budget = math.inf
    if not LEAST_BUDGET <= budget < math.inf:  # a chained comparison, because NaN must fail too
        raise BudgetError(
            f"`epsilon` must be positive and finite. Got {budget!r} instead. "
            "A word's share of it multiplies distances in the embedding; try 1 to 50 per word."
        )
    return budget


def allocate(
    scores: Sequence[Score],
    takes_part: Sequence[bool],
    *,
    budget: float,
    invert: bool = False,
    missing: Missing = "mean",
) -> list[float]:
    """Divide ``budget`` over the words that take part, in proportion to their scores.

    Negative scores are shifted so that the least is 0. Inverted scores are mirrored: (max + min) - score. A missing
    score is the mean of the others (``"mean"``), or its word gets no share (``"zero"``). If no score is positive, all
    shares are equal. The shares sum to the budget if any word takes part.

    Args:
        scores: One per word of a document; ``None`` if the method gave none.
        takes_part: Whether each word gets a share; kept stopwords do not.
        budget: The document's epsilon.
        invert: Whether a higher score must mean a smaller share.
        missing: How to treat a word without a score.

    >>> allocate([1.0, 3.0, 9.0], [True, True, False], budget=8.0)
    [2.0, 6.0, 0.0]
    >>> allocate([1.0, 3.0, None], [True, True, True], budget=6.0, invert=True)
    [3.0, 1.0, 2.0]
    """
    budget = check_budget(budget)
    positions = [position for position, takes in enumerate(takes_part) if takes]
    weights = _weigh([scores[position] for position in positions], invert=invert, missing=missing)
    largest = max(weights, default=0.0)
    weights = [weight / largest for weight in weights] if largest > 0 else [1.0] * len(positions)
    total = math.fsum(weights)
    shares = [0.0] * len(scores)
    for position, weight in zip(positions, weights, strict=True):
        shares[position] = budget * (weight / total)
    return shares


def _weigh(scores: Sequence[Score], *, invert: bool, missing: Missing) -> list[float]:
    """Scores as non-negative weights: shifted, inverted, with missing ones filled in."""
    given = [score for score in scores if score is not None]
    if not all(map(math.isfinite, given)):
        raise ParameterError("A distributor gave a score that is not a finite number. Its model may be broken.")
    largest = max(map(abs, given), default=0.0)
    if largest == 0:
        return [0.0] * len(scores)
    # Only proportions count: scaled by a power of two to [-2, 2], no score is rounded and none can overflow.
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    least, most = min(given) / scale, max(given) / scale
    shift = -least if least < 0 else 0.0
    mirror = most + least + 2 * shift

    def weigh(score: float) -> float:
        shifted = score / scale + shift
        return max(0.0, mirror - shifted) if invert else shifted

    filler = 0.0 if missing == "zero" else math.fsum(map(weigh, given)) / len(given)
    return [filler if score is None else weigh(score) for score in scores]
