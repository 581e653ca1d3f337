"""Durations: the shortest of several runs."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """The shortest duration of several runs, in seconds: the run with the least disturbance."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
