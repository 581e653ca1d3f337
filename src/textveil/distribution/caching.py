"""Scores that are kept: those of a document depend on neither the budget nor the decomposition."""

from __future__ import annotations

import hashlib
import io
import json
import secrets
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textveil.atomic import output_error, writing
from textveil.distribution.base import Distributor, Score
from textveil.errors import InputError, ParameterError
from textveil.text import Document
from textveil.version import __version__

Hash: TypeAlias = bytes
Row: TypeAlias = NDArray[np.float64]
"""The scores of a document, NaN where there is none."""

_HASH_SIZE = hashlib.sha256().digest_size
_IDENTITY = "identity.json"


class CachedDistributor(Distributor):
    """A distributor that scores a document once.

    Scores are found by the SHA-256 of the document's text, and kept in memory, 8 bytes a word. In a folder they are
    kept beyond that: below it, a folder for every distributor with its model and versions, and in it a file for every
    batch of documents that was scored. No text is written. Several processes may share a folder.

    Args:
        distributor: What gives the scores that are not known yet.
        folder: Where scores are kept; by default, in memory only.
    """

    def __init__(self, distributor: Distributor, folder: Path | None = None) -> None:
        if isinstance(distributor, CachedDistributor):
            raise ParameterError("The scores of this distributor are cached already.")
        self.distributor = distributor
        self.name = distributor.name
        self.data_independent = distributor.data_independent
        self.invert = distributor.invert
        self._rows: dict[Hash, Row] = {}
        self._files = None if folder is None else _Files(folder, self.identity)

    @property
    def label(self) -> str:
        """As without the cache: the scores are the same."""
        return self.distributor.label

    @property
    def versions(self) -> dict[str, str]:
        """As without the cache."""
        return self.distributor.versions

    @property
    def identity(self) -> dict[str, object]:
        """All that scores depend on, besides the document."""
        return {"distributor": self.label, "versions": {"textveil": __version__, **self.versions}}

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The scores that are known, and those of the distributor for other documents."""
        hashes = [hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).digest() for document in documents]
        missing = self._find_missing(hashes, documents)
        if missing and self._files is not None:
            self._rows.update(self._files.read_new())
            missing = self._find_missing(hashes, documents)
        if missing:
            scores = self.distributor.score(list(missing.values()))
            found = {key: np.array(row, dtype=np.float64) for key, row in zip(missing, scores, strict=True)}
            if self._files is not None:
                self._files.write(found)
            self._rows.update(found)
        return [[None if score != score else score for score in self._rows[key].tolist()] for key in hashes]  # noqa: PLR0124

    def _find_missing(self, hashes: Sequence[Hash], documents: Sequence[Document]) -> dict[Hash, Document]:
        return {key: document for key, document in zip(hashes, documents, strict=True) if key not in self._rows}


class _Files:
    """A folder of scores; files are written once, whole, and never changed."""

    def __init__(self, folder: Path, identity: Mapping[str, object]) -> None:
        described = json.dumps(identity, indent=2, sort_keys=True) + "\n"
        self._folder = folder / hashlib.sha256(described.encode()).hexdigest()[:16]
        self._read: set[str] = set()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(self._folder, error) from error
        with writing(self._folder / _IDENTITY) as stream:
            stream.write(described.encode())

    def read_new(self) -> dict[Hash, Row]:
        """The scores of all files that were not read before."""
        rows: dict[Hash, Row] = {}
        for path in sorted(self._folder.glob("*.npz")):
            if path.name not in self._read:
                rows.update(_read(path))
                self._read.add(path.name)
        return rows

    def write(self, rows: Mapping[Hash, Row]) -> None:
        """Keep the scores of some documents."""
        path = self._folder / f"{secrets.token_hex(16)}.npz"
        packed = io.BytesIO()
        np.savez(
            packed,
            hashes=np.frombuffer(b"".join(rows), dtype=np.uint8),
            lengths=np.array([len(row) for row in rows.values()], dtype=np.int64),
            scores=np.concatenate(list(rows.values())),
        )
        with writing(path) as stream:
            stream.write(packed.getvalue())
        self._read.add(path.name)


def _read(path: Path) -> dict[Hash, Row]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            hashes, lengths, scores = arrays["hashes"].tobytes(), arrays["lengths"], arrays["scores"]
        if len(hashes) != _HASH_SIZE * len(lengths) or len(scores) != lengths.sum():
            raise ValueError
        rows = np.split(scores, np.cumsum(lengths)[:-1]) if len(lengths) else []
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{str(path)!r} is no file of scores, or damaged. Remove it: they are worked out again."
        ) from error
    return {hashes[i * _HASH_SIZE : (i + 1) * _HASH_SIZE]: row for i, row in enumerate(rows)}
