"""The base of metrics that train classifiers: training scenarios, predictions, macro F1 over seeds, and chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from cachetools import LRUCache

from textveil.bundles.vectors import Floats
from textveil.errors import InputError, ParameterError
from textveil.extras import require
from textveil.lab.metrics.base import EXTRA, Case, Interval, Measurement, Metric, Need, Reading, check_seeds, identify
from textveil.lab.metrics.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.lab.metrics.classifiers.base import find_or_fit
from textveil.lab.metrics.dataset import Classes, Codes, Split, Texts
from textveil.lab.metrics.quantities import is_chance
from textveil.lab.metrics.uncertainty import RESAMPLES, SEED, bound_agreement, describe_few, take_interval
from textveil.randomness import SeededRandomness
from textveil.registry import Option
from textveil.storage.score_cache import hash_text

_AT_A_TIME = 1 << 21
"""Labels to resample at a time, so that memory is bounded."""
_LABELS = 4_000_000
"""Labels to resample in all, so that time is bounded."""
_LEAST_RESAMPLES = 200


@dataclass(frozen=True)
class Predictions:
    """What classifiers predicted for test texts, by seed. Every seed has its own test texts; some are in several.

    Args:
        classes: The number of classes.
        true: The class of every text that is in a test set.
        tested: The positions in ``true`` of the test texts of every seed.
        predicted: The predicted classes of the test texts of every seed.
    """

    classes: int
    true: Codes
    tested: tuple[Codes, ...]
    predicted: tuple[Codes, ...]

    @classmethod
    def of(cls, classes: Classes, tests: Sequence[Codes], predicted: Sequence[Codes]) -> Predictions:
        """The predictions for the test texts at the given positions, for every seed."""
        texts, places = np.unique(np.concatenate(tests), return_inverse=True)
        tested = np.split(places, np.cumsum([len(test) for test in tests])[:-1])
        return cls(len(classes.names), classes.codes[texts], tuple(tested), tuple(predicted))

    @property
    def texts(self) -> int:
        """The number of different test texts."""
        return len(self.true)

    @cached_property
    def by_seed(self) -> list[float]:
        """The macro F1 of every seed."""
        return [macro_f1(self.true[tested], predicted, self.classes) for tested, predicted in self._pairs()]

    @property
    def f1(self) -> float:
        """The mean macro F1 of the seeds."""
        return float(np.mean(self.by_seed))

    def find_interval(self) -> Interval:
        """The 95 % interval of the F1: the bootstrap over test texts, which are drawn within their class.

        The F1 of a resample is lower than that of the texts on average, since a small class can lose its texts. The
        interval is moved by this difference. If all predictions are right, resamples cannot differ. The lower end is
        then that of Clopper and Pearson.
        """
        if all((self.true[tested] == predicted).all() for tested, predicted in self._pairs()):
            return bound_agreement(1, self.texts)
        scores = self._resampled
        low, high = np.clip(take_interval(scores + self.f1 - scores.mean()), 0, 1)
        return Interval(float(low), float(high))

    def find_ratio(self, other: Predictions) -> Interval:
        """The 95 % interval of the F1 divided by another one for the same test texts, which are drawn together.

        If both are equal in all resamples, the lower end is that of Clopper and Pearson.
        """
        scores, others = self._resampled, other._resampled
        ratios: Floats = np.divide(scores, others, out=np.full(len(scores), np.nan), where=others > 0)
        if np.nanmin(ratios) == np.nanmax(ratios):
            return bound_agreement(1, self.texts)
        low, high = take_interval(ratios + self.f1 / other.f1 - np.nanmean(ratios))
        return Interval(max(low, 0.0), high)

    @cached_property
    def _resampled(self) -> Floats:
        """The F1 of resamples of the test texts. Predictions for the same texts have the same resamples."""
        generator = SeededRandomness(SEED).stream(0)
        members = [np.flatnonzero(self.true == code) for code in range(self.classes)]
        found = []
        for size in split_resamples(self.texts):
            drawn = [group[generator.integers(len(group), size=(size, len(group)))] for group in members if len(group)]
            weights = count(np.concatenate(drawn, axis=1), self.texts)
            found.append(self.score_labels(np.broadcast_to(self.true, weights.shape), weights))
        return np.concatenate(found)

    def score_labels(self, labels: Any, weights: Floats | None = None) -> Floats:
        """The mean macro F1 of the seeds for other labels of the texts, or for other weights.

        Args:
            labels: The classes of all texts, of shape (samples, texts).
            weights: The weight of every text in every sample; by default 1.
        """
        scores = [
            score_samples(labels[:, tested], predicted, self.classes, None if weights is None else weights[:, tested])
            for tested, predicted in self._pairs()
        ]
        means: Floats = np.mean(scores, axis=0)
        return means

    def _pairs(self) -> Iterator[tuple[Codes, Codes]]:
        return zip(self.tested, self.predicted, strict=True)


def macro_f1(true: Any, predicted: Any, classes: int) -> float:
    """The mean F1 over all classes.

    >>> round(macro_f1([0, 0, 1, 1], [0, 0, 1, 0], 2), 3)
    0.733
    """
    metrics = require("sklearn.metrics", extra=EXTRA)
    return float(metrics.f1_score(true, predicted, labels=range(classes), average="macro", zero_division=0.0))


def score_samples(labels: Any, predicted: Codes, classes: int, weights: Floats | None = None) -> Floats:
    """The macro F1 of the same predictions for many samples of labels. A class that a sample lacks does not count.

    Args:
        labels: The classes of the texts, of shape (samples, texts).
        predicted: The predicted classes.
        classes: The number of classes.
        weights: The weight of every text in every sample; by default 1.

    >>> score_samples(np.array([[0, 0, 1, 1], [0, 0, 1, 0]]), np.array([0, 0, 1, 0]), 2).round(3).tolist()
    [0.733, 1.0]
    """
    used = np.ones(labels.shape) if weights is None else weights
    repeated = np.broadcast_to(predicted, labels.shape)
    hits = 2 * count(labels, classes, used * (labels == repeated))
    sizes = count(labels, classes, used) + count(repeated, classes, used)
    scores = np.divide(hits, sizes, out=np.zeros_like(hits), where=sizes > 0)
    found: Floats = scores.sum(axis=1) / np.maximum((sizes > 0).sum(axis=1), 1)
    return found


def count(numbers: Any, size: int, weights: Floats | None = None) -> Floats:
    """How often every number below ``size`` occurs in every row, or the sum of its weights.

    >>> count(np.array([[0, 2, 2], [1, 1, 1]]), 3).tolist()
    [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    """
    rows = len(numbers)
    places = (numbers + size * np.arange(rows)[:, None]).ravel()
    counts = np.bincount(places, None if weights is None else weights.ravel(), minlength=rows * size)
    return counts.reshape(rows, size).astype(np.float64)


def split_resamples(texts: int) -> list[int]:
    """The sizes of the parts in which labels are resampled: fewer resamples for very many texts.

    >>> split_resamples(60), sum(split_resamples(10_000)), sum(split_resamples(1_000_000))
    ([1000], 400, 200)
    """
    resamples = min(RESAMPLES, max(_LEAST_RESAMPLES, _LABELS // texts))
    size = max(1, _AT_A_TIME // texts)
    return [min(size, resamples - start) for start in range(0, resamples, size)]


_STREAM = 1
"""Another stream than that of the bootstrap."""


def find_chance(predictions: Predictions) -> Reading:
    """The F1 that predictions have by chance, after the labels of the test texts were permuted, many times.

    The permutation keeps how often each class occurs and how often it is predicted. It removes everything that the
    classifier knows about single texts. Labels are permuted once for all seeds, since a text can be in the test sets of
    several seeds. No classifier is trained.
    """
    generator = SeededRandomness(SEED).stream(_STREAM)
    found = []
    for size in split_resamples(predictions.texts):
        labels = np.tile(predictions.true, (size, 1))
        found.append(predictions.score_labels(generator.permuted(labels, axis=1)))
    scores = np.concatenate(found)
    return Reading(float(scores.mean()), take_interval(scores))


class Scores(NamedTuple):
    """The F1 of classifiers by name, and what each of them has by chance."""

    predicted: Mapping[str, Predictions]
    f1s: Mapping[str, Reading]
    chances: Mapping[str, Reading]

    @classmethod
    def of(cls, predicted: Mapping[str, Predictions]) -> Scores:
        """The F1 of predictions by name."""
        f1s = {name: Reading(found.f1, found.find_interval()) for name, found in predicted.items()}
        return cls(predicted, f1s, {name: find_chance(found) for name, found in predicted.items()})

    @property
    def chance(self) -> Reading:
        """The chance of the classifier whose interval ends highest.

        A classifier that predicts one class for all texts has a low F1 by chance. One that guesses has a higher one. No
        F1 that a guess reaches shows that something was learned.
        """
        return max(self.chances.values(), key=_find_end)

    def show(self, name: str, *, first: bool = False) -> str:
        """An F1 with its interval, which the first one of a text explains, and whether it can be told from chance."""
        hidden = ", which cannot be told from chance" if is_chance(self.f1s[name], self.chance) else ""
        return f"{self.f1s[name].show('.1%', first=first)}{hidden}"


def _find_end(reading: Reading) -> float:
    return reading.value if reading.interval is None else reading.interval.high


def find_caveats(f1: Reading, chance: Reading, texts: int, *, name: str) -> list[str]:
    """The reasons to draw no conclusion from classifiers: few test texts, or originals that teach nothing.

    Args:
        f1: The F1 of the classifier that was trained and tested on originals.
        chance: Its level by chance. That of no other classifier matters, so all obfuscations have the same caveats.
        texts: The number of its test texts.
        name: The name of the classes: ``label`` or ``attribute``.
    """
    caveats = describe_few(texts, "test texts")
    if f1.interval is None or f1.interval.low <= _find_end(chance):
        caveats.append(
            f"The {name} cannot be learned from the originals: F1 {f1.show('.1%')} is near chance, "
            f"{chance.show('.1%')}."
        )
    return caveats


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
        self._fitted: MutableMapping[object, Fitted] = LRUCache(self.classifier.cached)

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

    def _splits(self, classes: Classes, seed: int) -> list[Split]:
        """The splits of a run, whose test texts are taken together."""
        return classes.fold(seed) if self.split == FOLDS else [classes.split(seed)]

    def _run(self, case: Case, classes: Classes, trained: Texts, tested: Texts, number: int) -> Codes:
        """The predictions of a run for its test texts, split by split."""
        seed = self.seeds[number]

        def fit(part: int, split: Split) -> Fitted:
            if trained is not case.originals:
                return self.classifier.fit(trained, split.train, classes, seed=seed, progress=case.progress)
            key = trained.hash, classes.hash, seed, part  # it tests other obfuscations, too
            if key not in self._fitted:
                self._fitted[key] = find_or_fit(
                    self.classifier, trained, split.train, classes, seed=seed, progress=case.progress
                )
            return self._fitted[key]

        splits = enumerate(self._splits(classes, self.split_seeds[number]))
        return np.concatenate([fit(part, split).predict(tested, split.test) for part, split in splits])

    def report_scores(
        self, case: Case, line: str, scores: Scores, *, originals: str, seeds: Sequence[object], **more: Reading
    ) -> Measurement:
        """Build a measurement of F1s, with chance, the majority baseline, and reasons for doubt.

        Args:
            case: The case.
            line: The scores in plain language.
            scores: The scores.
            originals: The name of the score that was trained and tested on originals.
            seeds: The scores of every seed.
            more: Further values.
        """
        classes, predicted, chance = case.classes(self.target), scores.predicted[originals], scores.chance
        majority = majority_f1(classes, self.split_seeds)
        several = scores.predicted if len(self.seeds) > 1 else {}
        deviations = {f"{name}_std": float(np.std(found.by_seed)) for name, found in several.items()}
        caveats = find_caveats(scores.f1s[originals], scores.chances[originals], predicted.texts, name=classes.column)
        levels = {name: (level.value, *(level.interval or ())) for name, level in scores.chances.items()}
        return self.report(
            f"{line} Without obfuscation it is {scores.show(originals)}; by chance {chance.show('.1%')}; for the "
            f"majority baseline over {len(classes.names)} classes {majority:.1%}. There were {predicted.texts:,} test "
            "texts.",
            {**scores.f1s, **deviations, "chance": chance, "majority": majority, **more},
            caveats=[*caveats, *find_weakness(self, case)],
            seeds=dict(zip(map(str, self.seeds), seeds, strict=True)),
            chance={name: dict(zip(("level", "low", "high"), level, strict=True)) for name, level in levels.items()},
            test_texts=predicted.texts,
            test_texts_by_seed=len(predicted.predicted[0]),
        )


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


TOLERANCE = 0.02
"""The smallest difference of F1 that counts."""


def find_weakness(metric: Classification, case: Case) -> tuple[str, ...]:
    """A warning if the classifier of a metric learned less from the originals than the linear one; else nothing.

    The linear classifier learns within seconds. A transformer that learned less was trained too briefly, or its model
    does not suit the texts. It then underestimates attackers, or the utility of texts. Metrics that do not compare
    their classifier with the linear one have no warning.
    """
    if not metric.compares_with_linear or metric.classifier.name == CLASSIFIER:
        return ()
    linear = type(metric)(classifier=CLASSIFIER, seeds=metric.seeds, split=metric.split)
    own = metric.predict(case, Scenario.BASELINE).f1
    try:
        reference = linear.predict(case, Scenario.BASELINE).f1
    except InputError:  # the texts have no words in common, so it learns nothing
        return ()
    if own >= reference - TOLERANCE:
        return ()
    column = case.classes(metric.target).column
    return (
        f"On the originals, the classifier {metric.classifier.name} infers the {column} with F1 {own:.1%}, the linear "
        f"one with F1 {reference:.1%}. So it has learned too little, and its values are too low. Raise `epochs` or "
        "`learning_rate`, choose another `model`, or use the linear classifier.",
    )
