"""Logistic regression on TF-IDF of words and characters. It needs seconds on a CPU."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from cachetools import LRUCache

from textveil.bundles.vectors import Floats
from textveil.errors import InputError
from textveil.extras import require
from textveil.lab.metrics.base import EXTRA, add_constants
from textveil.lab.metrics.classifiers.base import CACHED_TEXTS, Fitted, Regression
from textveil.lab.metrics.dataset import Classes, Codes, Texts
from textveil.progress import Progress, ignore_progress
from textveil.text.words import WORD

WORDS = (1, 2)
"""The least and largest number of words of a feature."""
CHARACTERS = (3, 3)
"""The least and largest number of characters of a feature, within a word."""
LEAST_TEXTS = 2
"""The least number of training texts that contain a feature."""


class Linear(Regression):
    """Balanced logistic regression on TF-IDF of lowercase words, pairs of words, and character trigrams.

    Features are counted once per list of texts, for all seeds and targets. Features that fewer than two training texts
    contain are not used, so nothing is learned from test texts.
    """

    name = "linear"
    gives_probabilities = True
    strength = 10.0

    def as_dict(self) -> dict[str, Any]:
        """The record of the classifier, with its features and its regularization."""
        words, characters = ("-".join(map(str, sizes)) for sizes in (WORDS, CHARACTERS))
        return add_constants(super().as_dict(), words=words, characters=characters, C=self.strength)

    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> FittedLinear:
        """Train on the texts at the given positions. Training is deterministic and ignores the seed."""
        if texts.hash not in self.cache:
            self.cache[texts.hash] = Features(texts)
        return FittedLinear(self, self.cache[texts.hash], texts, rows, classes.codes[rows])


class FittedLinear(Fitted):
    """A trained logistic regression."""

    def __init__(self, classifier: Linear, features: Features, texts: Texts, rows: Codes, codes: Codes) -> None:
        self._features = features
        self._weighting = Weighting.of(features.count(texts), rows)
        self._model = classifier.regress(self._weighting.weigh(features.count(texts), rows), codes)

    def weigh_classes(self, texts: Texts, rows: Codes) -> Floats:
        """The probability of each class for each text at the given positions."""
        weights: Floats = self._model.predict_proba(self._weighting.weigh(self._features.count(texts), rows))
        return weights

    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The most probable class of each text."""
        predicted: Codes = self.weigh_classes(texts, rows).argmax(axis=1)
        return predicted


FeatureCounts: TypeAlias = tuple[Any, Any]
"""The counts of words and of characters: sparse matrices with one row per text."""


class Features:
    """The features of one list of texts, which can be counted in other texts."""

    def __init__(self, home: Texts) -> None:
        text = require("sklearn.feature_extraction.text", extra=EXTRA)
        self._words = text.CountVectorizer(
            token_pattern=WORD.pattern,  # textveil's definition of a word
            ngram_range=WORDS,
            dtype=np.float32,
        )
        self._characters = text.CountVectorizer(
            analyzer="char_wb", ngram_range=CHARACTERS, lowercase=False, dtype=np.float32
        )
        self._cached: MutableMapping[str, FeatureCounts] = LRUCache(CACHED_TEXTS)
        try:
            self._cached[home.hash] = self._count(home, learning=True)
        except ValueError as error:  # an empty vocabulary
            raise InputError(
                "No text contains a word, so a classifier has nothing to learn. Check the column."
            ) from error

    def count(self, texts: Texts) -> FeatureCounts:
        """The counts of the features in some texts."""
        if texts.hash not in self._cached:
            self._cached[texts.hash] = self._count(texts)
        return self._cached[texts.hash]

    def _count(self, texts: Texts, *, learning: bool = False) -> FeatureCounts:
        """Count features, or learn the vocabulary first."""
        words, characters = (
            vectorizer.fit_transform if learning else vectorizer.transform
            for vectorizer in (self._words, self._characters)
        )
        # Character features are counted once per distinct word, and distinct words once per text.
        sparse = require("scipy.sparse", extra=EXTRA)
        split = [text.split() for text in texts]
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(word, len(numbers)) for row in split for word in row]
        ends = np.cumsum([0, *map(len, split)])
        occurrences = sparse.csr_matrix(
            (np.ones(len(places), dtype=np.float32), places, ends), shape=(len(split), len(numbers))
        )
        return words(texts), (occurrences @ characters(numbers)).tocsr()


class Weighting(NamedTuple):
    """The selected columns of the counts and their weights, learned from the training texts."""

    parts: list[tuple[int, Codes, Any]]

    @classmethod
    def of(cls, counts: FeatureCounts, rows: Codes) -> Weighting:
        """Learn from the texts at the given positions."""
        transformer = require("sklearn.feature_extraction.text", extra=EXTRA).TfidfTransformer
        parts = []
        for number, matrix in enumerate(counts):
            training = matrix[rows]
            used = np.flatnonzero(np.bincount(training.indices, minlength=matrix.shape[1]) >= LEAST_TEXTS)
            if len(used):
                parts.append((number, used, transformer(sublinear_tf=True).fit(training[:, used])))
        if not parts:
            raise InputError("No word occurs in two texts, so a classifier has nothing to learn. Give more texts.")
        return cls(parts)

    def weigh(self, counts: FeatureCounts, rows: Codes) -> Any:
        """The weighted features of the texts at the given positions."""
        sparse = require("scipy.sparse", extra=EXTRA)
        weighted = [tfidf.transform(counts[number][rows][:, used]) for number, used, tfidf in self.parts]
        return sparse.hstack(weighted, format="csr")
