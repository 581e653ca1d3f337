"""Progress of a download by another program, measured by the size of its folder."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textveil.progress import Progress, ignore_progress

INTERVAL = 0.25
"""Seconds between two reports."""


@contextmanager
def watching(folder: Path, name: str, size: int, progress: Progress) -> Iterator[None]:
    """Report the size of a folder, in kilobytes and as a share of ``size`` bytes, from a background thread."""
    if progress is ignore_progress:
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(INTERVAL):
            report_bytes(progress, name, _bytes_below(folder), size)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def report_bytes(progress: Progress, name: str, done: int, size: int) -> None:
    """Report the number of downloaded bytes."""
    progress(f"downloading {name}", done // 1000, min(1.0, done / size) if size else None)


def _bytes_below(folder: Path) -> int:
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:  # the file disappeared
                continue
    return total
