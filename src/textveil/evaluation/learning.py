"""The check whether a classifier has learned at least as much from the originals as the linear one."""

from __future__ import annotations

import numpy as np

from textveil.errors import InputError
from textveil.evaluation.base import Case
from textveil.evaluation.classification import CLASSIFIER, Classification, Scenario

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
    own = float(np.mean(metric.score(case, Scenario.BASELINE)))
    try:
        reference = float(np.mean(linear.score(case, Scenario.BASELINE)))
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
