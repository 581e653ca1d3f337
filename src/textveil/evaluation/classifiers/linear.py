"""Logistic regression on TF-IDF of words and characters: seconds on a processor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats
from textveil.errors import InputError
from textveil.evaluation.base import EXTRA
from textveil.evaluation.classifiers.base import Classifier, Fitted
from textveil.evaluation.dataset import Classes, Codes
from textveil.evaluation.lru import LruCache
from textveil.evaluation.texts import Texts
from textveil.extras import require, require_version
from textveil.language.words import WORD
from textveil.progress import Progress, ignore_progress

WORDS = (1, 2)
"""From how many to how many words a feature has."""
CHARACTERS = (3, 3)
"""From how many to how many characters a feature has; they do not reach over the borders of words."""
LEAST_TEXTS = 2
"""A feature is used if it stands in this many texts of the training part."""
STRENGTH = 10.0
"""The inverse of how strongly weights are held small (C)."""
SOLVER = "newton-cg"
"""As accurate as the others and nothing is drawn; on reviews three times as fast as lbfgs."""
HELD_TEXTS = 2
"""Lists of texts whose features are held: the originals, and those of the obfuscation at hand."""


class Linear(Classifier):
    """Balanced logistic regression on TF-IDF of words and pairs of them in lower case, and of three characters.

    Features are counted once for a list of texts, for all seeds and targets; those that stand in less than two texts of
    the training part are not used, so nothing is learnt from the texts that it is tested on.
    """

    name = "linear"

    def __init__(self) -> None:
        super().__init__()
        require_version("scikit-learn", extra=EXTRA)
        self._features: LruCache[Features] = LruCache(HELD_TEXTS)

    @property
    def description(self) -> str:
        """The name, the features, and how strongly weights are held small."""
        words, characters = ("-".join(map(str, sizes)) for sizes in (WORDS, CHARACTERS))
        return f"{self.name}, words {words}, characters {characters}, C {STRENGTH:g}"

    @property
    def versions(self) -> dict[str, str]:
        """Of scikit-learn and SciPy."""
        return {package: require_version(package, extra=EXTRA) for package in ("scikit-learn", "scipy")}

    def fit(
        self, texts: Texts, rows: Codes, classes: Classes, *, seed: int, progress: Progress = ignore_progress
    ) -> FittedLinear:
        """Train on the texts at some positions; the seed plays no part, as nothing is drawn."""
        features = self._features.get(texts.hash, lambda: Features(texts))
        return FittedLinear(features, texts, rows, classes.codes[rows])


class FittedLinear(Fitted):
    """Logistic regression on features of one list of texts."""

    def __init__(self, features: Features, texts: Texts, rows: Codes, codes: Codes) -> None:
        linear_model = require("sklearn.linear_model", extra=EXTRA)
        self._features = features
        self._weighting = Weighting.of(features.count(texts), rows)
        self._model = linear_model.LogisticRegression(C=STRENGTH, solver=SOLVER, class_weight="balanced")
        self._model.fit(self._weighting.weigh(features.count(texts), rows), codes)

    def weigh_classes(self, texts: Texts, rows: Codes) -> Floats:
        """How likely each class is for each of the texts at some positions."""
        likely: Floats = self._model.predict_proba(self._weighting.weigh(self._features.count(texts), rows))
        return likely

    def predict(self, texts: Texts, rows: Codes) -> Codes:
        """The most likely class of each text."""
        predicted: Codes = self.weigh_classes(texts, rows).argmax(axis=1)
        return predicted


class Counts(NamedTuple):
    """How often features stand in texts: sparse matrices with a row for each text."""

    words: Any
    characters: Any


class Features:
    """The features of one list of texts, which can be counted in other texts too."""

    def __init__(self, home: Texts) -> None:
        text = require("sklearn.feature_extraction.text", extra=EXTRA)
        self._words = text.CountVectorizer(
            token_pattern=WORD.pattern,
            ngram_range=WORDS,
            dtype=np.float32,  # textveil's own words
        )
        self._characters = text.CountVectorizer(
            analyzer="char_wb", ngram_range=CHARACTERS, lowercase=False, dtype=np.float32
        )
        self._held: LruCache[Counts] = LruCache(HELD_TEXTS)
        try:
            self._held.get(home.hash, lambda: self._count(home, learning=True))
        except ValueError as error:  # an empty vocabulary
            raise InputError("There is no word in any text that a classifier could learn from.") from error

    def count(self, texts: Texts) -> Counts:
        """How often the features stand in these texts."""
        return self._held.get(texts.hash, lambda: self._count(texts))

    def _count(self, texts: Texts, *, learning: bool = False) -> Counts:
        """Count features, or learn which there are."""
        words, characters = (
            vectorizer.fit_transform if learning else vectorizer.transform
            for vectorizer in (self._words, self._characters)
        )
        # Characters are counted once in every distinct word, and these words in every text.
        sparse = require("scipy.sparse", extra=EXTRA)
        split = [text.split() for text in texts]
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(word, len(numbers)) for row in split for word in row]
        ends = np.cumsum([0, *map(len, split)])
        stands = sparse.csr_matrix(
            (np.ones(len(places), dtype=np.float32), places, ends), shape=(len(split), len(numbers))
        )
        return Counts(words(texts), (stands @ characters(numbers)).tocsr())


class Weighting(NamedTuple):
    """Which columns of which counts are used, and how they are weighted: all of it learnt from the training part."""

    parts: list[tuple[int, Codes, Any]]

    @classmethod
    def of(cls, counts: Counts, rows: Codes) -> Weighting:
        """What the texts at some positions teach."""
        transformer = require("sklearn.feature_extraction.text", extra=EXTRA).TfidfTransformer
        parts = []
        for number, matrix in enumerate(counts):
            training = matrix[rows]
            used = np.flatnonzero(np.bincount(training.indices, minlength=matrix.shape[1]) >= LEAST_TEXTS)
            if len(used):
                parts.append((number, used, transformer(sublinear_tf=True).fit(training[:, used])))
        if not parts:
            raise InputError("No word stands in two texts, so a classifier has nothing to learn. Give more texts.")
        return cls(parts)

    def weigh(self, counts: Counts, rows: Codes) -> Any:
        """The weighted features of the texts at some positions."""
        sparse = require("scipy.sparse", extra=EXTRA)
        weighted = [tfidf.transform(counts[number][rows][:, used]) for number, used, tfidf in self.parts]
        return sparse.hstack(weighted, format="csr")
