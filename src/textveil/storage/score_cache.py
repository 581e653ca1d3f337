"""Cached scores: rows of numbers, in memory and in a folder, by a keyed hash of the texts they were computed from."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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


Key: TypeAlias = bytes
"""A SHA-256."""
Row: TypeAlias = NDArray[np.float64]

_KEY_SIZE = hashlib.sha256().digest_size
_IDENTITY = "identity.json"
_FORMAT = "keyed hashes"
"""A part of the name of folders. Folders of earlier versions, with plain hashes, are not read."""


def hash_text(*texts: str) -> Key:
    """The SHA-256 of a text, or of several texts together.

    Do not write it to a file that should not confirm a guessed text: :func:`sign` it first.
    """
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        if len(texts) > 1:
            digest.update(f"{len(encoded)}:".encode())  # so that "ab", "c" differs from "a", "bc"
        digest.update(encoded)
    return digest.digest()


def sign(key: Key, secret: bytes) -> Key:
    """The keyed hash of a hash: its HMAC-SHA256."""
    return hmac.digest(secret, key, "sha256")


class ScoreCache:
    """A cache of rows of scores by the hash of a text.

    The folder has a subfolder for each identity. Every :meth:`add` writes one file to it, atomically, and no file is
    ever changed. No text is stored, and hashes are keyed: without the secret, a guessed text cannot be looked up.
    Several processes may share a folder.

    Args:
        folder: The folder of the cache. ``None`` caches in memory only.
        identity: Everything besides the texts that the scores depend on.
        secret: The secret of the keyed hashes; by default the one in the folder.
    """

    def __init__(self, folder: Path | None, identity: Mapping[str, object], secret: bytes | None = None) -> None:
        self._rows: dict[Key, Row] = {}
        self._secret = secret or (PROCESS_KEY if folder is None else load_key(folder))
        self._folder = None if folder is None else _open_folder(folder, identity)
        self._known: set[str] = set()
        """The files whose rows are in memory."""

    def __getitem__(self, key: Key) -> Row:
        return self._rows[sign(key, self._secret)]

    def find_missing(self, keys: Sequence[Key]) -> list[int]:
        """The positions of keys without cached scores. Of equal keys, only the first is listed."""
        signed = [sign(key, self._secret) for key in keys]
        missing = self._find_missing(signed)
        if missing and self._folder is not None:
            for path in sorted(self._folder.glob("*.npz")):
                if path.name not in self._known:
                    self._rows.update(_read(path))
                    self._known.add(path.name)
            missing = self._find_missing(signed)
        return missing

    def _find_missing(self, keys: Sequence[Key]) -> list[int]:
        first: dict[Key, int] = {}
        for position, key in enumerate(keys):
            if key not in self._rows:
                first.setdefault(key, position)
        return list(first.values())

    def add(self, rows: Mapping[Key, Row]) -> None:
        """Cache rows, in a new file if there is a folder."""
        signed = {sign(key, self._secret): row for key, row in rows.items()}
        if self._folder is not None:
            path = self._folder / f"{secrets.token_hex(16)}.npz"
            _write(path, signed)
            self._known.add(path.name)
        self._rows.update(signed)


def _open_folder(folder: Path, identity: Mapping[str, object]) -> Path:
    """The subfolder of an identity, which describes it."""
    described = json.dumps(identity, indent=2, sort_keys=True) + "\n"
    opened = folder / hashlib.sha256(f"{_FORMAT}\n{described}".encode()).hexdigest()[:16]
    make_folder(opened, private=True)
    with writing(opened / _IDENTITY, private=True) as stream:
        stream.write(described.encode())
    return opened


def _write(path: Path, rows: Mapping[Key, Row]) -> None:
    packed = io.BytesIO()
    np.savez(
        packed,
        hashes=np.frombuffer(b"".join(rows), dtype=np.uint8),
        lengths=np.array([len(row) for row in rows.values()], dtype=np.int64),
        scores=np.concatenate(list(rows.values())),
    )
    with writing(path, private=True) as stream:
        stream.write(packed.getvalue())


def _read(path: Path) -> dict[Key, Row]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            hashes, lengths, scores = arrays["hashes"].tobytes(), arrays["lengths"], arrays["scores"]
        if len(hashes) != _KEY_SIZE * len(lengths) or len(scores) != lengths.sum():
            raise ValueError
        rows = np.split(scores, np.cumsum(lengths)[:-1]) if len(lengths) else []
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{str(path)!r} is damaged or not a file of cached scores. Remove it: the scores are computed again."
        ) from error
    return {hashes[i * _KEY_SIZE : (i + 1) * _KEY_SIZE]: row for i, row in enumerate(rows)}
