"""The contract of all classifiers. A new classifier is tested as soon as it is registered."""

import pytest

from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.testing.lab import build_classes, fit_and_predict, list_classifier_checks


@pytest.fixture(params=list(CLASSIFIERS), scope="module")
def name(request):
    return request.param


@pytest.fixture(scope="module")
def options(name, make_encoder):
    return {"model": make_encoder(), "learning_rate": 0.01, "epochs": 20} if name == "transformer" else {}


def test_the_whole_contract(name, options):
    for check in list_classifier_checks(CLASSIFIERS.load(name), **options):
        check()


def test_its_software_is_recorded(name, options):
    classifier = CLASSIFIERS.load(name)(**options)
    assert classifier.name == name
    assert classifier.versions


def test_the_randomness_of_torch_is_restored(name, options):
    import torch

    before = torch.get_rng_state().tolist()
    fit_and_predict(CLASSIFIERS.load(name)(**options), build_classes()[0])
    assert torch.get_rng_state().tolist() == before
