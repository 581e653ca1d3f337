"""A deadline for code that could wait forever."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def deadline(seconds: float = 20) -> Iterator[None]:
    """Fail if the block takes longer. The failure is not an ``Exception``, so no handler in the block catches it."""

    def stop(*_: object) -> None:
        pytest.fail(f"This took longer than {seconds} seconds.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
