"""Bundles and texts that many tests share."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from textveil.bundle import Bundle
from textveil.bundle_building import VectorTable, build_bundle
from textveil.randomness import SeededRandomness

ENTRIES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega good bad film story plot actor scene music the and was of green_tea new_york"
).split()
EXCLUDED = ("sigma", "tau")

SHARED = Path(os.environ.get("TEXTVEIL_DATASETS", Path(__file__).parents[2] / "shared/datasets"))
"""Real reviews, where they are at hand."""

# What make test installs, also where tests are run without make.
os.environ.setdefault("TEXTVEIL_RESOURCES", str(Path(__file__).parents[1] / ".venv/resources"))

# Speed is measured by make bench; what is loaded on first use would look slow here.
settings.register_profile("textveil", deadline=None)
settings.load_profile("textveil")

BundleMaker = Callable[..., Bundle]


def random_matrix(entries: int, dimensions: int, seed: int = 3) -> np.ndarray:
    generator = SeededRandomness(seed).stream(0)
    return generator.standard_normal((entries, dimensions)).astype(np.float32)


@pytest.fixture(scope="session")
def make_bundle(tmp_path_factory: pytest.TempPathFactory) -> BundleMaker:
    """Builds a bundle of random vectors for some entries."""

    def make(entries=ENTRIES, *, matrix=None, excluded=(), dimensions=12, decomposition="words", **options) -> Bundle:
        folder = tmp_path_factory.mktemp("bundles") / "bundle"
        matrix = random_matrix(len(entries), dimensions) if matrix is None else matrix
        options = {"name": "tiny", "version": "1", "corpus": "none", "licence": "MIT", **options}
        return build_bundle(folder, {decomposition: VectorTable(entries, matrix, excluded)}, **options)

    return make


@pytest.fixture(scope="session")
def tiny(make_bundle: BundleMaker) -> Bundle:
    """Forty entries, two of them never written."""
    return make_bundle(excluded=EXCLUDED)


@pytest.fixture
def copied_bundle(tiny: Bundle, tmp_path: Path) -> Path:
    """A copy of the tiny bundle that a test may damage."""
    import shutil

    return Path(shutil.copytree(tiny.folder, tmp_path / "copy"))


@pytest.fixture(scope="session")
def real_texts() -> list[str]:
    """A thousand reviews of two data sets."""
    if not SHARED.exists():
        pytest.skip("the shared data sets are not at hand")
    texts = []
    for name in ("imdb_test_4000", "scale_reviews"):
        with lzma.open(SHARED / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in islice(lines, 500)]
    return texts
