"""A tiny bundle with vectors, counts, excluded entries and a lexicon."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from textveil.bundles.building import LexiconTable, VectorTable, build_bundle
from textveil.bundles.bundle import Bundle, Storage
from textveil.randomness import SeededRandomness

ENTRIES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega good bad film story plot actor scene music the and was of green_tea new_york"
).split()
EXCLUDED = ("sigma", "tau")


def build_tiny(
    folder: Path, *, storage: Storage = "float32", corpus: str = "none", more: tuple[str, ...] = ()
) -> Bundle:
    """Build the bundle.

    Args:
        folder: The folder to create.
        storage: How vectors are stored.
        corpus: The description of the corpus.
        more: Additional entries.
    """
    entries = [*ENTRIES, *more]
    matrix = SeededRandomness(3).stream(0).standard_normal((len(entries), 12)).astype(np.float32)
    table = VectorTable(entries, matrix, EXCLUDED, np.arange(1, len(entries) + 1))
    lexicon = LexiconTable(["green tea", "new york"], np.array([2.0, 3.0]))
    return build_bundle(
        folder,
        {"words": table, "pmi": table},
        lexicons={"pmi": lexicon},
        name="tiny",
        version="1",
        corpus=corpus,
        license="MIT",
        storage=storage,
    )
