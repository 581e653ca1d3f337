"""The base of metrics that train classifiers: training scenarios, predictions, and macro F1 over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar

import numpy as np

from textveil.errors import ParameterError
from textveil.evaluation.base import Case, Metric, Need, check_seeds, identify
from textveil.evaluation.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.evaluation.classifiers.kept import find_or_fit
from textveil.evaluation.dataset import Classes, Codes, Split
from textveil.evaluation.lru import LruCache
from textveil.evaluation.predictions import Predictions, macro_f1
from textveil.evaluation.texts import Texts
from textveil.registry import Option
from textveil.storage.score_cache import hash_text

SEEDS = (42, 43, 44)
"""The seeds of the paper."""
CLASSIFIER = "linear"
PER_SEED = "per_seed"
FIXED = "fixed"
FOLDS = "folds"
FIXED_SPLIT = 42
"""The seed of the fixed split, as in the published research code."""

_shared: dict[tuple[type[Classifier], str], Classifier] = {}


class Scenario(StrEnum):
    """The texts that a classifier is trained and tested on."""

    BASELINE = "baseline"
    """Trained and tested on originals."""
    STATIC = "static"
    """Trained on originals, tested on obfuscated texts."""
    ADAPTIVE = "adaptive"
    """Trained and tested on obfuscated texts."""


class Classification(Metric):
    """A metric that trains classifiers.

    Args:
        options: ``classifier`` (a name or a :class:`Classifier`), ``classifier_options``, ``seeds`` and ``split``.
    """

    target: ClassVar[Need]
    compares_with_linear: ClassVar[bool] = True
    """Whether a classifier that learns less than the linear one makes its values too low."""

    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "classifier",
            object,
            CLASSIFIER,
            f"The classifier: {', '.join(CLASSIFIERS)}.",
            flag="--attacker",
            changes_results=False,  # its own record, which is included, does
        ),
        Option("classifier_options", object, None, "Options of a named classifier.", changes_results=False),
        Option("seeds", object, SEEDS, "Seeds. Each one gives a training run, and by default a split of the texts."),
        Option(
            "split",
            str,
            PER_SEED,
            "The split into training and test texts: one for each seed, one for all seeds as in the paper, or the ten "
            "folds of a cross-validation for each seed.",
            choices=(PER_SEED, FIXED, FOLDS),
        ),
    )
    classifier: Classifier
    classifier_options: Mapping[str, Any] | None
    seeds: tuple[int, ...]
    split: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seeds = check_seeds(self.seeds)
        self.classifier = build_classifier(self.classifier, self.classifier_options)
        self.check_classifier(self.classifier)
        self._fitted: LruCache[Fitted] = LruCache(self.classifier.cached)

    @classmethod
    def check_classifier(cls, classifier: Classifier | type[Classifier]) -> None:
        """Refuse a classifier that the metric cannot use.

        Raises:
            ParameterError: It cannot use this classifier.
        """

    def as_dict(self) -> dict[str, Any]:
        """The record of the metric, with that of its classifier."""
        return {**super().as_dict(), "classifier": self.classifier.as_dict()}

    @property
    def description(self) -> str:
        """The classifier, the seeds and the split."""
        split = {PER_SEED: "", FIXED: ", fixed split", FOLDS: ", cross-validated"}[self.split]
        return f"{self.name} ({self.classifier.description}, seeds {' '.join(map(str, self.seeds))}{split})"

    @property
    def split_seeds(self) -> tuple[int, ...]:
        """The seed of the split of every run."""
        return (FIXED_SPLIT,) * len(self.seeds) if self.split == FIXED else self.seeds

    @property
    def versions(self) -> dict[str, str]:
        """The packages of the classifier."""
        return self.classifier.software

    def predict(self, case: Case, scenario: Scenario) -> Predictions:
        """The predictions for the test texts of every seed. Cached predictions are not made again."""
        classes = case.classes(self.target)
        trained = case.obfuscated if scenario is Scenario.ADAPTIVE else case.originals
        tested = case.originals if scenario is Scenario.BASELINE else case.obfuscated
        # The seed is a part of the key, so that an interrupted run resumes with the next seed.
        cached = tested.cached(identify("predictions", self.versions, classifier=self.classifier.as_dict()))
        kind = () if self.split == PER_SEED else (self.split,)
        keys = [hash_text(trained.hash, tested.hash, classes.hash, str(seed), *kind) for seed in self.seeds]
        stage = f"{classes.column}, {scenario.value}"
        for number in cached.find_missing(keys):
            case.progress(stage, number, number / len(self.seeds))
            predicted = self._run(case, classes, trained, tested, number)
            cached.add({keys[number]: predicted.astype(np.float64)})
        tests = [np.concatenate([split.test for split in self._splits(classes, seed)]) for seed in self.split_seeds]
        return Predictions.of(classes, tests, [cached[key].astype(np.int64) for key in keys])

    def score(self, case: Case, scenario: Scenario) -> list[float]:
        """The macro F1 of every seed."""
        return self.predict(case, scenario).by_seed

    def _splits(self, classes: Classes, seed: int) -> list[Split]:
        """The splits of a run, whose test texts are taken together."""
        return classes.fold(seed) if self.split == FOLDS else [classes.split(seed)]

    def _run(self, case: Case, classes: Classes, trained: Texts, tested: Texts, number: int) -> Codes:
        """The predictions of a run for its test texts, split by split."""
        seed, reusable = self.seeds[number], trained is case.originals  # which tests other obfuscations, too

        def fit(split: Split) -> Fitted:
            train = partial(find_or_fit, self.classifier) if reusable else self.classifier.fit
            return train(trained, split.train, classes, seed=seed, progress=case.progress)

        predicted = []
        for part, split in enumerate(self._splits(classes, self.split_seeds[number])):
            key = (trained.hash, classes.hash, seed, part)
            fitted = self._fitted.get(key, partial(fit, split)) if reusable else fit(split)
            predicted.append(fitted.predict(tested, split.test))
        return np.concatenate(predicted)


def majority_f1(classes: Classes, seeds: Sequence[int]) -> float:
    """The macro F1 of the majority baseline, which predicts the most frequent class of the training texts.

    Args:
        classes: The classes of the texts.
        seeds: The seeds of the splits.
    """
    found = []
    for seed in seeds:
        split = classes.split(seed)
        most = np.bincount(classes.codes[split.train]).argmax()
        found.append(macro_f1(classes.codes[split.test], np.full(len(split.test), most), len(classes.names)))
    return float(np.mean(found))


def summarize(predictions: Mapping[str, Predictions]) -> dict[str, float]:
    """The mean F1 over the seeds, by name; for several seeds also the population standard deviation over them."""
    values: dict[str, float] = {}
    for name, found in predictions.items():
        values[name] = found.f1
        if len(found.by_seed) > 1:
            values[f"{name}_std"] = float(np.std(found.by_seed))
    return values


def count_tests(predictions: Predictions) -> dict[str, object]:
    """The numbers of test texts: the different ones, and those of a seed."""
    return {"test_texts": predictions.texts, "test_texts_by_seed": len(predictions.predicted[0])}


def build_classifier(classifier: str | Classifier, options: Mapping[str, Any] | None = None) -> Classifier:
    """Build a classifier by name. Metrics that name the same classifier and options share one, with its caches.

    Args:
        classifier: A name, or a built classifier, which is returned as it is.
        options: The options of a named classifier.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ParameterError(f"`classifier_options` must be a mapping. Got {type(options).__name__} instead.")
    chosen: type[Classifier] | Classifier = CLASSIFIERS.choose(classifier)
    if isinstance(chosen, Classifier):
        return CLASSIFIERS.build(chosen, **(options or {}))
    key = chosen, repr(sorted((options or {}).items()))
    if key not in _shared:
        _shared[key] = CLASSIFIERS.build(chosen, **(options or {}))
    return _shared[key]
