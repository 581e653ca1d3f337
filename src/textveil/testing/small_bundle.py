"""A small bundle for tests: some forty entries with random vectors, two of which are never written."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from textveil.bundles.building import VectorTable, build_bundle
from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import Ngrams, PriorTable, compress_prior
from textveil.bundles.vectors import Matrix
from textveil.randomness import SeededRandomness

ENTRIES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega good bad film story plot actor scene music the and was of green_tea new_york"
).split()
EXCLUDED = ("sigma", "tau")
"""Entries that are known, and never written."""
DIMENSIONS = 12


def random_matrix(entries: int, dimensions: int = DIMENSIONS, seed: int = 3) -> Matrix:
    """Random vectors, the same ones each time."""
    generator = SeededRandomness(seed).stream(0)
    matrix: Matrix = generator.standard_normal((entries, dimensions)).astype(np.float32)
    return matrix


def build_chain(entries: int, follows: float = 0.9) -> PriorTable:
    """A language model in which each entry is mostly followed by the next one."""
    pairs = np.arange(entries) * entries + (np.arange(entries) + 1) % entries
    ngrams = Ngrams(np.sort(pairs), np.full(entries, np.log(follows)))
    return PriorTable(compress_prior(np.full(entries, -np.log(entries)), [ngrams]))


def build_small_bundle(folder: Path, *, decomposition: str = "words", prior: bool = False) -> Bundle:
    """Write the small bundle into a folder, and open it.

    Args:
        folder: A folder that does not exist.
        decomposition: The decomposition that the vectors are for, such as the one of a plugin.
        prior: Whether it has a language model.
    """
    table = VectorTable(
        ENTRIES, random_matrix(len(ENTRIES)), EXCLUDED, prior=build_chain(len(ENTRIES)) if prior else None
    )
    return build_bundle(
        folder, {decomposition: table}, name="small", version="1", corpus="none", license="MIT", standardize=False
    )
