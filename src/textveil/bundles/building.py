"""Building bundles from entries, vectors and lexicons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from textveil.bundles.bundle import (
    MANIFEST,
    PRIOR,
    SPELLING,
    STORAGES,
    Bundle,
    Manifest,
    Storage,
    describe,
    identify_lexicon,
)
from textveil.bundles.prior import PriorTable
from textveil.bundles.spelling import LEAST_ENTRIES, find_examples, fit_spelling
from textveil.bundles.vectors import Matrix, RowNumbers, Vectors, find_unit, measure_distances, sample_rows
from textveil.errors import OutputExistsError, ParameterError
from textveil.registry import unknown_name
from textveil.storage.atomic import hash_file, writing_folder
from textveil.text.matching import LONGEST, NgramIndex

_COPY_ROWS = 16_384
_BATCH_ROWS = 64


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The vectors of one decomposition.

    Attributes:
        entries: The vocabulary; an entry of several words has underscores between them.
        matrix: One vector per entry.
        excluded: Entries that are known as inputs but never written.
        counts: The number of occurrences of each entry in the corpus.
        prior: The n-gram model over the entries.
    """

    entries: Sequence[str]
    matrix: npt.NDArray[Any]
    excluded: Sequence[str] = ()
    counts: npt.NDArray[Any] | None = None
    prior: PriorTable | None = None


@dataclass(frozen=True, slots=True)
class LexiconTable:
    """The multi-word expressions of one decomposition.

    Attributes:
        ngrams: Expressions of two to four words, with spaces between words.
        scores: Their association scores.
        origin: The settings that reproduce the lexicon.
        license: A license to pass on with the lexicon.
    """

    ngrams: Sequence[str]
    scores: npt.NDArray[Any] | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    license: str | None = None

    def keep(self, is_wanted: Callable[[str], bool]) -> LexiconTable:
        """The same lexicon with fewer expressions."""
        places = [place for place, ngram in enumerate(self.ngrams) if is_wanted(ngram)]
        scores = None if self.scores is None else self.scores[places]
        return replace(self, ngrams=[self.ngrams[place] for place in places], scores=scores)


def build_bundle(
    folder: Path,
    tables: Mapping[str, VectorTable],
    *,
    lexicons: Mapping[str, LexiconTable] | None = None,
    name: str,
    version: str,
    language: str = "en",
    corpus: str,
    license: str,  # noqa: A002
    tokens: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    storage: Storage = "float32",
    spelling: bool | None = None,
    standardize: bool = True,
) -> Bundle:
    """Write a bundle; its folder appears when it is complete.

    Args:
        folder: The folder to create.
        tables: The vectors, by decomposition.
        lexicons: The expressions of the decompositions that need a lexicon.
        name: The name of the bundle.
        version: Its version.
        language: The language of its entries.
        corpus: A description of the training corpus.
        license: The terms of use.
        tokens: The number of tokens in the corpus.
        parameters: The settings that reproduce the build.
        storage: ``float32``, ``float16``, or ``int8`` with a scale per row.
        spelling: Fit a table that places unknown words by their spelling. By default it is fitted if there are at least
            2,000 single words to learn from and scipy is installed.
        standardize: Divide vectors by their median distance, so that a budget means the same with every bundle.

    Raises:
        OutputExistsError: The folder exists.
        ParameterError: Entries, vectors, counts or n-grams do not fit together.
    """
    if folder.exists():
        raise OutputExistsError(f"{str(folder)!r} exists. Remove it or choose another folder.")
    if storage not in STORAGES:
        raise unknown_name("storage", storage, STORAGES)
    with writing_folder(folder) as unfinished:
        known = {
            decomposition: _write_lexicon(unfinished / decomposition, lexicon)
            for decomposition, lexicon in (lexicons or {}).items()
        }
        described: dict[str, dict[str, Any]] = {}
        parts: dict[str, dict[str, Any]] = {}
        for decomposition, table in tables.items():
            _check_table(decomposition, table)
            unit = find_unit(table.matrix) if standardize else 1.0
            stored = _write_table(unfinished / decomposition, table, storage, unit)
            vectors = Vectors(table.entries, stored, excluded=table.excluded)
            described[decomposition] = {
                **describe(vectors),
                "storage": storage,
                "unit": unit,
                "changed_neighbors": measure_changed_neighbors(table.matrix, stored),
                "distance": measure_distances(vectors),
            }
            parts[decomposition] = {"axes": _write_axes(unfinished / decomposition, vectors)}
            if table.prior is not None:
                parts[decomposition][PRIOR] = write_prior(unfinished / decomposition, table.prior)
            if _has_spelling(spelling, table, vectors):
                parts[decomposition][SPELLING] = _write_spelling(unfinished / decomposition, vectors, table)
        files = _hash_files(unfinished)
        for decomposition in known.keys() & described.keys():
            described[decomposition]["lexicon"] = identify_lexicon(files, decomposition)
        manifest = Manifest(
            name, version, language, corpus, license, tokens, parameters or {}, described, known, files, parts
        )
        (unfinished / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        Bundle(unfinished).check_files()
    return Bundle(folder)


def add_priors(bundle: Bundle, folder: Path, priors: Mapping[str, PriorTable]) -> Bundle:
    """Write a copy of a bundle with n-gram priors; its folder appears when it is complete.

    All other files are copied unchanged.
    """
    if folder.exists():
        raise OutputExistsError(f"{str(folder)!r} exists. Remove it or choose another folder.")
    manifest = bundle.manifest
    parts = {name: dict(described) for name, described in manifest.parts.items()}
    replaced = tuple(f"{decomposition}/prior_" for decomposition in priors)
    with writing_folder(folder) as unfinished:
        for name in manifest.files:
            if not name.startswith(replaced):
                bundle.copy_file(name, unfinished / name)
        for decomposition, prior in priors.items():
            parts.setdefault(decomposition, {})[PRIOR] = write_prior(unfinished / decomposition, prior)
        changed = replace(manifest, parts=parts, files=_hash_files(unfinished))
        (unfinished / MANIFEST).write_text(changed.to_json(), encoding="utf-8")
        for decomposition in priors:
            Bundle(unfinished).check_prior(decomposition)
    return Bundle(folder)


def _check_table(decomposition: str, table: VectorTable) -> None:
    if not decomposition.isidentifier():
        raise ParameterError(f"The name of a decomposition must be one word. Got {decomposition!r} instead.")
    if table.counts is not None and table.counts.shape != (len(table.entries),):
        raise ParameterError("A bundle needs one count per entry, or no counts.")
    if len(table.entries) == 0 or table.matrix.ndim != 2 or len(table.entries) != len(table.matrix):
        raise ParameterError("A bundle needs one vector per entry, and at least one entry.")
    if len(set(table.entries)) != len(table.entries):
        raise ParameterError("The entries of a bundle must be unique.")
    if any(not entry or "\n" in entry for entry in table.entries):
        raise ParameterError("An entry of a bundle must not be empty or contain a line feed.")


def _write_lexicon(folder: Path, lexicon: LexiconTable) -> dict[str, Any]:
    """Write the files of a lexicon; return its description for the manifest."""
    if any(not 2 <= len(ngram.split(" ")) <= LONGEST for ngram in lexicon.ngrams) or not lexicon.ngrams:
        raise ParameterError(f"A lexicon needs n-grams of two to {LONGEST} words, and at least one of them.")
    folder.mkdir(exist_ok=True)
    order = sorted(range(len(lexicon.ngrams)), key=lambda place: lexicon.ngrams[place].split(" "))
    index = NgramIndex.of(lexicon.ngrams)
    if len(index) != len(order):
        raise ParameterError("A lexicon needs n-grams that are unique.")
    _write_entries(folder / "lexicon_words.txt", index.words)
    np.save(folder / "lexicon.npy", index.ngrams, allow_pickle=False)
    if lexicon.scores is not None:
        np.save(folder / "lexicon_scores.npy", lexicon.scores[order].astype(np.float32), allow_pickle=False)
    if lexicon.license is not None:  # the name of the file is part of the format
        (folder / "lexicon_licence.txt").write_text(lexicon.license, encoding="utf-8")
    return {"ngrams": len(index), **lexicon.origin}


def _write_table(folder: Path, table: VectorTable, storage: Storage, unit: float) -> Matrix:
    """Write the files of one decomposition with vectors in a unit; return the matrix as a reader will load it."""
    folder.mkdir(exist_ok=True)
    _write_entries(folder / "vocabulary.txt", table.entries)
    if table.excluded:
        _write_entries(folder / "excluded.txt", table.excluded)
    if table.counts is not None:
        np.save(folder / "counts.npy", table.counts.astype(np.int64), allow_pickle=False)
    matrix = np.lib.format.open_memmap(folder / "matrix.npy", mode="w+", dtype=storage, shape=table.matrix.shape)
    scales = np.ones(len(matrix), dtype=np.float32)
    for start in range(0, len(matrix), _COPY_ROWS):
        part = slice(start, start + _COPY_ROWS)
        rows = np.asarray(table.matrix[part], dtype=np.float32) / np.float32(unit)
        if storage == "int8":
            scales[part] = np.maximum(np.abs(rows).max(axis=1) / 127, np.finfo(np.float32).tiny)
            rows = np.rint(rows / scales[part, None])
        matrix[part] = rows
    matrix.flush()
    if storage == "int8":
        np.save(folder / "scales.npy", scales, allow_pickle=False)
        return cast(Matrix, matrix * scales[:, None])
    return cast(Matrix, matrix.astype(np.float32, copy=False))


def _write_axes(folder: Path, vectors: Vectors) -> dict[str, Any]:
    """Write the principal axes; return the share of the variance that each number of them has."""
    np.save(folder / "axes.npy", vectors.axes.astype(np.float32), allow_pickle=False)
    moved = (vectors.matrix - vectors.center) @ vectors.axes.astype(np.float32)
    shares = np.cumsum(np.square(moved).sum(axis=0, dtype=np.float64))
    numbers = [number for number in (16, 32, 64, 128, 256) if number < vectors.dimensions]
    return {"variance": {str(number): round(float(shares[number - 1] / shares[-1]), 4) for number in numbers}}


def write_prior(folder: Path, prior: PriorTable) -> dict[str, Any]:
    """Write the n-gram model into the folder of its vocabulary; return its description for the manifest."""
    for name, array in prior.arrays.items():
        np.save(folder / f"prior_{name}.npy", array, allow_pickle=False)
    return {**prior.describe(), "vocabulary": hash_file(folder / "vocabulary.txt")}


def _has_spelling(wanted: bool | None, table: VectorTable, vectors: Vectors) -> bool:
    """Whether to fit a spelling table: as wanted, or if the vocabulary is large enough and the solver is installed."""
    if wanted is not None:
        return wanted
    return len(find_examples(vectors, table.counts)) >= LEAST_ENTRIES and find_spec("scipy") is not None


def _write_spelling(folder: Path, vectors: Vectors, table: VectorTable) -> dict[str, Any]:
    """Fit and write a spelling table; return its description for the manifest."""
    fitted, description = fit_spelling(vectors, table.counts)
    np.save(folder / f"{SPELLING}.npy", fitted.rows, allow_pickle=False)
    np.save(folder / f"{SPELLING}_keys.npy", fitted.keys, allow_pickle=False)
    np.save(folder / f"{SPELLING}_scales.npy", fitted.scales, allow_pickle=False)
    return description


def _write_entries(path: Path, entries: Iterable[str]) -> None:
    path.write_bytes(("\n".join(entries) + "\n").encode())


def _hash_files(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hash_file(path) for path in files}


def measure_changed_neighbors(exact: npt.NDArray[Any], stored: Matrix) -> float:
    """The share of entries whose nearest neighbor changes by storing the vectors, in a sample of at most a thousand."""
    sample = sample_rows(len(stored))
    changed = np.mean(_find_neighbors(exact, sample) != _find_neighbors(stored, sample))
    return round(float(changed), 4)


def _find_neighbors(matrix: npt.NDArray[Any], sample: RowNumbers) -> RowNumbers:
    """The nearest other entry of each entry in a sample."""
    rows = np.asarray(matrix, dtype=np.float32)
    halves = np.einsum("ij,ij->i", rows, rows) / 2
    nearest = np.empty_like(sample)
    for start in range(0, len(sample), _BATCH_ROWS):
        some = sample[start : start + _BATCH_ROWS]
        scores = rows[some] @ rows.T - halves
        scores[np.arange(len(some)), some] = -np.inf
        nearest[start : start + len(some)] = scores.argmax(axis=1)
    return nearest
