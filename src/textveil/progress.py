"""Progress of long work, reported through a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, float | None], None]
"""A callback with the stage, the amount of finished work (documents, words, files) and the fraction, if known."""


def ignore_progress(stage: str, amount: int, fraction: float | None) -> None:
    """Report nothing."""
