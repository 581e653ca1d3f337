"""Levels of protection, for people who have no epsilon in mind: the only place of their definition and figures."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from textveil.mechanisms.returns import LARGEST_RATE, SMALLEST_RATE
from textveil.registry import unknown_name

Level: TypeAlias = Literal["high", "medium", "low"]

LEVELS: dict[Level, float] = {"high": SMALLEST_RATE, "medium": 0.2, "low": LARGEST_RATE}
"""How the epsilon per word of a level is found for any mechanism and bundle: the one at which this share of words that
are drawn from the vocabulary return. In texts, another share returns; see ``FIGURES``."""

LEVEL: Level = "medium"
"""The level where nothing else is given."""


class Figures(NamedTuple):
    """What a level means in practice."""

    epsilon_per_word: float
    linked: float
    """The share of texts that an attacker who has all originals links to the right one."""
    returned: float
    """The share of the replaced words that return."""
    similarity: float
    """The mean cosine similarity."""


MEASURED = "measured on 500 public product reviews with the default settings"
"""How ``scripts/measure_levels.py`` measures the figures: the first reviews, of 174 words on average, and one draw."""
FIGURES: dict[Level, Figures] = {
    "high": Figures(6.1, 0.66, 0.03, 0.29),
    "medium": Figures(13.6, 0.93, 0.16, 0.41),
    "low": Figures(20.5, 0.99, 0.37, 0.60),
}


def find_rate(level: str) -> float:
    """The share of words drawn from the vocabulary that return at a level."""
    if level not in LEVELS:
        raise unknown_name("level", level, LEVELS)
    return LEVELS[level]


def describe_level(level: str) -> str:
    """The figures of a level in a few words, as they are ``MEASURED``.

    >>> describe_level("medium")
    '93 % of texts linked to their originals, 16 % of replaced words return, similarity 0.41'
    """
    find_rate(level)  # which refuses an unknown level
    found = FIGURES[level]  # type: ignore[index] # checked
    return (
        f"{found.linked:.0%} of texts linked to their originals, {found.returned:.0%} of replaced words return, "
        f"similarity {found.similarity:.2f}"
    ).replace("%", " %")
