"""Choosing the entries of a decomposition from its files of tokens, and their vectors on disk."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.corpus.settings import Selection
from textveil.corpus.splitting import read_documents
from textveil.errors import SmallCorpusError
from textveil.storage.atomic import writing_folder
from textveil.storage.resumable import damaged_file


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The entries of a decomposition in order of decreasing frequency.

    Attributes:
        entries: The entries.
        counts: The number of occurrences of each, in all documents.
        documents: The number of documents with each of them, except documents of the background.
        total: The number of these documents.
    """

    entries: Sequence[str]
    counts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    total: int

    def save(self, folder: Path) -> None:
        """Write the vocabulary to a folder, which appears when it is complete."""
        with writing_folder(folder) as unfinished:
            described = {"entries": list(self.entries), "total": self.total}
            (unfinished / "entries.json").write_text(json.dumps(described), encoding="utf-8")
            np.save(unfinished / "counts.npy", np.stack([self.counts, self.documents]), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Open a folder that :meth:`save` wrote."""
        try:
            described = json.loads((folder / "entries.json").read_bytes())
            counts, documents = np.load(folder / "counts.npy", allow_pickle=False)
            return cls(described["entries"], counts, documents, described["total"])
        except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
            raise damaged_file(folder) from error


def choose_entries(tokens: Path, background: Path | None, selection: Selection) -> Vocabulary:
    """Choose the chunks that occur often enough, in enough documents.

    Args:
        tokens: The file of tokens.
        background: The file of tokens of the background. Its documents count as much, but not for ``documents``.
        selection: The thresholds.

    Raises:
        SmallCorpusError: No chunk occurs often enough.
    """
    selection.check()
    counts, documents, total = _count(tokens)
    more, others, _ = _count(background) if background is not None else (Counter[str](), Counter[str](), 0)
    counts.update(more)
    frequent = [
        entry
        for entry, count in counts.items()
        if count >= selection.min_entry_count and documents[entry] + others[entry] >= selection.min_documents
    ]
    if not frequent:
        raise SmallCorpusError(_explain_empty(selection, counts, documents + others))
    entries = sorted(frequent, key=lambda entry: (-counts[entry], entry))[: selection.most_entries]
    return Vocabulary(
        entries,
        np.array([counts[entry] for entry in entries], dtype=np.int64),
        np.array([documents[entry] for entry in entries], dtype=np.int64),
        total,
    )


def _count(tokens: Path) -> tuple[Counter[str], Counter[str], int]:
    """The number of occurrences of each token, the number of documents with it, and of all documents."""
    counts: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    total = 0
    for document in read_documents(tokens):
        counts.update(document)
        documents.update(set(document))
        total += 1
    return counts, documents, total


def _explain_empty(selection: Selection, counts: Counter[str], documents: Counter[str]) -> str:
    most = max(counts.values(), default=0)
    if most < selection.min_entry_count:
        name, least, found = "min_entry_count", selection.min_entry_count, f"occurs {most} times"
    else:
        name, least = "min_documents", selection.min_documents
        found = f"is in {max(documents.values(), default=0)} documents"
    return (
        f"The corpus is too small for `{name}={least}`: the most frequent chunk {found}. "
        f"Lower `{name}`, or use more text."
    )


def save_vectors(matrix: npt.NDArray[Any], folder: Path) -> None:
    """Write the vectors of a vocabulary to a folder, which appears when it is complete."""
    with writing_folder(folder) as unfinished:
        np.save(unfinished / "matrix.npy", matrix, allow_pickle=False)


def load_vectors(folder: Path) -> npt.NDArray[Any]:
    """Open a folder that :func:`save_vectors` wrote. The matrix is memory-mapped."""
    try:
        return np.load(folder / "matrix.npy", mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError) as error:
        raise damaged_file(folder) from error
