import json
from dataclasses import replace

import numpy as np
import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics.classification import (
    Scenario,
    build_classifier,
    majority_f1,
)
from textveil.lab.metrics.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.lab.metrics.dataset import Classes
from textveil.lab.metrics.trade_off import TradeOff


class Recorder(Classifier):
    """Always predicts the first class, and records what it was trained and tested on."""

    name = "recorder"

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


def test_the_training_and_test_texts_of_each_scenario(case):
    recorder = Recorder()
    metric = AttributeInference(classifier=recorder, seeds=[42])
    train, test = map(tuple, case.dataset.attribute.split(42))
    original, obfuscated = case.originals.hash, case.obfuscated.hash
    for scenario, trained, tested in (
        (Scenario.BASELINE, original, original),
        (Scenario.STATIC, original, obfuscated),
        (Scenario.ADAPTIVE, obfuscated, obfuscated),
    ):
        metric.predict(case, scenario)
        assert recorder.fitted[-1] == (trained, train, 42)
        assert recorder.tested[-1] == (tested, test)
    assert len(recorder.fitted) == 2  # the static attacker is the baseline's


def test_a_fixed_split_is_the_same_for_all_seeds_and_that_of_the_paper(case):
    recorder = Recorder()
    metric = AttributeInference(classifier=recorder, seeds=[43, 44], split="fixed")
    fixed = metric.measure(case)
    classes = case.dataset.attribute
    train, test = map(tuple, classes.split(42))
    assert {rows for _, rows, _ in recorder.fitted} == {train}
    assert {seed for _, _, seed in recorder.fitted} == {43, 44}
    assert {rows for _, rows in recorder.tested} == {test}
    assert fixed.values["majority"] == majority_f1(classes, [42])
    assert "fixed split" in metric.description
    trained = len(recorder.fitted)
    AttributeInference(classifier=recorder, seeds=[43, 44]).measure(case)
    assert len(recorder.fitted) == 2 * trained  # scores of the other split are not taken for these
    with pytest.raises(UnknownNameError, match="Choose from: fixed, folds, per_seed"):
        AttributeInference(split="random")


def test_in_a_cross_validation_every_text_is_tested_once_by_a_classifier_that_has_not_seen_it(case):
    recorder = Recorder()
    metric = AttributeInference(classifier=recorder, seeds=[42], split="folds")
    found = metric.predict(case, Scenario.ADAPTIVE)
    texts = len(case.originals)
    assert (found.texts, len(found.predicted[0])) == (texts, texts)
    assert sorted(row for _, rows in recorder.tested for row in rows) == list(range(texts))
    assert len(recorder.fitted) == 10
    for (_, train, _), (_, test) in zip(recorder.fitted, recorder.tested, strict=True):
        assert sorted({*train, *test}) == list(range(texts))
        assert not set(train) & set(test)
    assert "cross-validated" in metric.description


def test_cached_scores_are_not_computed_again(case, obfuscations):
    recorder = Recorder()
    metric = AttributeInference(classifier=recorder, seeds=[42, 43])
    first = metric.measure(case)
    assert (len(recorder.fitted), len(recorder.tested)) == (4, 6)
    assert metric.measure(case) == first
    assert (len(recorder.fitted), len(recorder.tested)) == (4, 6)
    # Another obfuscation needs no new baseline and no new static attacker, but a new adaptive one.
    other = replace(case, obfuscated=case.dataset.pair([f"{result.text} more" for result in obfuscations]))
    metric.measure(other)
    assert (len(recorder.fitted), len(recorder.tested)) == (6, 10)
    more = AttributeInference(classifier=recorder, seeds=[42, 43, 44])
    more.measure(case)
    assert [seed for _, _, seed in recorder.fitted[6:]] == [44, 44]


def test_scores_are_cached_in_a_folder(rows, tmp_path):
    from textveil.lab.metrics import Dataset
    from textveil.lab.metrics.base import Case

    def measure(recorder):
        dataset = Dataset(rows[0], attribute=rows[2], folder=tmp_path)
        return AttributeInference(classifier=recorder).measure(Case(dataset, dataset.pair(rows[0][::-1])))

    first = measure(Recorder())
    again = Recorder()
    assert measure(again).values == first.values
    assert again.fitted == []


def test_the_majority_baseline_by_hand():
    classes = Classes.of(["a"] * 30 + ["b"] * 10, range(40), "author")
    # Three of four test texts have class a: precision 3/4, recall 1.
    assert majority_f1(classes, [42, 43]) == pytest.approx((2 * 3 / (2 * 3 + 1)) / 2)


def test_predictions_are_cached_for_every_test_text(case):
    metric = AttributeInference(classifier=Recorder(), seeds=[42, 43])
    found = metric.predict(case, Scenario.ADAPTIVE)
    tests = [case.dataset.attribute.split(seed).test for seed in (42, 43)]
    assert [predicted.tolist() for predicted in found.predicted] == [[0] * len(test) for test in tests]
    for test, tested in zip(tests, found.tested, strict=True):
        assert found.true[tested].tolist() == case.dataset.attribute.codes[test].tolist()
    assert found.texts == len(set(np.concatenate(tests).tolist()))
    assert metric.predict(case, Scenario.ADAPTIVE).by_seed == [pytest.approx(1 / 3)] * 2


def test_metrics_that_name_a_classifier_share_it():
    assert build_classifier("linear") is build_classifier("linear")
    assert build_classifier("linear") is not CLASSIFIERS.load("linear")()


@pytest.mark.parametrize("seeds", [[], [True], [-1], ["42"], [1.5], "42", 42, None])
def test_wrong_seeds(seeds):
    with pytest.raises(ParameterError, match="`seeds` must be a list of at least one non-negative integer"):
        AttributeInference(classifier=Recorder(), seeds=seeds)


def test_wrong_classifiers():
    with pytest.raises(UnknownNameError, match="Did you mean 'linear'"):
        AttributeInference(classifier="linaer")
    with pytest.raises(ParameterError, match="`classifier_options` go with the name"):
        AttributeInference(classifier=Recorder(), classifier_options={"model": "x"})
    with pytest.raises(ParameterError, match="'linear' has no options. Got `model`"):
        AttributeInference(classifier="linear", classifier_options={"model": "x"})
    with pytest.raises(UnknownNameError, match="Did you mean 'epochs'"):
        AttributeInference(classifier="transformer", classifier_options={"epoch": 2})
    with pytest.raises(ParameterError, match="`classifier_options` must be a mapping"):
        AttributeInference(classifier_options=["model"])
    with pytest.raises(ParameterError, match="must be a classifier. Got the metric 'trade_off'"):
        AttributeInference(classifier=TradeOff())


def test_the_record_has_everything_that_changes_values(make_encoder):
    folder = make_encoder()
    one = AttributeInference(classifier="transformer", classifier_options={"model": folder})
    two = AttributeInference(classifier="transformer", classifier_options={"model": folder, "epochs": 2})
    assert one.identity != two.identity
    assert one.identity != AttributeInference().identity
    assert AttributeInference(seeds=[42]).identity != AttributeInference(seeds=[43]).identity
    assert AttributeInference(seeds=[42]).identity == AttributeInference(seeds=(42,)).identity
    assert AttributeInference().identity != AttributeInference(split="fixed").identity
    assert json.loads(json.dumps(two.as_dict()))["classifier"]["options"]["epochs"] == 2
    assert str(folder) not in json.dumps(two.as_dict())
