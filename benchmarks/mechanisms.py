"""Words per second of every mechanism beside MADLIB in 300 dimensions, on the same words, frequent as in texts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.records import Record
from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import NgramPrior, Ngrams, compress_prior, read_prior
from textveil.bundles.vectors import UNKNOWN, RowNumbers, Vectors
from textveil.methods.mechanisms import MECHANISMS, Mechanism, Request
from textveil.randomness import SystemRandomness

DOCUMENTS = 128
WORDS_PER_DOCUMENT = 60
ROUNDS = 3
WIDE = 300
"""The dimensions of the method of the paper, which all mechanisms are compared with."""
NGRAMS = 250_000
"""The number of n-grams of each length of a random language model, for a bundle without one."""
SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("madlib", {}),
    ("madlib", {"dimensions": 64}),
    ("madlib", {"dimensions": 64, "rank_decay": 0.1}),
    ("mahalanobis", {}),
    ("exponential", {"dimensions": 64}),
    ("exponential", {"dimensions": 64, "cap": 3.0}),
    ("fluent", {"dimensions": 64}),
    ("vickrey", {}),
    ("gumbel", {}),
)


def compare_mechanisms(name: str = "en") -> list[Record]:
    """Print words per second of every mechanism. Runs alternate, so that a slow phase of the machine affects all."""
    bundle = Bundle.load(name)
    vectors = bundle.vectors("words")
    prior = bundle.prior("words")
    made = prior is None
    prior = prior or make_prior(len(vectors))
    mechanisms = [
        build("madlib", widen(vectors), prior, {}),
        *(build(mechanism, vectors, prior, options) for mechanism, options in SETTINGS),
    ]
    rows = draw_words(vectors, prior)
    best = [float("inf")] * len(mechanisms)
    for number in range(1 + ROUNDS):  # the first round loads what is loaded once
        for place, mechanism in enumerate(mechanisms):
            seconds = time_words(mechanism, rows)
            best[place] = min(best[place], seconds) if number else best[place]
    prior_is = " (random language model)" if made else ""
    return [
        Record(
            "mechanisms",
            f"{mechanism.description.replace(' 000000000000', '')} in {mechanism.space.dimensions}-d{prior_is}",
            rows.size / seconds,
            "words/s",
            f"madlib in {WIDE}-d",
            best[0] / seconds,
        )
        for mechanism, seconds in zip(mechanisms, best, strict=True)
    ]


def draw_words(vectors: Vectors, prior: NgramPrior) -> RowNumbers:
    """Words as frequent as in texts: some come again and again, most are rare."""
    nothing_before = np.full((1, prior.order - 1), UNKNOWN)
    likely = np.exp(prior.log_probabilities(nothing_before)[0, vectors.writable].astype(np.float64))
    return np.random.default_rng(1).choice(vectors.writable, (DOCUMENTS, WORDS_PER_DOCUMENT), p=likely / likely.sum())


def widen(vectors: Vectors) -> Vectors:
    """The same entries at the same distances in as many dimensions as the paper uses: turned, after adding zeros."""
    directions, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((WIDE, vectors.dimensions)))
    unwritten = np.delete(np.arange(len(vectors)), vectors.writable)
    matrix = np.asarray(vectors.matrix @ directions.T, dtype=np.float32)
    return Vectors(vectors.entries, matrix, excluded=[vectors.entries[row] for row in unwritten.tolist()])


def build(name: str, vectors: Any, prior: NgramPrior, options: dict[str, Any]) -> Mechanism:
    """A mechanism with its options, and with the language model if it uses one."""
    chosen = MECHANISMS.load(name)
    return chosen(vectors, *([prior] if chosen.uses_prior else []), **options)


def time_words(mechanism: Mechanism, rows: Any) -> float:
    """The seconds for all words, each with a share at which about a tenth of them return."""
    share = 16.0 if mechanism.space.dimensions > 64 else 5.0
    randomness = SystemRandomness()
    requests = [Request(line, np.full(len(line), share), randomness.stream(0)) for line in rows]
    started = time.perf_counter()
    mechanism.perturb(requests)
    return time.perf_counter() - started


def make_prior(entries: int) -> NgramPrior:
    """A random language model of the size that a corpus gives."""
    generator = np.random.default_rng(2)
    unigrams = np.log(generator.dirichlet(np.ones(entries)))
    levels = []
    for length in (2, 3):
        drawn = np.minimum((entries * generator.random((2 * NGRAMS, length)) ** 3).astype(np.int64), entries - 1)
        keys = np.unique(drawn @ entries ** np.arange(length - 1, -1, -1))
        keys = np.sort(generator.choice(keys, min(NGRAMS, len(keys)), replace=False))
        _, numbers, sizes = np.unique(keys // entries, return_inverse=True, return_counts=True)
        levels.append(Ngrams(keys, np.log(0.9 / sizes[numbers])))
    arrays = compress_prior(unigrams, levels)
    return read_prior(
        lambda name, _: arrays[name], entries=entries, order=3, identity={"name": "prior", "sha256": "0" * 64}
    )
