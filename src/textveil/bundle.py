"""Bundles: a prepared language, as a folder with a manifest, hashes, and vectors per decomposition.

bundle.json               name, version, language, corpus and licence, parameters, SHA-256 of every file
words/vocabulary.txt      one entry per line
words/matrix.npy          one vector per entry: float32, float16, or int8
words/scales.npy          for int8: what to multiply each row by
words/excluded.txt        entries that are never written, one per line
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from textveil.atomic import writing_folder
from textveil.errors import BundleError, OutputExistsError, ParameterError
from textveil.registry import unknown_name
from textveil.vectors import Matrix, Vectors

FORMAT_VERSION = 1
MANIFEST = "bundle.json"
DEFAULT_BUNDLE = "en"
SHIPPED = Path(__file__).parent / "bundles"

Storage: TypeAlias = Literal["int8", "float16", "float32"]
STORAGES: tuple[Storage, ...] = get_args(Storage)

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SAMPLE = 1000
_LARGEST, _SMALLEST = 1e12, 1e-12  # beyond these, squares leave the range of single precision
_COPY_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Manifest:
    """What ``bundle.json`` says."""

    name: str
    version: str
    language: str
    corpus: str
    licence: str
    tokens: int | None
    parameters: Mapping[str, Any]
    vectors: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str]

    @classmethod
    def parse(cls, content: bytes, *, source: Path) -> Manifest:
        """Read and check a manifest."""
        try:
            values = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{str(source)!r} is not JSON. Get the bundle again.") from error
        version = values.get("format") if isinstance(values, dict) else None
        if type(version) is not int or version < 1:
            raise BundleError(f"{str(source)!r} is not the manifest of a bundle.")
        if version > FORMAT_VERSION:
            raise BundleError(
                f"The bundle {str(source.parent)!r} has format {version}, and this version of textveil reads "
                f"up to {FORMAT_VERSION}. Update textveil."
            )
        kinds: dict[str, Any] = {"name": str, "version": str, "language": str, "corpus": str, "licence": str}
        kinds |= {"tokens": (int, type(None)), "parameters": dict, "vectors": dict, "files": dict}
        for field, kind in kinds.items():
            if field not in values or not isinstance(values[field], kind):
                raise BundleError(f"{str(source)!r} has no valid {field!r}. Get the bundle again.")
        if not all(isinstance(table, dict) for table in values["vectors"].values()):
            raise BundleError(f"{str(source)!r} has no valid 'vectors'. Get the bundle again.")
        for name in values["files"]:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise BundleError(f"{str(source)!r} names a file outside its folder. Do not use this bundle.")
        return cls(**{field: values[field] for field in kinds})

    def to_json(self) -> str:
        """The manifest as indented JSON."""
        values = {field: getattr(self, field) for field in self.__slots__}
        return json.dumps({"format": FORMAT_VERSION, **values}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


class Bundle:
    """A prepared language on disk. Vectors are checked against their hashes and memory-mapped when first used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / MANIFEST
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BundleError(
                f"{str(folder)!r} is not a bundle: {MANIFEST} cannot be read ({error.strerror}). "
                "See 'textveil bundle --help' for making one."
            ) from error
        self.manifest = Manifest.parse(content, source=path)
        self.hash = hashlib.sha256(content).hexdigest()
        self._loaded: dict[str, Vectors] = {}

    @classmethod
    def load(cls, name_or_path: str | Path = DEFAULT_BUNDLE) -> Bundle:
        """Open a bundle that ships with textveil by its name, or any other by its folder."""
        if not isinstance(name_or_path, str | Path):
            raise ParameterError(f"A bundle is a name or a folder. Got {type(name_or_path).__name__} instead.")
        shipped = sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}"))
        if str(name_or_path) in shipped:
            return cls(SHIPPED / str(name_or_path))
        if not Path(name_or_path).exists():
            raise unknown_name("bundle or folder", str(name_or_path), shipped)
        return cls(Path(name_or_path))

    @cached_property
    def decompositions(self) -> tuple[str, ...]:
        """The decompositions that this bundle has vectors for."""
        return tuple(self.manifest.vectors)

    def distance(self, decomposition: str) -> Mapping[str, Any]:
        """The quantiles of distances between the entries of one vocabulary."""
        return cast("Mapping[str, Any]", self.manifest.vectors[decomposition].get("distance", {}))

    def vectors(self, decomposition: str) -> Vectors:
        """The vectors for one decomposition."""
        if decomposition not in self.manifest.vectors:
            raise BundleError(
                f"The bundle {self.manifest.name!r} has no vectors for {decomposition!r}. "
                f"It has: {', '.join(self.decompositions)}."
            )
        if decomposition not in self._loaded:
            self._loaded[decomposition] = self._load_vectors(decomposition)
        return self._loaded[decomposition]

    def verify(self) -> list[str]:
        """Check every file against its hash, and every vocabulary against its matrix; the files that were checked."""
        for name in self.manifest.files:
            self._check(name)
        for decomposition in self.decompositions:
            self._load_vectors(decomposition)
        return sorted(self.manifest.files)

    def _check(self, name: str) -> Path:
        """The path of a file whose content is what the manifest says."""
        path = self.folder / name
        if name not in self.manifest.files:
            raise BundleError(f"The manifest of {str(self.folder)!r} does not list {name!r}. Get the bundle again.")
        try:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise BundleError(
                f"The file {name!r} of the bundle {str(self.folder)!r} cannot be read ({error.strerror}). "
                "Get the bundle again."
            ) from error
        if digest != self.manifest.files[name]:
            raise BundleError(
                f"The file {name!r} of the bundle {str(self.folder)!r} is not what its manifest says: the SHA-256 is "
                "another. Get the bundle again."
            )
        return path

    def _load_vectors(self, decomposition: str) -> Vectors:
        entries = _read_entries(self._check(f"{decomposition}/vocabulary.txt"))
        matrix = self._load_matrix(decomposition)
        if matrix.ndim != 2 or len(matrix) != len(entries) or matrix.size == 0:
            raise BundleError(f"Vocabulary and matrix of {str(self.folder / decomposition)!r} do not fit together.")
        if len(set(entries)) != len(entries):
            raise BundleError(f"The vocabulary of {str(self.folder / decomposition)!r} has an entry twice.")
        excluded = f"{decomposition}/excluded.txt"
        vectors = Vectors(
            entries, matrix, excluded=_read_entries(self._check(excluded)) if excluded in self.manifest.files else ()
        )
        if len(vectors.writable) == 0:
            raise BundleError(f"No entry of {str(self.folder / decomposition)!r} may be written.")
        for field, value in _describe(vectors).items():
            if self.manifest.vectors[decomposition].get(field) != value:
                raise BundleError(
                    f"The manifest of {str(self.folder)!r} does not fit its files: {field} of {decomposition!r} should "
                    f"be {value}. Do not use this bundle."
                )
        return vectors

    def _load_matrix(self, decomposition: str) -> Matrix:
        stored = self._load_array(f"{decomposition}/matrix.npy")
        if stored.dtype == np.float32:
            matrix = cast("Matrix", stored)
        elif stored.dtype == np.float16:
            matrix = stored.astype(np.float32)
        elif stored.dtype == np.int8:
            scales = self._load_array(f"{decomposition}/scales.npy")
            if scales.dtype != np.float32 or scales.shape != stored.shape[:1]:
                raise BundleError(f"The scales of {str(self.folder / decomposition)!r} do not fit its matrix.")
            matrix = stored * scales[:, None]
        else:
            raise BundleError(
                f"The matrix of {str(self.folder / decomposition)!r} has type {stored.dtype}; "
                f"a bundle holds {', '.join(STORAGES)}."
            )
        largest = float(np.abs(matrix).max(initial=0.0))
        if not _SMALLEST < largest < _LARGEST:  # NaN fails too
            raise BundleError(
                f"The matrix of {str(self.folder / decomposition)!r} holds numbers that are not finite, "
                "or out of all proportion."
            )
        return matrix

    def _load_array(self, name: str) -> npt.NDArray[Any]:
        path = self._check(name)
        reason = None
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            array, reason = None, error
        if not isinstance(array, np.ndarray):  # an archive of arrays is none either
            raise BundleError(
                f"{str(path)!r} is not a plain array of numbers. Do not use this bundle if you do not know its maker."
            ) from reason
        return array


def _describe(vectors: Vectors) -> dict[str, int]:
    """What a manifest says of vectors, and what is checked when they are loaded."""
    return {"entries": len(vectors), "dimensions": vectors.dimensions, "writable": len(vectors.writable)}


def _read_entries(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise BundleError(f"{str(path)!r} is not UTF-8. Get the bundle again.") from error


@dataclass(frozen=True, slots=True)
class VectorTable:
    """What a bundle is made of: entries, their vectors, and the entries that are never written."""

    entries: Sequence[str]
    matrix: npt.NDArray[Any]
    excluded: Sequence[str] = ()


def build_bundle(
    folder: Path,
    tables: Mapping[str, VectorTable],
    *,
    name: str,
    version: str,
    language: str = "en",
    corpus: str,
    licence: str,
    tokens: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    storage: Storage = "float32",
) -> Bundle:
    """Write a bundle; its folder appears when it is complete.

    Args:
        folder: Where to; must not exist.
        tables: The vectors of every decomposition.
        name: How the bundle calls itself.
        version: Its version.
        language: The language of its entries.
        corpus: What the vectors were trained on.
        licence: What may be done with them.
        tokens: The size of the corpus.
        parameters: Whatever makes the build repeatable.
        storage: ``float32``, ``float16``, or ``int8`` with a scale per row.
    """
    if folder.exists():
        raise OutputExistsError(f"{str(folder)!r} exists. Remove it or choose another folder.")
    if storage not in STORAGES:
        raise unknown_name("storage", storage, STORAGES)
    with writing_folder(folder) as unfinished:
        described: dict[str, dict[str, Any]] = {}
        for decomposition, table in tables.items():
            _check_table(decomposition, table)
            stored = _write_table(unfinished / decomposition, table, storage)
            vectors = Vectors(table.entries, stored, excluded=table.excluded)
            described[decomposition] = {
                **_describe(vectors),
                "storage": storage,
                "distance": measure_distances(vectors),
            }
        manifest = Manifest(
            name, version, language, corpus, licence, tokens, parameters or {}, described, _hash_files(unfinished)
        )
        (unfinished / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        Bundle(unfinished).verify()
    return Bundle(folder)


def _check_table(decomposition: str, table: VectorTable) -> None:
    if not decomposition.isidentifier():
        raise ParameterError(f"The name of a decomposition is one word. Got {decomposition!r} instead.")
    if len(table.entries) == 0 or table.matrix.ndim != 2 or len(table.entries) != len(table.matrix):
        raise ParameterError("A bundle needs one vector per entry, and at least one entry.")
    if len(set(table.entries)) != len(table.entries):
        raise ParameterError("A bundle needs entries that differ from each other.")
    if any(not entry or "\n" in entry for entry in table.entries):
        raise ParameterError("An entry of a bundle is neither empty nor longer than a line.")


def _write_table(folder: Path, table: VectorTable, storage: Storage) -> Matrix:
    """Write the files of one decomposition; the matrix as it will be loaded."""
    folder.mkdir()
    _write_entries(folder / "vocabulary.txt", table.entries)
    if table.excluded:
        _write_entries(folder / "excluded.txt", table.excluded)
    matrix = np.lib.format.open_memmap(folder / "matrix.npy", mode="w+", dtype=storage, shape=table.matrix.shape)
    scales = np.ones(len(matrix), dtype=np.float32)
    for start in range(0, len(matrix), _COPY_ROWS):
        part = slice(start, start + _COPY_ROWS)
        rows = np.asarray(table.matrix[part], dtype=np.float32)
        if storage == "int8":
            scales[part] = np.maximum(np.abs(rows).max(axis=1) / 127, np.finfo(np.float32).tiny)
            rows = np.rint(rows / scales[part, None])
        matrix[part] = rows
    matrix.flush()
    if storage == "int8":
        np.save(folder / "scales.npy", scales, allow_pickle=False)
        return cast(Matrix, matrix * scales[:, None])
    return cast(Matrix, matrix.astype(np.float32, copy=False))


def _write_entries(path: Path, entries: Iterable[str]) -> None:
    path.write_bytes(("\n".join(entries) + "\n").encode())


def _hash_files(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder."""
    hashes = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as stream:
            hashes[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    return hashes


def measure_distances(vectors: Vectors) -> dict[str, Any]:
    """Quantiles of the distance between two entries, to the nearest other one, and to the centre.

    Measured on every k-th entry, a thousand at most: to each other, to the nearest of all, and to where a word stands
    that is not in the vocabulary.
    """
    matrix = vectors.matrix
    sample = np.linspace(0, len(matrix) - 1, num=min(_SAMPLE, len(matrix)), dtype=np.int64)
    norms = np.einsum("ij,ij->i", matrix, matrix)
    pairs = np.empty((len(sample), len(sample)), dtype=np.float32)
    nearest = np.empty(len(sample), dtype=np.float32)
    for place, row in enumerate(sample):
        squared = norms + norms[row] - 2 * (matrix @ matrix[row])
        squared[row] = np.inf
        nearest[place] = squared.min()
        pairs[place] = squared[sample]
    measured = {
        "pairs": np.sqrt(np.maximum(pairs[np.isfinite(pairs)], 0)),
        "nearest": np.sqrt(np.maximum(nearest[np.isfinite(nearest)], 0)),
        "centre": np.linalg.norm(matrix[sample] - vectors.centre, axis=1),
    }
    return {"metric": "euclidean", **{kind: _quantiles(distances) for kind, distances in measured.items()}}


def _quantiles(distances: npt.NDArray[Any]) -> dict[str, float]:
    if len(distances) == 0:
        return {}
    return {str(quantile): round(float(np.quantile(distances, quantile)), 4) for quantile in QUANTILES}
