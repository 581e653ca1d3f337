"""Auditees: a correct one, and plain transcriptions of published mechanisms with known flaws."""

from __future__ import annotations

import numpy as np

from textveil.bundles.vectors import Vectors
from textveil.lab.audit import Claim, Pair
from textveil.randomness import SeededRandomness


class WordByWord:
    """Replaces every known word by an entry that ``choose`` draws; words are separated by spaces."""

    def __init__(self, vectors: Vectors, epsilon: float, seed: int = 1) -> None:
        self.vectors, self.epsilon = vectors, epsilon
        self.words = [vectors.entries[row] for row in vectors.writable]
        self.matrix = vectors.matrix[vectors.writable].astype(float)
        self.generator = SeededRandomness(seed).stream(0)
        self._sums = {}

    def __call__(self, texts):
        return [" ".join(self.replace(word) for word in text.split()) for text in texts]

    def point(self, word):
        return self.vectors.place(np.array([self.vectors.find(word)]))[0]

    def replace(self, word):
        return self.words[self.choose(word, self.epsilon)]

    def weights(self, word, epsilon):
        return np.exp(-epsilon / 2 * np.linalg.norm(self.matrix - self.point(word), axis=1))

    def choose(self, word, epsilon):
        """The exponential mechanism, which has a bound of epsilon times the distance."""
        key = (word.lower(), epsilon)
        if key not in self._sums:
            weights = self.weights(*key)
            self._sums[key] = np.cumsum(weights / weights.sum())
        return int(np.searchsorted(self._sums[key], self.generator.random(), side="right"))


class UnknownInClear(WordByWord):
    """Words that are not in the vocabulary are returned as they are (most implementations of MADLIB)."""

    def replace(self, word):
        return super().replace(word) if word in self.vectors else word


class CusText(WordByWord):
    """CusText (Chen et al. 2023): the words are divided into groups, and a word becomes one of its own group."""

    size = 6

    def __init__(self, vectors, epsilon, seed=1):
        super().__init__(vectors, epsilon, seed)
        left = list(range(len(self.words)))
        self.groups = []
        while left:  # algorithm 1: the first word that is left, and its nearest neighbors among those that are left
            distances = np.linalg.norm(self.matrix[left] - self.matrix[left[0]], axis=1)
            group = [left[place] for place in np.argsort(distances)[: self.size]]
            self.groups.append(group)
            left = [word for word in left if word not in group]

    def weights(self, word, epsilon):
        if word not in self.words:
            return super().weights(word, epsilon)
        (group,) = [group for group in self.groups if self.words.index(word) in group]
        distances = np.linalg.norm(self.matrix[group] - self.point(word), axis=1)
        weights = np.zeros(len(self.words))
        weights[group] = np.exp(epsilon / 2 * (1 - distances / max(distances.max(), 1e-9)))
        return weights


class Rantext(WordByWord):
    """RANTEXT (Tong et al. 2025): the exponential mechanism on the entries that are nearer than a random noise.

    The published noise has a formula of its own; here it is the one of MADLIB.
    """

    def choose(self, word, epsilon):
        distances = np.linalg.norm(self.matrix - self.point(word), axis=1)
        radius = self.generator.gamma(self.matrix.shape[1], 1 / epsilon)
        adjacent = np.flatnonzero(distances <= max(radius, distances.min()))
        scores = 1 - distances[adjacent] / max(radius, distances.max())
        weights = np.exp(epsilon / 2 * scores)
        return adjacent[self.generator.choice(len(adjacent), p=weights / weights.sum())]


class VickreyWithoutInput(WordByWord):
    """The Vickrey mechanism (Xu et al. 2021): the noisy vector's nearest entry, but never the word itself."""

    def choose(self, word, epsilon):
        dimensions = self.matrix.shape[1]
        direction = self.generator.standard_normal(dimensions)
        length = self.generator.gamma(dimensions, 1 / epsilon)
        point = self.point(word) + direction / np.linalg.norm(direction) * length
        distances = np.linalg.norm(self.matrix - point, axis=1)
        if word in self.words:
            distances[self.words.index(word)] = np.inf
        return int(distances.argmin())


class PrivateAllocation(WordByWord):
    """Divides the budget of a text by scores of its words: sensitive words, which are names here, get less."""

    sensitive = 0.01

    def shares(self, words):
        scores = np.array([1.0 if word in self.words else self.sensitive for word in words])
        return self.epsilon * len(words) * scores / scores.sum()

    def __call__(self, texts):
        answers = []
        for text in texts:
            words = text.split()
            chosen = [self.choose(word, share) for word, share in zip(words, self.shares(words), strict=True)]
            answers.append(" ".join(self.words[row] for row in chosen))
        return answers

    def claim(self, pair: Pair) -> Claim:
        """What the certificate of each text says: the sum of its own shares times the distances."""
        first, second = pair.first.split(), pair.second.split()
        gaps = [np.linalg.norm(self.point(one.lower()) - self.point(two.lower())) for one, two in zip(first, second)]  # noqa: B905
        return Claim(min(float(np.dot(self.shares(words), gaps)) for words in (first, second)))


class RandomizedResponse:
    """Answers the number of a text with a stated probability, and any other number otherwise: the bound is reached."""

    def __init__(self, bound: float, choices: int = 4, seed: int = 1) -> None:
        self.truth = np.exp(bound) / (np.exp(bound) + choices - 1)
        self.choices = choices
        self.generator = SeededRandomness(seed).stream(0)

    def __call__(self, texts):
        true = np.array([int(text) for text in texts])
        lies = (true + self.generator.integers(1, self.choices, len(true))) % self.choices
        told = np.where(self.generator.random(len(true)) < self.truth, true, lies)
        return [str(number) for number in told]
