"""Levels of protection: budgets that are chosen by how many words return, for people who have no epsilon in mind."""

from __future__ import annotations

from typing import Literal, TypeAlias

from textveil.mechanisms.returns import LARGEST_RATE, SMALLEST_RATE
from textveil.registry import unknown_name

Level: TypeAlias = Literal["high", "medium", "low"]

LEVELS: dict[Level, float] = {"high": SMALLEST_RATE, "medium": 0.2, "low": LARGEST_RATE}
"""The share of words that return, by the level of protection."""


def find_rate(level: str) -> float:
    """The share of words that return at a level."""
    if level not in LEVELS:
        raise unknown_name("level", level, LEVELS)
    return LEVELS[level]
