"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, float | None], None]
"""Is told what is being done, how much of it is done (documents, words, files), and the fraction, if that is known."""


def ignore_progress(stage: str, amount: int, fraction: float | None) -> None:
    """Tell nobody."""
