"""The time of a study, computed without models."""

from __future__ import annotations

import pytest

from textveil.evaluation.classifiers.transformer import Transformer
from textveil.experiments import forecast as module
from textveil.experiments.forecast import Size, Speed, Work, count_metric, forecast
from textveil.experiments.presets import write_preset
from textveil.experiments.study import load_study

SIZES = {"trustpilot": Size(10_000, 52), "yelp": Size(10_000, 187)}


@pytest.fixture
def paper(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "measure_speed", lambda: Speed(1e11, 2e11))
    monkeypatch.setattr(module, "_count_weights", lambda _: 1e8)
    write_preset("paper", tmp_path / "paper.yaml")
    return load_study(tmp_path / "paper.yaml").study


def test_work_adds_up():
    assert Work(1, 2, 3).plus(Work(1, 1, 1)).times(2) == Work(4, 6, 8)
    assert Speed(2.0, 4.0).time(Work(10, 8, 1)) == 8.0


def test_a_training_by_hand(paper):
    found = count_metric(paper, "downstream", Size(1000, 100))
    tokens = 1000 * 130
    assert found.models == pytest.approx(3 * 1e8 * tokens * (0.9 * 6 + 0.1 * 2))  # three seeds
    longer = {**paper.metrics, "downstream": {"classifier": "transformer", "classifier_options": {"epochs": 4}}}
    again = count_metric(paper.model_copy(update={"metrics": longer}), "downstream", Size(1000, 100))
    assert again.models == pytest.approx(3 * 1e8 * tokens * (0.9 * 6 * 4 + 0.1 * 2))


def test_perplexity_reads_a_part_of_every_text(paper):
    assert count_metric(paper, "perplexity", Size(10, 500)).models == pytest.approx(2e8 * 10 * 32)


def test_every_data_set_has_a_time_on_a_cpu_and_with_a_gpu(paper, monkeypatch):
    monkeypatch.setattr(Transformer, "__init__", lambda *_, **__: pytest.fail("a model is loaded"))
    trustpilot, yelp = forecast(paper, SIZES)
    assert (trustpilot.dataset, trustpilot.cells, trustpilot.texts) == ("trustpilot", 90, 10_000)
    assert yelp.cpu > 3 * trustpilot.cpu
    assert 20 < trustpilot.cpu / trustpilot.gpu <= 100
    assert 24 < trustpilot.cpu / 3600 < 2400  # days to months


def test_only_cells_that_are_left_count(paper):
    trustpilot, yelp = forecast(paper, SIZES, {"trustpilot": 9})
    assert (yelp.cells, yelp.cpu) == (0, 0)
    whole, _ = forecast(paper, SIZES)
    assert trustpilot.cpu < whole.cpu / 2


def test_the_speed_of_this_machine_is_measured():
    found = module.measure_speed()
    assert 0 < found.models < found.search
    assert module.measure_speed() is found
