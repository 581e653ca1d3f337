"""The warning of a classifier that has learned too little."""

import pytest

from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.attacks.membership import Membership
from textveil.lab.attacks.stylometry import StylometryInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.classification import find_weakness
from textveil.lab.metrics.classifiers.transformer import Transformer
from textveil.lab.metrics.downstream import Downstream


@pytest.fixture
def hardly_trained(make_encoder):
    return Transformer(model=make_encoder(), learning_rate=1e-9)


@pytest.mark.parametrize(("kind", "column"), [(AttributeInference, "attribute"), (Downstream, "label")])
def test_a_classifier_that_learned_less_than_the_linear_one_is_named(unchanged, hardly_trained, kind, column):
    metric = kind(classifier=hardly_trained, seeds=[42])
    (warning,) = find_weakness(metric, unchanged)
    assert warning.startswith(f"On the originals, the classifier transformer infers the {column} with F1 ")
    assert "the linear one with F1 100.0%" in warning
    assert "Raise `epochs` or `learning_rate`" in warning
    assert warning in metric.measure(unchanged).caveats


def test_no_warning_if_it_learned_as_much(unchanged, make_encoder):
    learned = Transformer(model=make_encoder(), learning_rate=0.01, epochs=20)
    assert find_weakness(AttributeInference(classifier=learned, seeds=[42]), unchanged) == ()
    assert find_weakness(AttributeInference(seeds=[42]), unchanged) == ()


def test_no_warning_if_the_linear_one_cannot_learn(hardly_trained):
    dataset = Dataset(["a", "b", "c", "d"], attribute=["x", "y"] * 2)
    case = Case(dataset, dataset.originals)
    assert find_weakness(AttributeInference(classifier=hardly_trained, seeds=[42]), case) == ()


def test_metrics_whose_values_are_not_those_of_the_classifier_have_no_warning(unchanged):
    assert find_weakness(StylometryInference(seeds=[42]), unchanged) == ()
    assert find_weakness(Membership(seeds=[42]), unchanged) == ()
