"""Figures that cost time to compute: looked up in a table that ships with textveil, then in the user's cache."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from textveil.errors import TextveilError
from textveil.storage.atomic import make_folder, writing

VARIABLE = "TEXTVEIL_CACHE"
"""The environment variable that names the cache folder."""
WORTH_KEEPING = 0.1
"""Figures that took fewer seconds are computed again each time."""
MOST_CACHED = 1_000
"""Figures that are cached. The oldest ones make room, because users of a service may ask for any number."""

_KEY = re.compile(r"[0-9a-f]{64}")


def cache_folder() -> Path:
    """The folder of the user's cache.

    Raises:
        RuntimeError: The user has no home folder.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("textveil", appauthor=False, opinion=False)).expanduser()


def find_figures(key: str, shipped: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Figures by the hash of everything that they depend on.

    Args:
        key: A SHA-256 in hexadecimal digits.
        shipped: A table of figures that comes with textveil.
        compute: Computes the figures if neither the table nor the cache has them.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(key)
    if known := _read_table(shipped).get(key):
        return dict(known)
    path = _locate(key)
    if path is not None and (cached := _read(path)):
        return cached
    started = time.monotonic()
    figures = compute()
    if path is not None and time.monotonic() - started >= WORTH_KEEPING:
        _write(path, figures)
    return figures


def _locate(key: str) -> Path | None:
    try:
        return cache_folder() / "figures" / f"{key}.json"
    except RuntimeError:  # nobody's home
        return None


@cache
def _read_table(path: Path) -> dict[str, Any]:
    return _read(path) or {}


def _read(path: Path) -> dict[str, Any] | None:
    """The content of a file; ``None`` if it is not there, or not readable, or damaged."""
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def _write(path: Path, figures: dict[str, Any]) -> None:
    """Cache figures; a cache that cannot be written is no error, since they are computed again."""
    try:
        make_folder(path.parent, private=True)
        with writing(path, private=True) as stream:
            stream.write(json.dumps(figures).encode())
        cached = list(path.parent.glob("*.json"))
        if len(cached) > MOST_CACHED:
            for oldest in sorted(cached, key=lambda each: each.stat().st_mtime_ns)[:-MOST_CACHED]:
                oldest.unlink(missing_ok=True)
    except (OSError, TextveilError):
        return
