"""Documents per second of ``obfuscate_all`` with MADLIB and ``uniform``, and of the mechanism alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.decomposition import read_reviews
from benchmarks.mechanisms import WIDE, widen
from benchmarks.records import Record
from benchmarks.timing import best_of
from textveil import Obfuscator
from textveil.bundles.building import VectorTable, build_bundle
from textveil.bundles.bundle import Bundle
from textveil.text.documents import cut

WORDS = 60
DOCUMENTS = 500
RESEARCH_CODE = 1.03
"""Documents per second of the research code on such texts, measured on another day on two cores (docs/paper.md)."""
EPSILON_PER_WORD = 10.0


def read_heads(datasets: Path | None, documents: int = DOCUMENTS, words: int = WORDS) -> list[str]:
    """The first words of reviews."""
    return [cut(review, words) for review in read_reviews(datasets)[:documents]]


def compare_throughput(datasets: Path | None) -> list[Record]:
    """Documents per second in 64 and in 300 dimensions, on as many threads as BLAS uses, against the research code."""
    texts = read_heads(datasets)
    records: list[Record] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, bundle in (("64 dimensions", Bundle.load()), (f"{WIDE} dimensions", widen_bundle(Path(folder)))):
            obfuscator = Obfuscator(bundle, decomposition="words", mechanism="madlib", form="keep", seed=1)
            records += time_obfuscator(name, obfuscator, texts)
    return records


def time_obfuscator(name: str, obfuscator: Obfuscator, texts: list[str]) -> list[Record]:
    """Documents per second, and the part of the time that the mechanism takes."""
    budget = obfuscator.build_budget(None, EPSILON_PER_WORD, None, None)
    list(obfuscator.obfuscate_all(texts[:50], budget=budget))
    seconds = best_of(3, lambda: list(obfuscator.obfuscate_all(texts, budget=budget)))
    plans = [obfuscator.plan(text, budget)[1] for text in texts]
    mechanism = best_of(3, lambda: obfuscator.mechanism.perturb(plans))
    rate, threads = len(texts) / seconds, os.environ.get("OMP_NUM_THREADS", "all")
    return [
        Record("throughput", f"MADLIB, {name}, OMP_NUM_THREADS={threads}", rate, "documents/s",
               f"research code ({RESEARCH_CODE} documents/s, another day)", rate / RESEARCH_CODE),
        Record("throughput", f"the mechanism alone, {name}", len(texts) / mechanism, "documents/s",
               "the whole of it", seconds / mechanism),
    ]  # fmt: skip


def widen_bundle(folder: Path) -> Bundle:
    """The words of the shipped bundle at the same distances in as many dimensions as the paper uses."""
    vectors = Bundle.load().vectors("words")
    wide = widen(vectors)
    excluded = np.delete(np.arange(len(vectors)), vectors.plain)
    table = VectorTable(vectors.entries, wide.matrix, excluded=[vectors.entries[row] for row in excluded.tolist()])
    return build_bundle(
        folder / "wide", {"words": table}, name="wide", version="1", corpus="en", license="as en", spelling=False,
        standardize=False,
    )  # fmt: skip
