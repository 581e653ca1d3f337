"""Atomic writing: a file or folder appears under its name only when it is complete and on disk.

This module also decides who may read a new file. Its mode is set at creation, so it is never readable to more people,
not even for a moment. The umask of the process can only remove permissions. Windows ignores modes.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
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


_ANY_FILE = 0o666
_PRIVATE_FILE = 0o600
_ANY_FOLDER = 0o777
_PRIVATE_FOLDER = 0o700
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


def make_folder(folder: Path, *, private: bool = False) -> None:
    """Create a folder and its missing parents, unless it exists.

    Args:
        folder: The folder.
        private: Only the user may enter the folders that are created. An existing folder is not changed.

    Raises:
        OutputError: The system does not allow it.
    """
    mode = _PRIVATE_FOLDER if private else _ANY_FOLDER
    try:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode, exist_ok=True)
        folder.mkdir(exist_ok=True)  # an error if it is a file
    except OSError as error:
        raise output_error(folder, error) from error


def _choose_mode(path: Path, like: Path | None, private: bool) -> int:
    """The mode of a new file, from which the umask is still subtracted. The user may always read and write it."""
    if private:
        return _PRIVATE_FILE
    if like is None or sys.platform == "win32":
        return _ANY_FILE
    try:
        source = like.stat()
    except OSError:  # its mode is unknown
        return _PRIVATE_FILE
    mode = stat.S_IMODE(source.st_mode) & _ANY_FILE
    if source.st_gid != _predict_group(path.parent):  # permissions of one group must not go to another
        shared = (mode >> 3) & mode & 0o006
        mode = shared << 3 | shared
    return _PRIVATE_FILE | mode


def _predict_group(folder: Path) -> int:
    """The group that a new file in a folder belongs to."""
    if sys.platform == "win32":
        return 0
    parent = folder.stat()
    inherited = sys.platform == "darwin" or parent.st_mode & stat.S_ISGID
    return parent.st_gid if inherited else os.getegid()


@contextmanager
def writing(path: Path, *, like: Path | None = None, private: bool = False) -> Iterator[BinaryIO]:
    """Write a file that appears as ``path`` when the block ends without an error.

    Args:
        path: The file.
        like: The file that the content comes from. The new file is never more readable than this one.
        private: Only the user may read the file.

    Raises:
        OutputError: The disk is full, or the folder is missing or not writable.
    """
    unfinished = _unfinished(path)
    try:
        mode = _choose_mode(path, like, private)
        with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
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
        import shutil

        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def writing_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Write a folder that appears as ``path`` when the block ends without an error."""
    import shutil

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


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_files(paths: Iterable[Path]) -> str:
    """One SHA-256 over several files and their names."""
    lines = "\n".join(f"{path.name} {hash_file(path)}" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()
