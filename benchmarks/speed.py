"""The speed of MADLIB on GloVe, against its peers and the peak of the machine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.records import Record
from benchmarks.timing import best_of
from textveil.bundles.vector_files import reading_vectors
from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.madlib import Madlib
from textveil.randomness import SystemRandomness

EPSILON = 10.0
WORDS = 20_000
WORDS_PER_DOCUMENT = 60


def load_glove(path: Path) -> Vectors:
    """The GloVe vectors of the peer. All entries are writable, as in the peer."""
    with reading_vectors(path) as imported:
        return Vectors([f"w{row}" for row in range(len(imported.entries))], np.array(imported.matrix))


def word_rows() -> RowNumbers:
    """The rows of the test words, scattered over the vocabulary. The peers process as many as time allows."""
    return np.arange(WORDS) * 7919


def time_madlib(vectors: Vectors) -> float:
    """Words per second of textveil for noise and search, in documents of typical length."""
    mechanism, randomness = Madlib(vectors), SystemRandomness()
    rows = word_rows() % len(vectors)

    def requests(count: int) -> list[Request]:
        parts = np.array_split(rows[:count], max(1, count // WORDS_PER_DOCUMENT))
        return [Request(part, np.full(len(part), EPSILON), randomness.stream(0)) for part in parts]

    mechanism.perturb(requests(2000))
    return WORDS / best_of(3, lambda: mechanism.perturb(requests(WORDS)))


def sgemm_peak(size: int = 3072) -> float:
    """Floating-point operations per second of a product of large square matrices."""
    square = np.random.default_rng(1).standard_normal((size, size), dtype=np.float32)
    return 2 * size**3 / best_of(5, lambda: square @ square)


def compare_speed(peers: Path) -> list[Record]:
    """Words per second of textveil and its peers, and the share of the peak of the machine."""
    rows = " ".join(map(str, word_rows()))
    command = [str(peers), str(Path(__file__).with_name("peers.py")), str(EPSILON), "8"]
    answer = json.loads(subprocess.run(command, input=rows, capture_output=True, text=True, check=True).stdout)
    vectors = load_glove(Path(answer["glove"]))
    peak = sgemm_peak()
    ours = time_madlib(vectors)
    peak = max(peak, sgemm_peak())
    used = ours * 2 * len(vectors) * (vectors.dimensions + 1) / peak
    work = f"MADLIB on GloVe, {len(vectors):,} x {vectors.dimensions}"
    return [
        *(
            Record("speed", work, ours, "words/s", f"{peer}: {rate:,.1f}", ours / rate)
            for peer, rate in answer["rates"].items()
        ),
        Record("speed", f"{work}, noise included", used, "of the peak", f"sgemm peak, {peak / 1e9:.0f} GFLOP/s", used),
    ]
