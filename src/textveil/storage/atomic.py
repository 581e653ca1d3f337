"""Writing files so that a name appears only when its content is complete and on the disk."""

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
    """The error for a file that could not be written, with the system's reason."""
    return OutputError(
        f"Cannot write {str(path)!r}: {error.strerror or type(error).__name__}. "
        "Check the free space and the permissions there, then run again."
    )


_UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{8}\.unfinished")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")


def strip_unfinished(name: str) -> str:
    """The name that an unfinished file was going to take; any other name is returned as it is.

    >>> strip_unfinished(".job.json.0a1b2c3d.unfinished"), strip_unfinished(".my.unfinished")
    ('job.json', '.my.unfinished')
    """
    found = _UNFINISHED.fullmatch(name)
    return name if found is None else found[1]


def sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless it exists.

    Raises:
        OutputError: The system does not allow it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the name ``path`` when the block ends without an error, and never before.

    Raises:
        OutputError: The disk is full, the folder is missing or closed to us.
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
    """Give a finished folder the name ``path``; a folder that has it goes only when the new one is there."""
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
    """Make a folder that takes the name ``path`` when the block ends without an error, and never before."""
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
