"""The checks of metrics and classifiers find every breach of a contract."""

import random

import numpy as np
import pytest

from textveil.errors import ContractError
from textveil.lab.metrics import Metric
from textveil.lab.metrics.classifiers import Classifier
from textveil.testing import lab
from textveil.testing.checks import run_check


class Guess(Classifier):
    """Learns nothing, and draws from the numbers of everybody."""

    name = "guess"

    def fit(self, texts, rows, classes, *, seed, progress=None):
        random.random()
        return self

    def predict(self, texts, rows):
        return np.zeros(len(rows), dtype=np.int64)


def test_breaches_of_classifiers_are_found():
    with pytest.raises(ContractError, match="does not"):
        run_check(Guess(), lab.check_it_learns, Guess())
    with pytest.raises(ContractError, match="global random state"):
        run_check(Guess(), lab.check_global_randomness_is_restored, Guess())
    run_check(Guess(), lab.check_any_text_gets_a_class, Guess())


class Indiscreet(Metric):
    """Quotes a text, and ends no sentence."""

    name = "indiscreet"
    after = ("no_such_metric",)

    def measure(self, case):
        return self.report(" ".join(case.originals), {"size": len(case.originals)})


def test_texts_are_predictable():
    texts, labels, authors = lab.make_rows(8)
    assert (len(texts), set(labels), set(authors)) == (8, {"good", "bad"}, {"anna", "ben"})
    assert texts == lab.make_rows(8)[0]


def test_breaches_of_metrics_are_found(case):
    metric = Indiscreet()
    with pytest.raises(ContractError, match="`after` a metric"):
        run_check(metric, lab.check_its_place_and_identity, metric)
    Indiscreet.after = ()
    with pytest.raises(ContractError, match="quotes a text"):
        run_check(metric, lab.check_a_measurement_is_the_same_twice, metric, case)
    with pytest.raises(ContractError, match="not a finite float"):
        run_check(metric, lab.check_a_measurement_is_complete, metric, case)


@pytest.fixture(scope="module")
def case():
    return lab.build_case()
