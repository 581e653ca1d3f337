"""Options are what constructors take."""

from __future__ import annotations

import pytest

from textveil.distribution import DISTRIBUTORS
from textveil.errors import UnknownNameError
from textveil.evaluation import CLASSIFIERS, METRICS
from textveil.experiments.options import check_options, list_options


@pytest.mark.parametrize(
    ("registry", "name", "options"),
    [
        (DISTRIBUTORS, "uniform", ()),
        (DISTRIBUTORS, "attention", ("batch_size", "device", "model")),
        (METRICS, "perplexity", ("batch_size", "device", "model", "sample", "tokens")),
        (METRICS, "attribute", ("classifier", "classifier_options", "seeds")),
        (METRICS, "trade_off", ()),
        (CLASSIFIERS, "linear", ()),
    ],
)
def test_options_are_those_of_the_constructors(registry, name, options):
    assert list_options(registry.load(name)) == options


def test_an_unknown_option_is_refused():
    check_options(METRICS.load("perplexity"), "perplexity", {"sample": 3})
    with pytest.raises(UnknownNameError, match="Did you mean 'tokens'"):
        check_options(METRICS.load("perplexity"), "perplexity", {"token": 3})
