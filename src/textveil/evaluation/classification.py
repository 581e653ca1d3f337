"""What metrics that train classifiers have in common: who trains on what, and macro F1 over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar

import numpy as np

from textveil.errors import ParameterError
from textveil.evaluation.base import EXTRA, Case, Metric, Need, check_seeds, identify
from textveil.evaluation.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.evaluation.dataset import Classes
from textveil.evaluation.lru import LruCache
from textveil.evaluation.texts import Texts
from textveil.extras import require
from textveil.storage.score_cache import hash_text

SEEDS = (42, 43, 44)
"""The paper's."""
CLASSIFIER = "linear"


class Scenario(StrEnum):
    """What a classifier is trained and tested on."""

    BASELINE = "baseline"
    """Trained and tested on originals."""
    STATIC = "static"
    """Trained on originals, tested on obfuscated texts."""
    ADAPTIVE = "adaptive"
    """Trained and tested on obfuscated texts."""


class Classification(Metric):
    """A metric that trains classifiers.

    Args:
        classifier: Its name, or one that is made already.
        classifier_options: What a classifier that is named lets choose.
        seeds: One run for each: it splits the texts, and starts what a classifier draws.
    """

    target: ClassVar[Need]

    def __init__(
        self,
        *,
        classifier: str | Classifier = CLASSIFIER,
        classifier_options: Mapping[str, Any] | None = None,
        seeds: Sequence[int] = SEEDS,
    ) -> None:
        super().__init__()
        self.seeds = check_seeds(seeds)
        self.classifier = make_classifier(classifier, classifier_options or {})
        self._fitted: LruCache[Fitted] = LruCache(self.classifier.held)

    @property
    def description(self) -> str:
        """The classifier, and the seeds."""
        return f"{self.name} ({self.classifier.description}, seeds {' '.join(map(str, self.seeds))})"

    @property
    def versions(self) -> dict[str, str]:
        """Of what the classifier needs."""
        return self.classifier.versions

    def score(self, case: Case, scenario: Scenario) -> list[float]:
        """The macro F1 of every seed; what is known is not worked out again."""
        classes = case.classes(self.target)
        trained = case.obfuscated if scenario is Scenario.ADAPTIVE else case.originals
        tested = case.originals if scenario is Scenario.BASELINE else case.obfuscated
        # With the seed as the key's last part, a run that is stopped goes on with the next seed.
        kept = tested.kept(identify(f"F1 of {self.classifier.description}", self.versions))
        keys = [hash_text(trained.hash, tested.hash, classes.hash, str(seed)) for seed in self.seeds]
        stage = f"{classes.column}, {scenario.value}"
        for number in kept.find_missing(keys):
            case.progress(stage, number, number / len(self.seeds))
            f1 = self._run(case, classes, trained, tested, self.seeds[number])
            kept.add({keys[number]: np.array([f1])})
        return [float(kept[key][0]) for key in keys]

    def _run(self, case: Case, classes: Classes, trained: Texts, tested: Texts, seed: int) -> float:
        split = classes.split(seed)

        def fit() -> Fitted:
            return self.classifier.fit(trained, split.train, classes, seed=seed, progress=case.progress)

        held = trained is case.originals  # which the next obfuscation meets again
        fitted = self._fitted.get((trained.hash, classes.hash, seed), fit) if held else fit()
        return macro_f1(classes.codes[split.test], fitted.predict(tested, split.test), len(classes.names))


def macro_f1(true: Any, predicted: Any, classes: int) -> float:
    """The mean of the F1 of every class.

    >>> round(macro_f1([0, 0, 1, 1], [0, 0, 1, 0], 2), 3)
    0.733
    """
    metrics = require("sklearn.metrics", extra=EXTRA)
    return float(metrics.f1_score(true, predicted, labels=range(classes), average="macro", zero_division=0.0))


def guess_f1(classes: Classes, seeds: Sequence[int]) -> float:
    """The macro F1 of always guessing the class that most texts of the training part have."""
    found = []
    for seed in seeds:
        split = classes.split(seed)
        most = np.bincount(classes.codes[split.train]).argmax()
        found.append(macro_f1(classes.codes[split.test], np.full(len(split.test), most), len(classes.names)))
    return float(np.mean(found))


def summarise(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Mean and standard deviation (over the seeds, as of a population) by name."""
    values: dict[str, float] = {}
    for name, found in scores.items():
        values[name] = float(np.mean(found))
        values[f"{name}_std"] = float(np.std(found))
    return values


def make_classifier(classifier: str | Classifier, options: Mapping[str, Any]) -> Classifier:
    """The classifier with its options; metrics that name the same share it, and all that it has worked out."""
    if not isinstance(classifier, Classifier):
        return _make_shared(CLASSIFIERS.load(classifier), tuple(sorted(options.items())))
    if options:
        raise ParameterError("A classifier that is made already has its options. Give them when it is made.")
    return classifier


@cache
def _make_shared(kind: type[Classifier], options: tuple[tuple[str, Any], ...]) -> Classifier:
    return kind(**dict(options))
