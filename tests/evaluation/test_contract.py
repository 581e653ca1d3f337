"""The contract of all metrics. A new metric is tested as soon as it is registered."""

import json
from dataclasses import replace

import pytest

from textveil.errors import ParameterError, ResourceError
from textveil.evaluation import METRICS
from textveil.evaluation.base import Need


@pytest.fixture(params=list(METRICS), scope="module")
def metric(request, make_language_model, make_encoder):
    options = {"perplexity": {"model": make_language_model()}}
    if request.param in ("linkage", "token_similarity"):  # similarity has the real encoder
        options[request.param] = {"model": make_encoder()}
    try:
        return METRICS.load(request.param)(**options.get(request.param, {}))
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture
def whole(metric, case):
    """A case with the measurements that the metric is computed from."""
    measured = {name: METRICS.load(name)().measure(case) for name in metric.after}
    return replace(case, measured=measured)


def test_the_name_is_the_registered_one(metric):
    assert METRICS.load(metric.name) is type(metric)
    assert all(name in METRICS for name in metric.after)
    assert all(isinstance(need, Need) for need in metric.needs)


def test_its_record_has_everything_that_values_depend_on(metric):
    assert metric.description.startswith(metric.name)
    assert all(version[0].isdigit() for version in metric.versions.values())
    assert metric.identity["method"] == metric.as_dict()
    assert set(metric.identity["versions"]) == {"textveil", *metric.versions}


def test_a_measurement(metric, whole):
    found = metric.measure(whole)
    assert (found.metric, found.description) == (metric.name, metric.description)
    assert found.values or found.caveats  # without values, it says why
    assert set(found.intervals) <= set(found.values)
    assert all(low <= high for low, high in found.intervals.values())
    assert all(type(value) is float and value == value for value in found.values.values())  # noqa: PLR0124
    assert found.line.endswith(".")
    assert found.line[0].isupper() or found.line[0].isdigit() or found.line[0] in "+-"
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["values"] == dict(found.values)


def test_the_same_twice(metric, whole):
    assert metric.measure(whole).as_dict() == metric.measure(whole).as_dict()


def test_no_text_is_quoted(metric, whole):
    found = json.dumps(metric.measure(whole).as_dict()).lower()
    for word in ("waiter", "pistons", "maria", "london"):
        assert word not in found


def test_a_missing_requirement_is_named(metric, case):
    bare = replace(case, certificate=None, obfuscations=None)
    if Need.CERTIFICATE in metric.needs or Need.CHUNKS in metric.needs:
        assert bare.lacks(metric).endswith(
            "(`certificate`)." if Need.CERTIFICATE in metric.needs else "(`obfuscations`)."
        )
    assert (case.lacks(metric) is None) == (not metric.after)


def test_an_unknown_option(metric):
    with pytest.raises(ParameterError, match="color"):
        type(metric)(color="red")


@pytest.mark.parametrize(
    ("alias", "name"),
    [("pi", "identifiers"), ("cosine", "similarity"), ("relative_gain", "trade_off"), ("attackers", "attribute")],
)
def test_other_names(alias, name):
    assert METRICS.load(alias) is METRICS.load(name)
