import numpy as np
import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.classifiers import CLASSIFIERS, Classifier, Fitted
from textveil.lab.metrics.classifiers.base import Classifier as Base
from textveil.registry import Option


class First(Classifier):
    """Predicts the class with a fixed number."""

    name = "first"
    cached = 2
    options = (Option("number", int, 0, "The number of the class.", least=0),)

    def __init__(self, **options):
        super().__init__(**options)
        self.runs = 0

    def fit(self, texts, rows, classes, *, seed, progress=None):
        self.runs += 1
        number = self.number

        class Constant(Fitted):
            def predict(self, texts, rows):
                return np.full(len(rows), number)

        return Constant()


def test_a_classifier_has_to_fit_and_to_predict():
    assert Classifier is Base
    with pytest.raises(TypeError, match="abstract.*fit"):
        Classifier()
    with pytest.raises(TypeError, match="abstract.*predict"):
        Fitted()


def test_options_are_checked():
    assert First(number=1).as_dict() == {"name": "first", "options": {"number": 1}, "model": None}
    assert First(number=1).description == "first (number 1)"
    with pytest.raises(UnknownNameError, match="option of the classifier 'first' 'numbr'. Did you mean 'number'"):
        First(numbr=1)
    with pytest.raises(ParameterError, match="`number` of first must be a whole number of at least 0"):
        First(number=-1)


def test_the_number_of_cached_classifiers_is_respected():
    dataset = Dataset(["a", "b", "c", "d"], attribute=["x", "y"] * 2)
    classifier = First()
    for _ in range(2):  # three seeds do not fit into a cache of two
        metric = AttributeInference(classifier=classifier)
        metric.measure(Case(dataset, dataset.pair(["1", "2", "3", "4"])))
        metric.measure(Case(dataset, dataset.pair(["5", "6", "7", "8"])))
        dataset = Dataset(["a", "b", "c", "e"], attribute=["x", "y"] * 2)
    # Baseline: 3 runs. First obfuscation: 3 static and 3 adaptive. Second: 3 static and 3 adaptive.
    assert classifier.runs == 2 * (3 + 3 + 3 + 3 + 3)


def test_classifiers_declare_what_they_cache():
    expected = {"linear": 12, "transformer": 3, "stylometry": 12}
    assert {name: CLASSIFIERS.load(name).cached for name in CLASSIFIERS} == expected
    assert all(CLASSIFIERS.load(name).kind == CLASSIFIERS.kind == "classifier" for name in CLASSIFIERS)
