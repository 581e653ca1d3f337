"""The meaning of an epsilon per word: the words that stay, and the words that an attacker guesses."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from textveil.bundles.vectors import UNKNOWN, Floats, RowNumbers
from textveil.evaluation.inversion import Attacker
from textveil.language.stopwords import ENGLISH
from textveil.mechanisms import Request
from textveil.mechanisms.exponential import Exponential
from textveil.mechanisms.returns import LARGEST_RATE
from textveil.obfuscation import Obfuscator
from textveil.privacy.replacements import Replacements
from textveil.randomness import SeededRandomness

WORDS = 200
"""Words that are drawn for each point, by their frequency."""
POINTS = 12
"""The number of epsilons. They are the multiples of a tenth of the share at which half of the words return."""
REVISION = 1
"""Changes whenever the curve is computed in another way."""


def describe_meaning(obfuscator: Obfuscator) -> dict[str, Any]:
    """What an epsilon per word means for a mechanism and the words of a bundle: a curve of twelve points.

    Words are drawn by their frequency, without stopwords. ``stays`` is the mean probability that a word replaces
    itself. ``guessed`` is the mean success of an attacker by Bayes' rule, who knows the mechanism, the epsilon and the
    frequencies of words. For ``exponential`` both are exact, up to the draw of words and of one replacement for each.
    For ``fluent`` each word is the first of a text, and very unlikely candidates are left out, so that ``guessed`` is a
    little too large. For mechanisms without a closed form, both are shares of one draw for each word.

    The curve depends on no text. It is computed once and cached.

    Raises:
        ParameterError: Texts are drafted first, so that a word is perturbed twice.
    """
    obfuscator.refuse_draft("The meaning of an epsilon")
    mechanism, decomposition = obfuscator.mechanism, obfuscator.terms.decomposition["name"]
    half = obfuscator.find_share(LARGEST_RATE)
    name = json.dumps(["meaning", REVISION, mechanism.as_dict(), obfuscator.stopwords], sort_keys=True)
    return obfuscator.bundle.find_figures(decomposition, name, lambda: _compute(obfuscator, decomposition, half))


def _compute(obfuscator: Obfuscator, decomposition: str, half: float) -> dict[str, Any]:
    mechanism, bundle = obfuscator.mechanism, obfuscator.bundle
    keeps = obfuscator.stopwords == "keep"
    words = _draw_words(obfuscator, decomposition, keeps_stopwords=keeps)
    attacker = Attacker(bundle, decomposition, mechanism, keeps_stopwords=keeps)
    step = float(f"{half / 10:.3g}")
    epsilons = [number * step for number in range(1, POINTS + 1)]
    attacker.channel.prepare(np.array(epsilons))  # all at once, which is faster
    points = [_measure(obfuscator, attacker, words, epsilon) for epsilon in epsilons]
    return {
        "method": "exact" if isinstance(mechanism, Exponential) else "simulated",
        "words": len(words),
        "points": points,
    }


def _draw_words(obfuscator: Obfuscator, decomposition: str, *, keeps_stopwords: bool) -> RowNumbers:
    """Rows of words by their frequency; the same ones each time."""
    vectors, counts = obfuscator.mechanism.vectors, obfuscator.bundle.counts(decomposition)
    weights = np.ones(len(vectors)) if counts is None else np.asarray(counts, dtype=np.float64)
    writable = np.zeros(len(vectors), dtype=bool)
    writable[vectors.writable] = True
    if keeps_stopwords:
        writable &= ~np.array([ENGLISH.issuperset(entry.split("_")) for entry in vectors.entries])
    weights = np.where(writable, weights, 0.0)
    if not weights.any():
        weights[vectors.writable] = 1.0
    drawn: RowNumbers = SeededRandomness(0).stream(0).choice(len(vectors), WORDS, p=weights / weights.sum())
    return drawn


def _measure(obfuscator: Obfuscator, attacker: Attacker, words: RowNumbers, epsilon: float) -> dict[str, float]:
    mechanism = obfuscator.mechanism
    # Each word is a text of its own, so that a language model sees no words before it.
    requests = [
        Request(words[number : number + 1], np.array([epsilon]), SeededRandomness(1).stream(number))
        for number in range(len(words))
    ]
    released = np.concatenate(mechanism.perturb(requests))
    stays = float(np.mean(released == words))
    if isinstance(mechanism, Exponential):
        distinct, counts = np.unique(words, return_counts=True)
        kept = [estimate.value for estimate in Replacements(mechanism, distinct, epsilon).find_stays()]
        stays = float(np.average(kept, weights=counts))
    guessed = _attack(obfuscator, attacker, words, released, epsilon)
    return {"epsilon_per_word": round(epsilon, 6), "stays": round(stays, 4), "guessed": round(guessed, 4)}


def _attack(
    obfuscator: Obfuscator, attacker: Attacker, words: RowNumbers, released: RowNumbers, epsilon: float
) -> float:
    """The success of the attacker; with a closed form, the mean probability that the best guess is right."""
    mechanism = obfuscator.mechanism
    prior = obfuscator.bundle.prior(obfuscator.terms.decomposition["name"])
    shares = np.full(len(released), epsilon)
    contexts = np.full((len(released), 0 if prior is None else prior.order - 1), UNKNOWN)
    if not isinstance(mechanism, Exponential):
        guesses = attacker.attack(released, shares, contexts).rows[:, 0]
        return float(np.mean(guesses == words))
    best = []
    for start in range(0, len(released), 64):
        part = slice(start, start + 64)
        posterior: Floats = attacker.channel.log_posterior(released[part], shares[part], contexts[part])
        posterior -= posterior.max(axis=1, keepdims=True)
        best.append(1 / np.exp(posterior).sum(axis=1))
    return float(np.concatenate(best).mean())
