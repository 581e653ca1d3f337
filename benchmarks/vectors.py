"""Vectors of a million entries: loading, search and memory, beside the plain way in one run."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.records import Record
from textveil.bundles.bundle import Bundle
from textveil.bundles.exact_index import ExactIndex
from textveil.bundles.files import Floats, Matrix

ENTRIES = 1_000_000
DIMENSIONS = 64
VOCABULARIES = (30_000, 100_000, ENTRIES)
SHARES = (0.0, 8.0, 32.0, 64.0)
POINTS = 256
LOADS = 3
_SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in "aeiou"]

PLAIN = """
entries = (folder / "words/vocabulary.txt").read_text(encoding="utf-8").split()
matrix = np.load(folder / "words/matrix.npy")
rows = dict(zip(entries, range(len(entries))))
"""
OURS = """
vectors = Bundle(folder).vectors("words")
"""
HASHES = """
for name in ("words/vocabulary.txt", "words/matrix.npy"):
    with (folder / name).open("rb") as stream:
        hashlib.file_digest(stream, "sha256").hexdigest()
"""
SEARCH = """
index = ExactIndex(vectors.stored, vectors.writable)
index.search(np.ones((64, vectors.dimensions)), np.ones(64))
"""
PLAIN_SEARCH = """
halves = np.square(matrix).sum(axis=1) / 2
(np.ones((64, matrix.shape[1]), dtype=np.float32) @ matrix.T - halves).argmax(axis=1)
"""
CHILD = """
import hashlib, json, sys, time
from pathlib import Path
import numpy as np
from textveil.bundles.bundle import Bundle
from textveil.bundles.exact_index import ExactIndex
folder = Path(sys.argv[1])
started = time.perf_counter(), time.process_time()
{work}
elapsed = time.perf_counter() - started[0], time.process_time() - started[1]
status = Path("/proc/self/status").read_text().splitlines()
private = next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
print(json.dumps([*elapsed, private / 1024]))
"""


def compare_vectors() -> list[Record]:
    """Load and search a million entries."""
    records = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "bundle"
        write_bundle(folder, grow(ENTRIES))
        records += compare_loading(folder)
        records += compare_memory(folder)
    return records + [measure_search(entries) for entries in VOCABULARIES]


def compare_loading(folder: Path) -> list[Record]:
    """Elapsed and processor time of loading, beside numpy with a dictionary, and beside the hashes alone."""
    size = f"{ENTRIES:,} x {DIMENSIONS}"
    rounds = [[run(folder, work) for work in (PLAIN, HASHES, OURS)] for _ in range(LOADS)]
    plain, hashes, ours = (np.min([each[place] for each in rounds], axis=0) for place in range(3))
    named = (
        ("np.load, split and dict, nothing checked", plain),
        ("SHA-256 alone", hashes),
        ("load, all checked", ours),
    )
    return [
        Record("vectors", f"{name}, {size}, {clock}", 1000 * values[place], "ms", "np.load, split and dict",
               values[place] / plain[place])
        for place, clock in enumerate(("elapsed", "processor"))
        for name, values in named
    ]  # fmt: skip


def compare_memory(folder: Path) -> list[Record]:
    """Private memory after a search of 64 points. The mapped file is not part of it: processes share it."""
    plain, ours = run(folder, PLAIN + PLAIN_SEARCH)[2], run(folder, OURS + SEARCH)[2]
    size = f"{ENTRIES:,} x {DIMENSIONS}"
    return [
        Record("vectors", f"np.load and a product, {size}, private memory", plain, "MiB"),
        Record("vectors", f"exact search, {size}, private memory", ours, "MiB", "np.load and a product", ours / plain),
    ]


def run(folder: Path, work: str) -> list[float]:
    """Elapsed seconds, processor seconds and private memory in MiB of some work in a new process."""
    command = [sys.executable, "-c", CHILD.format(work=work), str(folder)]
    found: list[float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def measure_search(entries: int) -> Record:
    """The speed of the search in processor time, on points with little and with much noise."""
    matrix = grow(entries)
    index = ExactIndex(matrix)
    cases = [add_noise(matrix, share) for share in SHARES]
    index.search(*cases[0])  # what is loaded once
    started = time.process_time()
    for case in cases:
        index.search(*case)
    seconds = (time.process_time() - started) / len(cases)
    return Record("vectors", f"exact search, {entries:,} x {DIMENSIONS}", POINTS / seconds, "points/s")


def add_noise(matrix: Matrix, share: float) -> tuple[Floats, Floats]:
    """Noisy points of entries as MADLIB makes them, in homogeneous coordinates."""
    generator = np.random.default_rng(5)
    weights = share / (share + generator.standard_gamma(matrix.shape[1], POINTS))
    noise = generator.standard_normal((POINTS, matrix.shape[1]))
    noise *= ((1 - weights) / np.linalg.norm(noise, axis=1))[:, None]
    return matrix[generator.integers(0, len(matrix), POINTS)] * weights[:, None] + noise, weights


def grow(entries: int) -> Matrix:
    """Vectors like those of the shipped bundle: its own ones, and more of them between two words, with some noise."""
    generator = np.random.default_rng(6)
    vectors = Bundle.load().vectors("words")
    words = vectors.take(vectors.writable)
    grown = np.empty((entries, words.shape[1]), dtype=np.float32)
    grown[: len(words)] = words[:entries]
    for start in range(len(words), entries, len(words)):
        size = min(len(words), entries - start)
        one, other = generator.permutation(len(words))[:size], generator.integers(0, len(words), size)
        steps = 0.35 * generator.random((size, 1), dtype=np.float32)
        noise = 0.08 * generator.standard_normal((size, words.shape[1]), dtype=np.float32)
        grown[start : start + size] = words[one] + steps * (words[other] - words[one]) + noise
    return grown


def write_bundle(folder: Path, matrix: Matrix) -> None:
    """A bundle of these vectors with made-up words. Its figures are not computed: that takes minutes, once."""
    (folder / "words").mkdir(parents=True)
    entries = list(make_words(len(matrix)))
    (folder / "words/vocabulary.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
    excluded = entries[100::200]
    (folder / "words/excluded.txt").write_text("\n".join(excluded) + "\n", encoding="utf-8")
    np.save(folder / "words/matrix.npy", matrix)
    files = {f"words/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("words/*")}
    described = {"entries": len(matrix), "dimensions": matrix.shape[1], "writable": len(matrix) - len(excluded),
                 "storage": "float32"}  # fmt: skip
    manifest = {"format": 3, "name": "large", "version": "1", "language": "en", "corpus": "none", "licence": "none",
                "tokens": None, "parameters": {}, "vectors": {"words": described}, "lexicons": {}, "files": files,
                "parts": {}}  # fmt: skip
    (folder / "bundle.json").write_text(json.dumps(manifest), encoding="utf-8")


def make_words(number: int) -> Iterator[str]:
    """Different words of syllables; every twentieth entry has two words."""
    for place in range(number):
        rest, word = place + len(_SYLLABLES), ""
        while rest:
            rest, syllable = divmod(rest, len(_SYLLABLES))
            word += _SYLLABLES[syllable]
        yield word if place % 20 else f"{word}_{word}"
