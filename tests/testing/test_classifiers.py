import random

import numpy as np
import pytest

from textveil.errors import ContractError
from textveil.lab.metrics.classifiers import Classifier
from textveil.testing import classifiers


class Guess(Classifier):
    """Learns nothing, and draws from the numbers of everybody."""

    name = "guess"

    def fit(self, texts, rows, classes, *, seed, progress=None):
        random.random()
        return self

    def predict(self, texts, rows):
        return np.zeros(len(rows), dtype=np.int64)


def test_breaches_are_found():
    with pytest.raises(ContractError, match="does not"):
        classifiers.check_it_learns(Guess())
    with pytest.raises(ContractError, match="global random state"):
        classifiers.check_global_randomness_is_restored(Guess())
    classifiers.check_any_text_gets_a_class(Guess())
