"""The contract of classifiers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from textveil.lab.metrics.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.lab.metrics.dataset import Classes, Codes, Texts
from textveil.testing.checks import Check, bind, check_name, check_options, check_record, expect, name_checks
from textveil.testing.metrics import make_rows

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


def check_it_learns(classifier: Classifier) -> None:
    """It tells two authors apart."""
    texts, classes = build_classes()
    predicted, true, fitted = fit_and_predict(classifier, texts)
    expect(np.mean(predicted == true) > 0.5, classifier, "it does not learn from texts that words predict")
    everyone = fitted.predict(Texts(texts[::-1]), np.arange(SIZE))
    expect(np.mean(everyone == classes.codes[::-1]) > 0.9, classifier, "it does not know texts that it learned from")


def check_probabilities_are_announced(classifier: Classifier) -> None:
    """It says whether it gives probabilities."""
    _, _, fitted = fit_and_predict(classifier, build_classes()[0])
    breach = "`gives_probabilities` does not say whether there is `weigh_classes`"
    expect(hasattr(fitted, "weigh_classes") is classifier.gives_probabilities, classifier, breach)


def check_seeds_decide_predictions(classifier: Classifier) -> None:
    """The same texts and seed give the same predictions, whatever their order."""
    mixed = [text[:12] for text in build_classes()[0]]
    first, _, fitted = fit_and_predict(classifier, mixed)
    second, _, _ = fit_and_predict(classifier, mixed)
    expect(first.tolist() == second.tolist(), classifier, "the same texts and seed give other predictions")
    rows, given = np.array([3, 1, 0, 2]), Texts(mixed)
    ordered = fitted.predict(given, np.arange(4))[rows].tolist()
    expect(fitted.predict(given, rows).tolist() == ordered, classifier, "predictions depend on the order of texts")


def check_any_text_gets_a_class(classifier: Classifier) -> None:
    """Empty and unknown texts get a class."""
    _, _, fitted = fit_and_predict(classifier, build_classes()[0])
    predicted = fitted.predict(Texts(["", "東京", "\ud800"]), np.arange(3))
    valid = predicted.shape == (3,) and set(predicted.tolist()) <= {0, 1}
    expect(valid, classifier, "a text without words gets no class")


def check_global_randomness_is_restored(classifier: Classifier) -> None:
    """Training changes no global state of random numbers."""

    def read_states() -> list[Any]:
        return [random.getstate(), np.random.get_state(legacy=True)[1].tolist()]  # type: ignore[index]

    before = read_states()
    fit_and_predict(classifier, build_classes()[0])
    expect(read_states() == before, classifier, "training changes the global random state")


def list_classifier_checks(method: type[Classifier], **options: Any) -> list[Check]:
    """All checks of a classifier.

    Args:
        method: The class.
        options: Options to build it with.
    """
    classifier = method(**options)
    own = {name: CLASSIFIERS.load(name) for name in CLASSIFIERS}
    return name_checks(
        method.name,
        [
            bind(check_it_learns, classifier),
            bind(check_probabilities_are_announced, classifier),
            bind(check_seeds_decide_predictions, classifier),
            bind(check_any_text_gets_a_class, classifier),
            bind(check_global_randomness_is_restored, classifier),
            bind(check_record, classifier),
            bind(check_options, classifier, lambda **given: method(**{**options, **given})),
            bind(check_name, classifier, CLASSIFIERS.list_plugins(), own),
        ],
    )
