"""Levels with the same meaning for all methods."""

from __future__ import annotations

import pytest

from textveil.errors import StudyError
from textveil.lab.study import cell_runner as levels
from textveil.lab.study.cell_runner import find_epsilon, find_epsilons
from textveil.lab.study.study import CalibratedLevel, Study
from textveil.methods.mechanisms.returns import draw_entries, measure_returns
from textveil.obfuscator import Obfuscator


@pytest.fixture
def study(values):
    def make(**changes):
        return Study.model_validate({**values, **changes})

    return make


def test_words_return_as_often_as_the_level_says(study, tiny):
    wanted = {"low": {"unchanged": 0.6}}
    found = find_epsilons(study(levels=wanted, mechanisms=["madlib", "exponential"]), tiny)["low"]["words"]
    assert found["madlib"] != found["exponential"]
    for name, epsilon in found.items():
        mechanism = Obfuscator(tiny, decomposition="words", mechanism=name).mechanism
        returned = measure_returns(mechanism, epsilon, draw_entries(mechanism, tiny.counts("words")))
        assert returned == pytest.approx(0.6, abs=0.05), name


def test_the_level_of_the_largest_rate_is_the_largest_share(tiny):
    obfuscator = Obfuscator(tiny, decomposition="words")
    assert find_epsilon(CalibratedLevel(unchanged=0.5), obfuscator) == obfuscator.largest_share


def test_a_bound_is_that_of_two_words_at_the_median_distance(study, tiny):
    found = find_epsilons(study(levels={"low": {"bound": 20}}), tiny)
    median = tiny.distance("words")["pairs"]["0.5"]
    assert found == {"low": {"words": {"madlib": pytest.approx(20 / median)}}}


def test_a_bound_is_in_the_space_of_the_guarantee(study, tiny):
    mechanisms = {"madlib": {"dimensions": 2}}
    found = find_epsilons(study(levels={"low": {"bound": 20}}, mechanisms=mechanisms), tiny)
    obfuscator = Obfuscator(tiny, decomposition="words", mechanism_options={"dimensions": 2})
    assert found["low"]["words"]["madlib"] == 20 / obfuscator.terms.distance["pairs"]["0.5"]


def test_plain_numbers_need_no_obfuscator(study, tiny, monkeypatch):
    monkeypatch.setattr(levels, "Obfuscator", None)
    assert find_epsilons(study(), tiny) == {}


def test_levels_that_turn_out_equal_are_refused(study, tiny):
    epsilon = 20 / tiny.distance("words")["pairs"]["0.5"]
    with pytest.raises(StudyError, match=r"With words and madlib, the levels 'one' and 'two' have the same epsilon"):
        find_epsilons(study(levels={"one": epsilon, "two": {"bound": 20}}), tiny)
