"""Hashes of files."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from io import BufferedReader
from pathlib import Path


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def start_hashing(stream: BufferedReader) -> Callable[[], str]:
    """Compute the SHA-256 of an open file in another thread; what is returned waits for it.

    The thread does not hold the lock of the interpreter while it hashes, so other work goes on.
    """
    found: list[str | BaseException] = []

    def work() -> None:
        try:
            found.append(hashlib.file_digest(stream, "sha256").hexdigest())
        except BaseException as error:  # noqa: BLE001 # whoever waits raises it
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def finish() -> str:
        thread.join()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    return finish


def hash_files(paths: Iterable[Path]) -> str:
    """One SHA-256 over several files and their names."""
    lines = "\n".join(f"{path.name} {hash_file(path)}" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()
