"""How long a study will take."""

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


def test_a_small_cell_is_timed_where_none_has_been(make_study, local):
    experiment = make_study()
    found = estimate(experiment.runner, plan(experiment, local), workers=2)
    assert "timed now" in found.basis
    assert 0 < found.seconds < 60
    assert experiment.look()[0].texts is None  # it was done elsewhere


def test_cells_that_were_done_tell_how_long_the_others_take(make_study, local, monkeypatch):
    make_study(levels={"high": 1}).run(local)
    monkeypatch.setattr(estimate_module, "time_small_cell", lambda _: pytest.fail("there are times already"))
    experiment = make_study(distributions=["uniform"])
    left = plan(experiment, local)
    done = [state for state in left.states if state.finished]
    found = estimate(experiment.runner, left, workers=2)
    assert found.basis == "2 cells that were timed"
    assert found.seconds == pytest.approx(sum(state.seconds for state in done) / 2, rel=1e-6)  # two left, two workers
