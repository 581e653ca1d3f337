"""Texts of the tiny bundle."""

from __future__ import annotations

import pytest

from textveil.randomness import SeededRandomness

from ..conftest import ENTRIES

CONTENT = [entry for entry in ENTRIES if "_" not in entry and entry not in ("the", "and", "was", "of")]


def draw_texts(count: int, seed: int) -> list[str]:
    """Texts of five to fifteen random words of the tiny bundle."""
    stream = SeededRandomness(seed).stream(0)
    return [" ".join(stream.choice(CONTENT, size=stream.integers(5, 16))) for _ in range(count)]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return draw_texts(60, seed=1)
