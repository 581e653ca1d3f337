"""Vectors that a sentence encoder gives to the entries of a vocabulary, alone or joined with those of word2vec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.bundles.distances import find_unit
from textveil.bundles.vectors import Matrix, find_axes
from textveil.language.text import spoken
from textveil.models.encoders import SentenceEncoder
from textveil.models.files import ModelFiles
from textveil.progress import Progress, ignore_progress

_BATCH_SIZE = 64  # entries are short
_REPORTED = 4096  # entries between two reports of progress


def embed_entries(files: ModelFiles, entries: Sequence[str], progress: Progress = ignore_progress) -> Matrix:
    """Let a sentence encoder read every entry as it is spoken: ``new_york`` as "new york"."""
    encoder = SentenceEncoder.open(files, batch_size=_BATCH_SIZE, device=None)
    parts = []
    for start in range(0, len(entries), _REPORTED):
        parts.append(encoder.embed([spoken(entry) for entry in entries[start : start + _REPORTED]]))
        done = min(start + _REPORTED, len(entries))
        progress("encoding", done, done / len(entries))
    return np.concatenate(parts).astype(np.float32)


def join_vectors(matrices: Sequence[npt.NDArray[Any]], dimensions: int) -> Matrix:
    """Join vectors of the same entries, and project them on their principal axes.

    Each matrix is divided by its median distance first, so that all count the same.
    """
    scaled = [np.asarray(matrix, dtype=np.float32) / find_unit(matrix) for matrix in matrices]
    joined = np.concatenate(scaled, axis=1)
    joined -= joined.mean(axis=0, dtype=np.float64).astype(np.float32)
    axes = find_axes((joined.T @ joined).astype(np.float64))[:, :dimensions].astype(np.float32)
    projected: Matrix = joined @ axes
    return projected
