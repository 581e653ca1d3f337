from dataclasses import replace

import numpy as np
import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.evaluation.attribute import AttributeInference
from textveil.evaluation.classification import Scenario, guess_f1, macro_f1, make_classifier, summarise
from textveil.evaluation.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.evaluation.dataset import Classes


class Noting(Classifier):
    """Always says the first class, and notes what it was trained and tested on."""

    name = "noting"

    def __init__(self):
        super().__init__()
        self.fitted = []
        self.tested = []

    @property
    def versions(self):
        return {"package": "1"}

    def fit(self, texts, rows, classes, *, seed, progress=None):
        self.fitted.append((texts.hash, tuple(rows), seed))
        outer = self

        class Always(Fitted):
            def predict(self, texts, rows):
                outer.tested.append((texts.hash, tuple(rows)))
                return np.zeros(len(rows), dtype=int)

        return Always()


def test_who_trains_and_tests_on_what(case):
    noting = Noting()
    metric = AttributeInference(classifier=noting, seeds=[42])
    train, test = map(tuple, case.dataset.attribute.split(42))
    original, obfuscated = case.originals.hash, case.obfuscated.hash
    for scenario, trained, tested in (
        (Scenario.BASELINE, original, original),
        (Scenario.STATIC, original, obfuscated),
        (Scenario.ADAPTIVE, obfuscated, obfuscated),
    ):
        metric.score(case, scenario)
        assert noting.fitted[-1] == (trained, train, 42)
        assert noting.tested[-1] == (tested, test)
    assert len(noting.fitted) == 2  # the static attacker is the baseline's


def test_what_is_known_is_not_worked_out_again(case, obfuscations):
    noting = Noting()
    metric = AttributeInference(classifier=noting, seeds=[42, 43])
    first = metric.measure(case)
    assert (len(noting.fitted), len(noting.tested)) == (4, 6)
    assert metric.measure(case) == first
    assert (len(noting.fitted), len(noting.tested)) == (4, 6)
    # Another obfuscation needs no new baseline and no new static attacker, but a new adaptive one.
    other = replace(case, obfuscated=case.dataset.pair([f"{result.text} more" for result in obfuscations]))
    metric.measure(other)
    assert (len(noting.fitted), len(noting.tested)) == (6, 10)
    more = AttributeInference(classifier=noting, seeds=[42, 43, 44])
    more.measure(case)
    assert [seed for _, _, seed in noting.fitted[6:]] == [44, 44]


def test_scores_are_kept_in_a_folder(rows, tmp_path):
    from textveil.evaluation import Dataset
    from textveil.evaluation.base import Case

    def measure(noting):
        dataset = Dataset(rows[0], attribute=rows[2], folder=tmp_path)
        return AttributeInference(classifier=noting).measure(Case(dataset, dataset.pair(rows[0][::-1])))

    first = measure(Noting())
    again = Noting()
    assert measure(again).values == first.values
    assert again.fitted == []


def test_macro_f1_by_hand():
    # Class 0: precision 1/2, recall 1; class 1: 1, 1/2; class 2 is never right.
    assert macro_f1([0, 1, 1, 2], [0, 0, 1, 0], 3) == pytest.approx((2 / 4 + 2 / 3 + 0) / 3)
    assert macro_f1([0, 1], [0, 1], 2) == 1


def test_guessing_by_hand():
    classes = Classes.of(["a"] * 30 + ["b"] * 10, range(40), "author")
    # Of four texts that are tested three are of class a: precision 3/4, recall 1.
    assert guess_f1(classes, [42, 43]) == pytest.approx((2 * 3 / (2 * 3 + 1)) / 2)


def test_mean_and_standard_deviation():
    assert summarise({"f1": [0.5, 0.7]}) == {"f1": pytest.approx(0.6), "f1_std": pytest.approx(0.1)}


def test_metrics_that_name_a_classifier_share_it():
    assert make_classifier("linear", {}) is make_classifier("linear", {})
    assert make_classifier("linear", {}) is not CLASSIFIERS.load("linear")()


@pytest.mark.parametrize("seeds", [[], [True], [-1], ["42"], [1.5]])
def test_wrong_seeds(seeds):
    with pytest.raises(ParameterError, match="seeds must be whole numbers"):
        AttributeInference(classifier=Noting(), seeds=seeds)


def test_wrong_classifiers():
    with pytest.raises(UnknownNameError, match="Did you mean 'linear'"):
        AttributeInference(classifier="linaer")
    with pytest.raises(ParameterError, match="made already"):
        AttributeInference(classifier=Noting(), classifier_options={"model": "x"})
    with pytest.raises(TypeError):
        AttributeInference(classifier="linear", classifier_options={"model": "x"})
