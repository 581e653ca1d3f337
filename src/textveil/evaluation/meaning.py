"""The meaning of an epsilon per word: the words that stay, and the words that an attacker guesses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.evaluation.inversion import Attacker
from textveil.language.stopwords import ENGLISH
from textveil.mechanisms import Mechanism, Request
from textveil.mechanisms.exponential import Exponential
from textveil.mechanisms.fluent import Fluent
from textveil.mechanisms.returns import LARGEST_RATE
from textveil.mechanisms.sampling import Exponents
from textveil.obfuscation import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.threads import in_threads

WORDS = 200
"""Words that are drawn for each point, by their frequency."""
POINTS = 12
"""The number of epsilons. They are the multiples of a tenth of the share at which half of the words return."""
BLOCK = 64
"""Candidates whose distances from all entries are computed at a time."""
REVISION = 1
"""Changes whenever the curve is computed in another way."""


def describe_meaning(obfuscator: Obfuscator) -> dict[str, Any]:
    """What an epsilon per word means for a mechanism and the words of a bundle: a curve of twelve points.

    Words are drawn by their frequency, without stopwords that are kept. ``stays`` is the mean probability that a word
    replaces itself. ``guessed`` is the mean success of an attacker by Bayes' rule over the whole vocabulary, who knows
    the mechanism, the epsilon and the frequencies of words. With a closed form, both are exact but for the draw of
    words, and of one replacement for each; with a language model, each word is the first of a text. For other
    mechanisms, both are shares of the draws, and the attacker is approximate.

    The curve depends on no text. It is computed once and cached.

    Raises:
        ParameterError: Texts are drafted first, so that a word is perturbed twice.
    """
    obfuscator.refuse_draft("The meaning of an epsilon")
    mechanism, decomposition = obfuscator.mechanism, obfuscator.terms.decomposition["name"]
    name = json.dumps(["meaning", REVISION, mechanism.as_dict(), obfuscator.stopwords], sort_keys=True)
    return obfuscator.bundle.find_figures(decomposition, name, lambda: _compute(obfuscator, decomposition))


def _compute(obfuscator: Obfuscator, decomposition: str) -> dict[str, Any]:
    mechanism, keeps = obfuscator.mechanism, obfuscator.stopwords == "keep"
    words = _draw_words(obfuscator, decomposition, keeps_stopwords=keeps)
    attacker = Attacker(obfuscator.bundle, decomposition, mechanism, keeps_stopwords=keeps)
    step = float(f"{obfuscator.find_share(LARGEST_RATE) / 10:.3g}")
    exact = isinstance(mechanism, Exponential)
    if isinstance(mechanism, Exponential):
        measured = _measure_exactly(mechanism, attacker, words, step)
    else:
        measured = _measure(obfuscator, attacker, words, step)
    points = [
        {"epsilon_per_word": round(number * step, 6), "stays": round(stays, 4), "guessed": round(guessed, 4)}
        for number, (stays, guessed) in enumerate(measured, start=1)
    ]
    return {"method": "exact" if exact else "simulated", "words": len(words), "points": points}


def _draw_words(obfuscator: Obfuscator, decomposition: str, *, keeps_stopwords: bool) -> RowNumbers:
    """Rows of words by their frequency; the same ones each time."""
    vectors, counts = obfuscator.mechanism.vectors, obfuscator.bundle.counts(decomposition)
    seen = np.ones(len(vectors)) if counts is None else np.asarray(counts, dtype=np.float64)
    weights = np.zeros(len(vectors))
    weights[vectors.writable] = seen[vectors.writable]
    if keeps_stopwords:
        weights[[ENGLISH.issuperset(entry.split("_")) for entry in vectors.entries]] = 0.0
    if not weights.any():
        weights[vectors.writable] = 1.0
    drawn: RowNumbers = SeededRandomness(0).stream(0).choice(len(vectors), WORDS, p=weights / weights.sum())
    return drawn


def _release(mechanism: Mechanism, words: RowNumbers, share: float) -> RowNumbers:
    """One replacement for each word, as if it were a text of its own; the same ones each time."""
    streams = SeededRandomness(1)
    return np.concatenate(
        mechanism.perturb(
            [
                Request(words[number : number + 1], np.array([share]), streams.stream(number))
                for number in range(len(words))
            ]
        )
    )


def _measure(
    obfuscator: Obfuscator, attacker: Attacker, words: RowNumbers, step: float
) -> Iterator[tuple[float, float]]:
    """The shares of words that stay and that are guessed in draws, at every multiple of a step."""
    prior = obfuscator.bundle.prior(obfuscator.terms.decomposition["name"])
    contexts = np.full((len(words), 0 if prior is None else prior.order - 1), UNKNOWN)
    for number in range(1, POINTS + 1):
        released = _release(obfuscator.mechanism, words, number * step)
        guesses = attacker.attack(released, np.full(len(words), number * step), contexts).rows[:, 0]
        yield float(np.mean(released == words)), float(np.mean(guesses == words))


def _measure_exactly(
    mechanism: Exponential, attacker: Attacker, words: RowNumbers, step: float
) -> Iterator[tuple[float, float]]:
    """The mean probabilities that a word stays, and that the best guess is right, at every multiple of a step."""
    base = np.zeros(len(mechanism.space.writable), dtype=np.float32)
    if isinstance(mechanism, Fluent):
        base = mechanism.log_base(np.full((1, mechanism.prior.order - 1), UNKNOWN))[0]
    sums = _sum_up(mechanism, np.exp(base - base.max()), step) + float(base.max())
    own = base[np.searchsorted(mechanism.space.writable, words)]
    to_candidates = Exponents(mechanism.space.matrix, mechanism.cap)
    for number, normalizing in enumerate(sums, start=1):
        released = _release(mechanism, words, number * step)
        posterior = -number * step / 2 * to_candidates.measure(mechanism.space.place(released)).astype(np.float64)
        posterior += attacker.channel.log_prior - normalizing
        posterior -= posterior.max(axis=1, keepdims=True)
        best = 1 / np.exp(posterior, out=posterior).sum(axis=1)
        yield float(np.exp(own - normalizing[words]).mean()), float(best.mean())


def _sum_up(mechanism: Exponential, base: Any, step: float) -> Floats:
    """The logarithms of the sums that normalize the probabilities of all candidates, at every multiple of a step."""
    points = mechanism.space.matrix.astype(np.float64)
    to_writable = Exponents(mechanism.space.matrix[mechanism.space.writable], mechanism.cap)

    def add(start: int) -> Floats:
        gaps = to_writable.measure(points[start : start + BLOCK])
        nearest = gaps.min(axis=1)
        gaps -= nearest[:, None]
        gaps *= np.float32(-step / 2)
        factors = np.exp(gaps, out=gaps)
        weights = factors.copy()
        sums = np.empty((POINTS, len(weights)))
        for number in range(POINTS):  # powers of the factors take less time than exponentials
            sums[number] = weights @ base
            weights *= factors
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(sums) - np.arange(1, POINTS + 1)[:, None] * step / 2 * nearest
        return logs

    return np.concatenate(list(in_threads(add, ((start,) for start in range(0, len(points), BLOCK)))), axis=1)
