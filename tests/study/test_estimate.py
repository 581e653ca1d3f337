"""The estimated time of a study."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from textveil.lab.study import estimate as estimate_module
from textveil.lab.study.cell_runner import CellRunner
from textveil.lab.study.estimate import count_read, estimate

REVIEWS = "reviews"


def plan(experiment, local):
    with experiment.store.locked():
        return experiment.plan(local)


def test_a_trial_is_run_if_no_times_are_known(make_study, local):
    experiment = make_study()
    found = estimate(experiment.runner, plan(experiment, local), workers=2)
    assert found.basis == "a trial with up to 100 texts of every data set"
    assert 0 < found.low <= found.seconds <= found.high < 60
    assert experiment.find_states()[0].texts is None  # it ran in another folder


def test_the_trial_tries_every_data_set_and_mechanism(make_study, values, local, monkeypatch):
    """One cell of the first data set said 2 minutes of a study that took 25."""
    tried, run = [], CellRunner.run
    monkeypatch.setattr(CellRunner, "run", lambda self, cell, *_, **__: tried.append(cell) or run(self, cell, *_, **__))
    datasets = dict.fromkeys(("reviews", "more"), values["datasets"]["reviews"])
    experiment = make_study(datasets=datasets, mechanisms=["madlib", "exponential"])
    estimate(experiment.runner, plan(experiment, local), workers=1)
    assert len({(cell.dataset, cell.mechanism) for cell in tried}) == 4


def test_the_times_of_finished_cells_give_the_estimate(make_study, local, monkeypatch):
    make_study(levels={"high": 1}).run(local)
    monkeypatch.setattr(estimate_module, "run_trial", lambda *_: pytest.fail("all times are known"))
    experiment = make_study(distributions=["uniform"])
    left = plan(experiment, local)
    done = [state for state in left.states if state.finished]
    found = estimate(experiment.runner, left, workers=2)
    assert found.basis == "2 cells with known times"
    assert found.seconds == pytest.approx(sum(state.seconds for state in done) / 2, rel=1e-6)  # two left, two workers


def test_a_metric_reads_its_sample(make_study):
    study = make_study(metrics={"perplexity": {"sample": 200}, "inversion": {}, "clear_text": {}}).study
    info = SimpleNamespace(texts=600, average_length=100.0)
    read = {name: count_read(study, name, info) for name in study.metrics}
    assert read == {"perplexity": 200, "inversion": 40, "clear_text": 600}  # 40 texts have 2,000 chunks


def test_a_transformer_is_trained_with_few_texts(make_study, make_encoder, local, monkeypatch):
    from textveil.lab.metrics.classifiers.transformer import Transformer

    trained = {"classifier": "transformer", "classifier_options": {"model": str(make_encoder())}}
    numbers = []
    monkeypatch.setattr(
        Transformer, "fit", lambda _, __, rows, *___, **____: numbers.append(len(rows)) or time.sleep(0.01 * len(rows))
    )
    experiment = make_study(metrics={"attribute": trained, "downstream": {}})
    found = estimate(experiment.runner, plan(experiment, local), workers=1)
    assert numbers == [8, 8, 24]
    assert found.low > 0.01 * 9 * 38  # of eight cells and the originals
