"""The secret key of a cache or a ledger: without it, nobody can check whether either knows a guessed text."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from textveil.errors import InputError
from textveil.storage.atomic import make_folder, output_error, writing

KEY = "key"
"""The file with the key, in the folder of the cache."""
KEY_SIZE = 32

PROCESS_KEY = secrets.token_bytes(KEY_SIZE)
"""The key of caches in memory."""


def load_key(folder: Path) -> bytes:
    """The key of a folder, which is created on first use. Several processes may do so at the same time.

    Raises:
        InputError: The key is damaged.
        OutputError: It cannot be written.
    """
    path = folder / KEY
    if not path.exists():
        make_folder(folder, private=True)
        create_key(path)
    try:
        key = path.read_bytes()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check its permissions.") from error
    if len(key) != KEY_SIZE:
        raise InputError(f"{str(path)!r} is damaged. Remove it: the scores in its folder are computed again.")
    return key


def create_key(path: Path) -> None:
    """Write a new key, unless another process is faster: a link, unlike a rename, never replaces a file."""
    candidate = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with writing(candidate, private=True) as stream:
        stream.write(secrets.token_bytes(KEY_SIZE))
    try:
        os.link(candidate, path)
    except FileExistsError:
        return
    except OSError:  # without links, the last of several keys stays, and scores under the others are computed again
        try:
            candidate.replace(path)
        except OSError as error:
            raise output_error(path, error) from error
    finally:
        candidate.unlink(missing_ok=True)
