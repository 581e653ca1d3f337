"""What a process keeps loaded, and what values are found by."""

from __future__ import annotations

import pytest

from textveil.errors import StudyError
from textveil.evaluation import METRICS
from textveil.experiments.cell_runner import describe


def keys(experiment):
    with experiment.store.locked():
        return experiment.runner.find_keys(experiment.prepare()["reviews"])


def test_values_are_found_by_all_that_they_depend_on(make_study, values):
    metrics = {"downstream": {}, "attribute": {}, "clear_text": {}}
    first = keys(make_study(metrics=metrics))
    assert set(first) == set(metrics)
    seeds = keys(make_study(metrics=metrics, seeds=[1]))
    assert (seeds["clear_text"], seeds["downstream"] != first["downstream"]) == (first["clear_text"], True)
    other = {"reviews": {**values["datasets"]["reviews"], "attribute": "stars"}}
    attribute = keys(make_study(metrics=metrics, datasets=other))
    assert (attribute["downstream"], attribute["attribute"] != first["attribute"]) == (first["downstream"], True)
    assert keys(make_study(metrics={"clear_text": {"words": 3}}))["clear_text"] != first["clear_text"]


def test_a_trade_off_is_found_by_what_it_is_worked_out_from(make_study, monkeypatch):
    monkeypatch.setattr(METRICS.load("trade_off"), "after", ("downstream",))
    metrics = {"downstream": {}, "trade_off": {}}
    first, second = (keys(make_study(metrics=metrics, seeds=seeds)) for seeds in ([1], [2]))
    assert first["trade_off"] != second["trade_off"]


def test_metrics_that_are_worked_out_from_others_come_last(make_study, monkeypatch):
    monkeypatch.setattr(METRICS.load("clear_text"), "after", ("downstream",))
    runner = make_study(metrics={"clear_text": {}, "downstream": {}}).runner
    assert list(runner.metrics) == ["downstream", "clear_text"]


def test_an_option_of_the_wrong_kind_is_said_before_anything_is_run(make_study, local):
    experiment = make_study(metrics={"inversion": {"sample": "many"}})
    with pytest.raises(StudyError, match="'inversion' does not take these options: .*sample: 'many'"):
        experiment.run(local)


def test_what_depends_on_nothing_keeps_no_scores(make_study):
    runner = make_study().runner
    assert runner.distributor("uniform").data_independent
    assert runner.distributor("yake") is runner.distributor("yake")
    assert set(runner.environment.methods) == {"words", "uniform", "yake"}
    assert "yake" in runner.environment.methods["yake"]


def test_an_unexpected_error_does_not_say_what_it_quotes():
    try:
        raise KeyError("some secret text")
    except KeyError as error:
        said = describe(error)
    assert said.startswith("a KeyError in test_bench.py, line ")
    assert "secret" not in said
