"""Options in a study file: those that a class declares."""

from __future__ import annotations

import pytest

from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS
from textveil.errors import ParameterError, UnknownNameError
from textveil.evaluation import CLASSIFIERS, METRICS
from textveil.experiments.options import check_options, find_undescribed, list_options
from textveil.registry import Method, Option


@pytest.mark.parametrize(
    ("registry", "name", "options"),
    [
        (DECOMPOSERS, "pos", {"tagger"}),
        (DISTRIBUTORS, "uniform", set()),
        (DISTRIBUTORS, "gradients", {"batch_size", "device", "model", "steps"}),
        (METRICS, "perplexity", {"batch_size", "device", "model", "sample", "tokens"}),
        (METRICS, "attribute", {"classifier", "classifier_options", "seeds"}),
        (METRICS, "trade_off", set()),
        (CLASSIFIERS, "linear", set()),
    ],
)
def test_options_of_methods_and_metrics(registry, name, options):
    assert set(list_options(registry.load(name))) == options


def test_an_unknown_option_is_refused():
    check_options(METRICS.load("perplexity"), {"sample": 3})
    with pytest.raises(UnknownNameError, match="Did you mean 'tokens'"):
        check_options(METRICS.load("perplexity"), {"token": 3})
    with pytest.raises(UnknownNameError, match="Did you mean 'steps'"):
        check_options(DISTRIBUTORS.load("gradients"), {"step": 3})
    with pytest.raises(ParameterError, match="'linear' has no options"):
        check_options(CLASSIFIERS.load("linear"), {"model": "x"})


def test_a_value_of_the_wrong_kind_is_refused():
    with pytest.raises(ParameterError, match="must be a whole number"):
        check_options(DISTRIBUTORS.load("gradients"), {"steps": "many"})


class Declared(Method):
    kind, name = "metric", "declared"
    options = (Option("sample", int, 9, ""), Option("batch_size", int, 2, "", changes_results=False))


class Undeclared(Method):
    kind, name = "metric", "undeclared"

    def __init__(self, *, sample: int = 9, batch_size: int = 2) -> None:
        super().__init__()


def test_a_description_states_declared_options():
    given = {"sample": 3, "batch_size": 1}
    assert Declared(**given).description == "declared (sample 3)"
    assert find_undescribed(Declared, given) == {}
    assert find_undescribed(Undeclared, given) == {"sample": 3}


def test_options_that_a_metric_describes_in_its_own_words_are_not_repeated():
    given = {"classifier": "linear", "classifier_options": {}, "seeds": [1]}
    assert find_undescribed(METRICS.load("attribute"), given) == {}
