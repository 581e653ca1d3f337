"""Logistic regression on style: function words, punctuation and lengths. It does not read content words."""

from __future__ import annotations

import string
from itertools import pairwise
from typing import Any

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.extras import require
from textveil.lab.metrics.base import EXTRA, add_constants
from textveil.lab.metrics.classifiers.base import Fitted, Regression
from textveil.lab.metrics.dataset import Classes, Codes, Texts
from textveil.progress import Progress, ignore_progress
from textveil.text.stopwords import ENGLISH
from textveil.text.words import PAUSE, find_spans, find_words

FUNCTION_WORDS = tuple(sorted(ENGLISH))
MARKS = (*string.punctuation, "\u2018", "\u2019", "\u201c", "\u201d", "\u2013", "\u2014", "\u2026", "\n")
LONGEST_WORD = 15
"""Longer words count as if they had this number of characters."""


class Stylometry(Regression):
    """Balanced logistic regression on about 250 standardized features of style.

    The features are the frequencies of function words, of punctuation marks and of word lengths, the number of words
    and of characters, the length of sentences, capitals, digits, and the share of distinct words.
    """

    name = "stylometry"

    strength = 0.1

    def as_dict(self) -> dict[str, Any]:
        """The record of the classifier, with its number of features and its regularization."""
        return add_constants(super().as_dict(), features=len(find_features("")), C=self.strength)

    def read(self, texts: Texts) -> Floats:
        """The features of all texts, computed once per list."""
        if texts.hash not in self.cache:
            self.cache[texts.hash] = np.array([find_features(text) for text in texts])
        features: Floats = self.cache[texts.hash]
        return features

    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> FittedStylometry:
        """Train on the texts at the given positions. Training is deterministic and ignores the seed."""
        return FittedStylometry(self, self.read(texts)[rows], classes.codes[rows])


class FittedStylometry(Fitted):
    """A trained logistic regression."""

    def __init__(self, classifier: Stylometry, features: Floats, codes: Codes) -> None:
        self._classifier = classifier
        self._scaler = require("sklearn.preprocessing", extra=EXTRA).StandardScaler().fit(features)
        self._model = classifier.regress(self._scaler.transform(features), codes)

    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The most probable class of each text."""
        predicted: Codes = self._model.predict(self._scaler.transform(self._classifier.read(texts)[rows]))
        return predicted


def find_features(text: str) -> Floats:
    """The features of a text's style. Content words are only measured and counted."""
    words, spans = find_words(text), find_spans(text)
    written = [text[start:stop] for start, stop in spans]
    number, characters = max(1, len(words)), max(1, len(text))
    frequencies = dict.fromkeys(FUNCTION_WORDS, 0)
    for word in words:
        if word in frequencies:
            frequencies[word] += 1
    lengths = np.bincount([min(len(word), LONGEST_WORD) for word in written], minlength=LONGEST_WORD + 1)[1:]
    sentences = 1 + sum(bool(PAUSE.search(text, end, start)) for (_, end), (start, _) in pairwise(spans))
    shape = (
        np.log1p(len(words)),
        np.log1p(len(text)),
        len(words) / sentences,
        sum(map(len, written)) / number,
        sum(word[:1].isupper() for word in written) / number,
        sum(word.isupper() for word in written) / number,
        sum(character.isdigit() for character in text) / characters,
        len(set(words)) / number,
    )
    counts = np.array([*frequencies.values(), *lengths], dtype=np.float64) / number
    marks = np.array([text.count(mark) for mark in MARKS], dtype=np.float64) / characters
    return np.concatenate([counts, marks, shape])
