"""The estimated time of a study."""

from __future__ import annotations

import pytest

from textveil.experiments import estimate as estimate_module
from textveil.experiments.estimate import Timings, estimate


def test_times_are_scaled_by_texts():
    timings = Timings()
    timings.add("obfuscation", 10.0, 100)
    timings.add("obfuscation", 30.0, 100)
    timings.add("downstream", 5.0, 50)
    assert timings.sum(["obfuscation", "downstream", "unknown"], 1000) == pytest.approx(1000 * (0.2 + 0.1))
    assert timings.knows(["downstream"])
    assert not timings.knows(["downstream", "unknown"])


def plan(experiment, local):
    with experiment.store.locked():
        return experiment.plan(local)


def test_a_trial_is_run_if_no_times_are_known(make_study, local):
    experiment = make_study()
    found = estimate(experiment.runner, plan(experiment, local), workers=2)
    assert found.basis == "a trial with up to 200 texts"
    assert 0 < found.seconds < 60
    assert experiment.find_states()[0].texts is None  # it ran in another folder


def test_the_times_of_finished_cells_give_the_estimate(make_study, local, monkeypatch):
    make_study(levels={"high": 1}).run(local)
    monkeypatch.setattr(estimate_module, "run_trial", lambda _: pytest.fail("all times are known"))
    experiment = make_study(distributions=["uniform"])
    left = plan(experiment, local)
    done = [state for state in left.states if state.finished]
    found = estimate(experiment.runner, left, workers=2)
    assert found.basis == "2 cells with known times"
    assert found.seconds == pytest.approx(sum(state.seconds for state in done) / 2, rel=1e-6)  # two left, two workers


def test_no_transformer_is_trained_for_an_estimate(make_study, make_encoder, local, monkeypatch):
    from textveil.evaluation.classifiers.transformer import Transformer

    trained = {"classifier": "transformer", "classifier_options": {"model": str(make_encoder())}}
    monkeypatch.setattr(Transformer, "fit", lambda *_, **__: pytest.fail("it is trained"))
    experiment = make_study(metrics={"attribute": trained, "downstream": {}})
    found = estimate(experiment.runner, plan(experiment, local), workers=1)
    assert found.basis == "a trial with up to 200 texts and the size of the model that attribute trains"
    (reviews,) = found.forecasts
    assert (reviews.dataset, reviews.cells, reviews.texts) == ("reviews", 8, 38)
    assert reviews.cpu >= reviews.gpu > 0
