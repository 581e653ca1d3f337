"""From scores to shares: the step that all distributors share (the paper's algorithm 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Literal, TypeAlias

from textveil.errors import BudgetError, ParameterError
from textveil.methods.distribution.base import Score

LEAST_BUDGET = 1e-200
"""With a smaller budget, a share could underflow to 0."""

LEAST_SHARE = 0.05
"""The least weight of a word, in proportion to the mean weight, where every word gets a share."""

Missing: TypeAlias = Literal["mean", "zero"]


def check_budget(epsilon: float, name: str = "epsilon") -> float:
    """The budget as a float, if it is positive and finite."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise BudgetError(f"`{name}` must be a number. Got {type(epsilon).__name__} instead.")
    try:
        budget = float(epsilon)
    except OverflowError:
        budget = math.inf
    if not LEAST_BUDGET <= budget < math.inf:  # a chained comparison, because NaN must fail too
        raise BudgetError(f"`{name}` must be positive and finite. Got {budget!r} instead.")
    return budget


def allocate(
    scores: Sequence[Score],
    takes_part: Sequence[bool],
    *,
    budget: float,
    invert: bool = False,
    missing: Missing = "mean",
    filler: float = 0.0,
) -> list[float]:
    """Divide ``budget`` over the words that take part, in proportion to their scores.

    With ``missing="mean"``, a missing score is the mean of the others, negative scores are shifted so that the least is
    0, inverted scores are mirrored, (max + min) - score, and no word gets less than a twentieth of the mean share. So
    every word that takes part gets a share.

    With ``missing="zero"``, the steps are those of the paper's algorithm 7: a missing score is the ``filler``; a score
    of 0, and the least of scores with a negative one among them, gets no share; only positive scores are mirrored.

    The shares sum to the budget if any word takes part: if no weight is positive, all shares are equal.

    Args:
        scores: One per word of a document; ``None`` if the method gave none.
        takes_part: Whether each word gets a share; kept stopwords do not.
        budget: The document's epsilon.
        invert: Whether a higher score must mean a smaller share.
        missing: How to treat a word without a score.
        filler: The score of a word without one, by the paper's rules.

    >>> allocate([1.0, 3.0, 9.0], [True, True, False], budget=8.0)
    [2.0, 6.0, 0.0]
    >>> allocate([1.0, 3.0, None], [True, True, True], budget=6.0, invert=True)
    [3.0, 1.0, 2.0]
    """
    budget = check_budget(budget)
    positions = [position for position, takes in enumerate(takes_part) if takes]
    given = [scores[position] for position in positions]
    weights = _weigh_like_paper(given, invert, filler) if missing == "zero" else _weigh(given, invert)
    largest = max(weights, default=0.0)
    weights = [weight / largest for weight in weights] if largest > 0 else [1.0] * len(positions)
    total = math.fsum(weights)
    shares = [0.0] * len(scores)
    for position, weight in zip(positions, weights, strict=True):
        shares[position] = budget * (weight / total)
    return shares


def _weigh(scores: Sequence[Score], invert: bool) -> list[float]:
    """Scores as positive weights: shifted, inverted, missing ones filled in, none too small."""
    given = _scale([score for score in scores if score is not None])
    if not given:
        return [0.0] * len(scores)
    least, most = min(given), max(given)
    shift = -least if least < 0 else 0.0
    mirror = most + least + 2 * shift
    weights = [mirror - (score + shift) if invert else score + shift for score in given]
    mean = math.fsum(weights) / len(weights)
    known = iter(weights)
    return [max(mean if score is None else next(known), LEAST_SHARE * mean) for score in scores]


def _weigh_like_paper(scores: Sequence[Score], invert: bool, filler: float) -> list[float]:
    """Scores as weights by the paper's algorithm 7."""
    weights = _scale([filler if score is None else score for score in scores])
    if any(weight < 0 for weight in weights):
        least = min(weights)
        weights = [0.0 if weight == 0 else weight - least for weight in weights]
    positive = [weight for weight in weights if weight > 0]
    if not invert or not positive:
        return weights
    mirror = max(positive) + min(positive)
    return [mirror - weight if weight > 0 else 0.0 for weight in weights]


def _scale(scores: Sequence[float]) -> list[float]:
    """Finite scores, scaled by a power of two to [-2, 2]: only proportions count, and none can overflow."""
    if not all(map(math.isfinite, scores)):
        raise ParameterError("A distributor gave a score that is not a finite number. Its model may be broken.")
    largest = max(map(abs, scores), default=0.0)
    if largest == 0:
        return list(scores)
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return [score / scale for score in scores]
