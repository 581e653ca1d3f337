"""The contract of all metrics. A new metric is tested as soon as it is registered."""

import pytest

from textveil.errors import ResourceError
from textveil.lab.metrics import METRICS
from textveil.testing.lab import list_metric_checks


@pytest.fixture(params=list(METRICS), scope="module")
def name(request):
    return request.param


@pytest.fixture(scope="module")
def options(name, make_language_model, make_encoder):
    if name == "perplexity":
        return {"model": make_language_model()}
    if name == "inversion":
        return {"sample": 100}  # an attack takes long
    return {"model": make_encoder()} if name in ("linkage", "token_similarity") else {}  # similarity has the real one


@pytest.fixture(scope="module")
def metric(name, options):
    try:
        return METRICS.load(name)(**options)
    except ResourceError as error:
        pytest.skip(str(error))


def test_the_whole_contract(metric, case, options):
    for check in list_metric_checks(type(metric), case, **options):
        check()


def test_the_name_is_the_registered_one(metric):
    assert METRICS.load(metric.name) is type(metric)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("pi", "identifiers"), ("cosine", "similarity"), ("relative_gain", "trade_off"), ("attackers", "attribute")],
)
def test_other_names(alias, name):
    assert METRICS.load(alias) is METRICS.load(name)
