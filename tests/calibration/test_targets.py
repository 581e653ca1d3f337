import math

import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.lab.calibration.calibration import TARGETS, check_targets, parse_targets
from textveil.lab.metrics import METRICS

from ..metrics.making import make_measurement


def test_every_target_is_measured_by_a_metric_that_exists():
    for target in TARGETS.values():
        assert target.metric is None or target.metric in METRICS


def test_an_unknown_target_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="no target 'unchangd'. Did you mean 'unchanged'?"):
        check_targets({"unchangd": 0.2})


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, math.nan, math.inf, True, "0.2"])
def test_a_share_must_lie_between_0_and_1(level):
    with pytest.raises(ParameterError, match="inversion must be between 0 and 1"):
        check_targets({"inversion": level})


def test_a_log_ratio_may_be_any_positive_number():
    assert check_targets({"log_ratio": 10}) == {TARGETS["log-ratio"]: 10.0}
    for level in (0, math.inf, math.nan):
        with pytest.raises(ParameterError, match="log-ratio must be positive and finite"):
            check_targets({"log-ratio": level})


def test_a_target_is_missing():
    with pytest.raises(ParameterError, match="A target is missing"):
        check_targets({})


@pytest.mark.parametrize("word", ["unchanged", "unchanged=", "=0.2", "unchanged=much", "unchanged=nan"])
def test_a_target_is_a_name_and_a_number(word):
    with pytest.raises(ParameterError):
        check_targets(parse_targets([word]))


def test_a_target_is_given_once():
    with pytest.raises(ParameterError, match="unchanged-content was given twice"):
        parse_targets(["unchanged-content=0.2", "unchanged_content=0.3"])


def test_the_unsafe_end_of_the_interval_is_read():
    assert TARGETS["similarity"].read(make_measurement("similarity", cosine=(0.5, 0.4, 0.6))) == (0.5, 0.4)
    assert TARGETS["unchanged"].read(make_measurement("overlap", unchanged=(0.5, 0.4, 0.6))) == (0.5, 0.6)


def test_the_stronger_of_two_attackers_counts():
    found = make_measurement("inversion", top_1=(0.2, 0.1, 0.35), decoded=(0.3, 0.25, 0.34))
    assert TARGETS["inversion"].read(found) == (0.3, 0.35)
    assert TARGETS["inversion"].read(make_measurement("inversion", top_1=(0.2, 0.1, 0.3))) == (0.2, 0.3)


def test_without_an_interval_there_is_no_end():
    assert TARGETS["unchanged"].read(make_measurement("overlap", unchanged=0.5)) == (0.5, None)
