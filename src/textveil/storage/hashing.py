"""Hashes of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_files(paths: Iterable[Path]) -> str:
    """One SHA-256 over several files and their names."""
    lines = "\n".join(f"{path.name} {hash_file(path)}" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()
