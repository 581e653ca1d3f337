"""Bundles: changed files whose hashes are those of the manifest, and changed manifests."""

from __future__ import annotations

import io
import json
import math
import shutil
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from soak.base import Part
from soak.mutation import mutate_bytes, mutate_json, randoms
from soak.tiny import build_tiny
from textveil import Bundle, Obfuscator
from textveil.bundles.bundle import MANIFEST
from textveil.storage.atomic import hash_file

STORAGES = ("float32", "int8")
_NAME = "marker"
"""An entry of the vocabulary that is replaced by the marker."""


class Change(NamedTuple):
    """A new content of some files, or a new manifest."""

    storage: str
    files: dict[str, bytes]
    manifest: Any


class Bundles(Part):
    """Loads changed bundles, and obfuscates a text with those that load."""

    name = "bundles"
    quotes_settings = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._intact: dict[str, dict[str, bytes]] = {}
        for storage in STORAGES:
            built = build_tiny(folder / storage, storage=storage, corpus=_NAME, more=(_NAME,)).folder  # type: ignore[arg-type]
            paths = [path for path in built.rglob("*") if path.is_file()]
            self._intact[storage] = {path.relative_to(built).as_posix(): path.read_bytes() for path in paths}
        self._marker = ""

    def strategy(self, marker: str) -> st.SearchStrategy[Change]:
        """Drawn bytes in place of a file, and the random changes."""
        names = sorted(set(self._intact["int8"]) - {MANIFEST})
        raw = st.builds(
            lambda name, content: Change("int8", {name: content}, None),
            st.sampled_from(names),
            st.one_of(st.binary(max_size=100), st.text(max_size=50).map(lambda text: text.encode("utf-8", "replace"))),
        )
        return st.one_of(raw, st.builds(self.draw, randoms(), st.just(marker)))

    def draw(self, random: Random, marker: str) -> Change:
        """Random changes of one or two files, or of the manifest."""
        storage = random.choice(STORAGES)
        intact = self._intact[storage]
        if random.random() < 0.3:
            return Change(storage, {}, mutate_json(random, json.loads(intact[MANIFEST])))
        names = random.choices(sorted(set(intact) - {MANIFEST}), k=random.choice((1, 1, 2)))
        return Change(storage, {name: self._change(random, name, intact[name]) for name in names}, None)

    @staticmethod
    def _change(random: Random, name: str, content: bytes) -> bytes:
        if random.random() < 0.1:
            return random.choice(
                (b"PK\x03\x04", b"PK\x05\x06", b"\x80\x04", b"\x93NUMPY\x01\x00", b"")
            ) + random.randbytes(40)
        if not name.endswith(".npy") or random.random() < 0.5:
            return mutate_bytes(random, content)
        array = np.load(io.BytesIO(content)).astype(random.choice(("f4", "f2", "f8", "i1", "i8", "u2", "?", "c8")))
        array = random.choice((array, array[:-1], array[::-1], array.T, array.ravel(), array[:0], array * 0))
        if array.dtype.kind == "f" and random.random() < 0.5:
            array = np.full_like(array, random.choice((math.nan, math.inf, 1e4, 1e-4)))
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        return buffer.getvalue()

    def use(self, given: Change, marker: str) -> None:
        """Write the bundle with renewed hashes, check it, and use it."""
        if marker != self._marker:
            self._write_intact(marker)
        folder = self._folder(given.storage)
        self._marker = ""  # until the files are intact again
        _write(folder, given.files, marker)
        try:
            manifest = json.loads(self._intact[given.storage][MANIFEST]) if given.manifest is None else given.manifest
            _renew(folder, manifest)
            (folder / MANIFEST).write_text(json.dumps(manifest).replace(_NAME, marker), encoding="utf-8")
            self._try(folder, marker)
        finally:
            _write(folder, {name: self._intact[given.storage][name] for name in given.files}, marker)
            self._marker = marker

    def _folder(self, storage: str) -> Path:
        return self.folder / f"changed-{storage}"

    def _write_intact(self, marker: str) -> None:
        """Write the bundles with a new marker. Later only changed files are written, which takes less time."""
        for storage in STORAGES:
            shutil.rmtree(self._folder(storage), ignore_errors=True)
            _write(self._folder(storage), self._intact[storage], marker)
        self._marker = marker

    @staticmethod
    def _try(folder: Path, marker: str) -> None:
        bundle = Bundle.load(folder)
        for decomposition in bundle.decompositions:
            obfuscator = Obfuscator(bundle, decomposition=decomposition, largest_share=5.0, seed=1)
            obfuscator.obfuscate(f"The good film of New York: {marker}!", epsilon=9).certificate.to_json()
        bundle.verify()


def _write(folder: Path, files: dict[str, bytes], marker: str) -> None:
    """Write files, with the marker as an entry of the vocabulary."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(
            content.replace(_NAME.encode(), marker.encode()) if name.endswith(".txt") else content
        )


def _renew(folder: Path, manifest: Any) -> None:
    """Write the hashes of the files, and that of the lexicon, into a manifest, as far as it has a place for them."""
    files = manifest.get("files") if isinstance(manifest, dict) else None
    for name in files if isinstance(files, dict) else ():
        if files is not None and "\0" not in name and (folder / name).is_file():
            files[name] = hash_file(folder / name)
