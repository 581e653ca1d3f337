"""Atomic writing: a file or folder appears under its name only when it is complete and on disk."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from textveil.errors import OutputError


def output_error(path: Path, error: OSError) -> OutputError:
    """The error for a file that cannot be written, with the reason of the system."""
    return OutputError(
        f"Cannot write {str(path)!r}: {error.strerror or type(error).__name__}. "
        "Check the free space and the permissions there, then run again."
    )


_UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{8}\.unfinished")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")


def strip_unfinished(name: str) -> str:
    """The final name of an unfinished file. Any other name is returned unchanged.

    >>> strip_unfinished(".job.json.0a1b2c3d.unfinished"), strip_unfinished(".my.unfinished")
    ('job.json', '.my.unfinished')
    """
    found = _UNFINISHED.fullmatch(name)
    return name if found is None else found[1]


def sync_folder(folder: Path) -> None:
    """Make a rename survive a power failure, if the system supports it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists.

    Raises:
        OutputError: The system does not allow it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Write a file that appears as ``path`` when the block ends without an error.

    Raises:
        OutputError: The disk is full, or the folder is missing or not writable.
    """
    unfinished = _unfinished(path)
    try:
        with unfinished.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise output_error(path, error) from error
    finally:
        unfinished.unlink(missing_ok=True)


def put_folder(folder: Path, path: Path) -> None:
    """Rename a finished folder to ``path``. A folder of that name is removed after the new one is in place."""
    old = path.with_name(f".{path.name}.{secrets.token_hex(4)}.removed") if path.exists() else None
    try:
        if old is not None:
            path.rename(old)
        folder.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        if old is not None and not path.exists():
            old.rename(path)
        raise output_error(path, error) from error
    if old is not None and old.is_file():
        old.unlink()
    elif old is not None:
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def writing_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Write a folder that appears as ``path`` when the block ends without an error."""
    unfinished = _unfinished(path)
    try:
        unfinished.mkdir(parents=True)
        yield unfinished
        if replace:
            put_folder(unfinished, path)
        else:
            unfinished.rename(path)
            sync_folder(path.parent)
    except OSError as error:
        raise output_error(path, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
