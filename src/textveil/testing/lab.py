"""The contracts of metrics and classifiers."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from textveil.certificate import Certificate, Tally
from textveil.lab.metrics import METRICS, Case, Dataset, Measurement, Metric, Need
from textveil.lab.metrics.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.lab.metrics.dataset import Classes, Codes, Texts
from textveil.obfuscator import Obfuscator
from textveil.randomness import SeededRandomness
from textveil.testing.checks import Check, Statements, list_common, list_of

AUTHORS = {
    "anna": "the soup, the waiter, the table; a lovely evening indeed",
    "ben": "whoever drives this engine knows: gears & pistons & oil",
}
MOODS = {"good": "wonderful brilliant charming", "bad": "dreadful boring awful"}
PLACES = ("in London", "with Maria Smith", "at Microsoft", "on 3 May 2019", "")
TELLING = ("waiter", "pistons", "maria", "london")
"""Words of the texts that no measurement may quote."""


def make_rows(size: int = 60) -> tuple[list[str], list[str], list[str]]:
    """Texts with their sentiments and authors, which words predict."""
    generator = SeededRandomness(5).stream(0)
    texts, labels, authors = [], [], []
    for number in range(size):
        author, mood = ("anna", "ben")[number % 2], ("good", "bad")[(number // 2) % 2]
        words = generator.permutation(AUTHORS[author].split()).tolist()[:6]
        words += generator.permutation(MOODS[mood].split()).tolist()[:2]
        texts.append(f"{' '.join(words)} {PLACES[number % len(PLACES)]} {number}".strip())
        labels.append(mood)
        authors.append(author)
    return texts, labels, authors


@cache
def build_case() -> Case:
    """Sixty short texts and an obfuscation of them, with everything that a metric can need."""
    texts, labels, authors = make_rows()
    dataset = Dataset(texts, label=labels, attribute=authors)
    results = list(Obfuscator(mechanism="madlib", seed=1).obfuscate_all(texts, epsilon=120))
    first, tally = results[0].certificate, Tally.over(result.certificate.tally for result in results)
    certificate = Certificate(first.terms, first.budget, tally)
    return Case(dataset, dataset.pair([result.text for result in results]), certificate, results)


def check_its_place_and_identity(metric: Metric) -> Statements:
    """It is computed after metrics that exist, its needs are known ones, and the key of cached values has it all."""
    yield all(name in METRICS for name in metric.after), "it comes `after` a metric that there is not"
    yield all(isinstance(need, Need) for need in metric.needs), "its `needs` are not textveil.lab.metrics.Need"
    yield metric.identity["method"] == metric.as_dict(), "its identity lacks its record"
    versions = metric.identity["versions"]
    named = isinstance(versions, dict) and set(versions) == {"textveil", *metric.software}
    yield named, "its identity lacks its software"


def check_a_measurement_is_complete(metric: Metric, case: Case) -> Statements:
    """A measurement has finite values, intervals in order, and a sentence; JSON can hold it."""
    found = _measure(metric, case)
    named = (found.metric, found.description) == (metric.name, metric.description)
    yield named, "a measurement has another name or description"
    yield found.values or found.caveats, "a measurement without values does not say why (`caveats`)"
    yield set(found.intervals) <= set(found.values), "an interval has no value"
    yield all(low <= high for low, high in found.intervals.values()), "an interval has its ends swapped"
    plain = all(type(value) is float and math.isfinite(value) for value in found.values.values())
    yield plain, "a value is not a finite float"
    begins = found.line[:1].isupper() or found.line[:1].isdigit() or found.line[:1] in ("+", "-")
    yield begins and found.line.endswith("."), "its `line` is not a sentence"
    again = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    yield again["values"] == dict(found.values), "JSON cannot hold a measurement"


def check_a_measurement_is_the_same_twice(metric: Metric, case: Case) -> Statements:
    """The same case has the same measurement, which has no word of the texts."""
    first, second = (_measure(metric, case).as_dict() for _ in range(2))
    found = json.dumps(first).lower()
    yield not any(word in found for word in TELLING), "a measurement quotes a text"
    yield first == second, "the same texts have another measurement"


def check_a_missing_requirement_is_named(metric: Metric, case: Case) -> Statements:
    """Without what it needs, the case says what is missing."""
    bare = replace(case, certificate=None, obfuscations=None)
    if Need.CERTIFICATE in metric.needs or Need.CHUNKS in metric.needs:
        wanted = "(`certificate`)." if Need.CERTIFICATE in metric.needs else "(`obfuscations`)."
        yield (bare.lacks(metric) or "").endswith(wanted), "a missing requirement is not named"
    yield (case.lacks(metric) is None) == (not metric.after), "a complete case lacks something"


def _measure(metric: Metric, case: Case) -> Measurement:
    """The measurement, after those that it is computed from."""
    measured = {name: METRICS.load(name)().measure(case) for name in metric.after}
    return metric.measure(replace(case, measured=measured))


def list_metric_checks(method: type[Metric], case: Case | None = None, **options: Any) -> list[Check]:
    """All checks of a metric.

    Args:
        method: The class.
        case: What to measure; by default sixty short texts and an obfuscation of them.
        options: Options to build it with.
    """
    build = partial(method, **options)
    metric = build()
    on_case = (
        check_a_measurement_is_complete,
        check_a_measurement_is_the_same_twice,
        check_a_missing_requirement_is_named,
    )
    return [
        *list_of(metric, [check_its_place_and_identity], metric),
        *list_of(metric, on_case, metric, build_case() if case is None else case),
        *list_common(metric, build, METRICS),
    ]


SIZE = 40


@cache
def build_classes() -> tuple[list[str], Classes]:
    """Forty short texts and their two authors."""
    texts, _, authors = make_rows(SIZE)
    return texts, Classes.of(authors, range(SIZE), "author")


def fit_and_predict(classifier: Classifier, texts: Sequence[str], seed: int = 42) -> tuple[Codes, Codes, Fitted]:
    """The predictions for test texts, the true classes, and the trained classifier."""
    _, classes = build_classes()
    split = classes.split(seed)
    given = Texts(list(texts))
    fitted = classifier.fit(given, split.train, classes, seed=seed)
    return fitted.predict(given, split.test), classes.codes[split.test], fitted


def check_it_learns(classifier: Classifier) -> Statements:
    """It tells two authors apart, and says whether it gives probabilities."""
    texts, classes = build_classes()
    predicted, true, fitted = fit_and_predict(classifier, texts)
    yield np.mean(predicted == true) > 0.5, "it does not learn from texts that words predict"
    everyone = fitted.predict(Texts(texts[::-1]), np.arange(SIZE))
    yield np.mean(everyone == classes.codes[::-1]) > 0.9, "it does not know texts that it learned from"
    breach = "`gives_probabilities` does not say whether there is `weigh_classes`"
    yield hasattr(fitted, "weigh_classes") is classifier.gives_probabilities, breach


def check_seeds_decide_predictions(classifier: Classifier) -> Statements:
    """The same texts and seed give the same predictions, whatever their order."""
    mixed = [text[:12] for text in build_classes()[0]]
    first, _, fitted = fit_and_predict(classifier, mixed)
    second, _, _ = fit_and_predict(classifier, mixed)
    yield first.tolist() == second.tolist(), "the same texts and seed give other predictions"
    rows, given = np.array([3, 1, 0, 2]), Texts(mixed)
    ordered = fitted.predict(given, np.arange(4))[rows].tolist()
    yield fitted.predict(given, rows).tolist() == ordered, "predictions depend on the order of texts"


def check_any_text_gets_a_class(classifier: Classifier) -> Statements:
    """Empty and unknown texts get a class."""
    _, _, fitted = fit_and_predict(classifier, build_classes()[0])
    predicted = fitted.predict(Texts(["", "東京", "\ud800"]), np.arange(3))
    yield predicted.shape == (3,) and set(predicted.tolist()) <= {0, 1}, "a text without words gets no class"


def check_global_randomness_is_restored(classifier: Classifier) -> Statements:
    """Training changes no global state of random numbers."""

    def read_states() -> list[Any]:
        return [random.getstate(), np.random.get_state(legacy=True)[1].tolist()]  # type: ignore[index]

    before = read_states()
    fit_and_predict(classifier, build_classes()[0])
    yield read_states() == before, "training changes the global random state"


def list_classifier_checks(method: type[Classifier], **options: Any) -> list[Check]:
    """All checks of a classifier.

    Args:
        method: The class.
        options: Options to build it with.
    """
    build = partial(method, **options)
    classifier = build()
    checks = (
        check_it_learns,
        check_seeds_decide_predictions,
        check_any_text_gets_a_class,
        check_global_randomness_is_restored,
    )
    return [*list_of(classifier, checks, classifier), *list_common(classifier, build, CLASSIFIERS)]
