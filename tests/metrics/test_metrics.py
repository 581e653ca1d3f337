import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers.linear import Linear
from textveil.lab.metrics.clear_text import ClearText

NAMES = [
    "identifiers", "attribute", "downstream", "similarity", "perplexity", "clear_text", "inversion", "overlap",
    "token_similarity", "linkage", "stylometry", "membership", "trade_off",
]  # fmt: skip


def test_the_names_and_their_order():
    assert list(METRICS) == NAMES
    assert [METRICS.load(name).name for name in METRICS] == NAMES


def test_metrics_that_others_are_computed_from_come_first():
    for name in METRICS:
        assert all(NAMES.index(other) < NAMES.index(name) for other in METRICS.load(name).after)


def test_a_metric_by_name_or_instance():
    built = ClearText(words=3)
    assert METRICS.choose("clear_text") is ClearText
    assert METRICS.choose(built) is built
    assert METRICS.build(METRICS.choose("clear_text"), words=2).words == 2
    with pytest.raises(ParameterError, match="must be a metric. Got the classifier 'linear'"):
        METRICS.choose(Linear())


def test_an_unknown_metric():
    with pytest.raises(UnknownNameError, match="no metric 'inversoin'. Did you mean 'inversion'"):
        METRICS.load("inversoin")
