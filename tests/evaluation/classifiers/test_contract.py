"""The contract of all classifiers. A new classifier is tested as soon as it is registered."""

import numpy as np
import pytest

from tests.evaluation.conftest import make_rows
from textveil.errors import ParameterError
from textveil.evaluation.classifiers import CLASSIFIERS
from textveil.evaluation.dataset import Classes
from textveil.evaluation.texts import Texts

TEXTS, _, AUTHORS = make_rows(40)
CLASSES = Classes.of(AUTHORS, range(40), "author")


@pytest.fixture(params=list(CLASSIFIERS), scope="module")
def classifier(request, make_encoder):
    options = {"model": make_encoder(), "learning_rate": 0.01, "epochs": 20} if request.param == "transformer" else {}
    return CLASSIFIERS.load(request.param)(**options)


def fit_and_predict(classifier, texts, seed=42):
    split = CLASSES.split(seed)
    fitted = classifier.fit(texts, split.train, CLASSES, seed=seed)
    return fitted.predict(texts, split.test), CLASSES.codes[split.test], fitted


def test_it_learns(classifier):
    predicted, true, fitted = fit_and_predict(classifier, Texts(TEXTS))
    assert np.mean(predicted == true) > 0.5
    everyone = fitted.predict(Texts(TEXTS[::-1]), np.arange(40))
    assert np.mean(everyone == CLASSES.codes[::-1]) > 0.9


def test_it_says_whether_it_gives_probabilities(classifier):
    _, _, fitted = fit_and_predict(classifier, Texts(TEXTS))
    assert hasattr(fitted, "weigh_classes") is classifier.gives_probabilities


def test_the_same_texts_and_seed_give_the_same_predictions(classifier):
    mixed = Texts([text[:12] for text in TEXTS])
    first, _, fitted = fit_and_predict(classifier, mixed)
    second, _, _ = fit_and_predict(classifier, Texts(list(mixed)))
    assert first.tolist() == second.tolist()
    rows = np.array([3, 1, 0, 2])
    assert fitted.predict(mixed, rows).tolist() == fitted.predict(mixed, np.arange(4))[rows].tolist()


def test_empty_and_unknown_texts_get_a_class(classifier):
    _, _, fitted = fit_and_predict(classifier, Texts(TEXTS))
    predicted = fitted.predict(Texts(["", "東京", "\ud800"]), np.arange(3))
    assert predicted.shape == (3,)
    assert set(predicted.tolist()) <= {0, 1}


def test_the_description_and_the_versions(classifier):
    assert CLASSIFIERS.load(classifier.name) is type(classifier)
    assert classifier.description.startswith(classifier.name)
    assert classifier.versions
    assert all(version[0].isdigit() for version in classifier.versions.values())


def test_global_randomness_is_restored(classifier):
    import random

    import torch

    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    fit_and_predict(classifier, Texts(TEXTS))
    assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == before


def test_an_unknown_option(classifier):
    with pytest.raises(ParameterError, match="color"):
        type(classifier)(color="red")
