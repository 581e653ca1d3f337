"""The state of a study."""

from __future__ import annotations

import json

import pytest

from tests.study.test_grid import CELL
from textveil.errors import InputError, ResourceError
from textveil.lab.study.cell_runner import CellRunner
from textveil.lab.study.status import SETUP, CellState, Counts, build_setup, find_dataset_infos, find_setup
from textveil.lab.study.store import CellTexts, Failure

TEXTS = CellTexts(None, "", 2.0)
NEW = CellState(CELL, None, {}, ("downstream",), ())
FINISHED = CellState(CELL, TEXTS, {}, (), ())
UNMEASURED = CellState(CELL, TEXTS, {}, ("downstream",), ())
FAILED = CellState(CELL, None, {}, ("downstream",), (Failure("obfuscation", "No."),))
UNMEASURABLE = CellState(CELL, TEXTS, {}, (), (Failure("downstream", "No."),))


def test_work_that_is_left():
    states = (NEW, FINISHED, UNMEASURED, FAILED, UNMEASURABLE)
    assert [state.finished for state in states] == [False, True, False, False, False]
    assert [state.lacks_texts for state in states] == [True, False, False, False, False]
    assert [state.to_do for state in states] == [True, False, True, False, False]


def test_failures_that_are_retried():
    assert (FAILED.retried().lacks_texts, FAILED.retried().missing) == (True, ("downstream",))
    assert (UNMEASURABLE.retried().lacks_texts, UNMEASURABLE.retried().missing) == (False, ("downstream",))
    assert FINISHED.retried().finished


def test_cells_are_counted_once():
    assert Counts.of((NEW, FINISHED, UNMEASURED, FAILED, UNMEASURABLE)) == Counts(5, 1, 2, 2)


def test_a_data_set_that_was_never_read_has_no_cells(make_study):
    assert make_study().find_states() == []


@pytest.fixture
def ran(make_study, local):
    experiment = make_study(levels={"high": 1}, profiles=["strict"], metrics={"clear_text": {}})
    experiment.run(local)
    return experiment, find_dataset_infos(experiment.runner)


def lose_models(monkeypatch):
    def missing(_):
        raise ResourceError("It is not installed.")

    for name in ("bundle", "metrics", "environment"):
        monkeypatch.setattr(CellRunner, name, property(missing))


def test_a_run_stores_its_setup(ran, monkeypatch):
    experiment, infos = ran
    built = build_setup(experiment.runner, infos)
    lose_models(monkeypatch)
    assert find_setup(experiment.runner, infos) == built
    assert (experiment.store.folder / SETUP).stat().st_mode & 0o77 == 0


def test_a_damaged_setup_is_reported(ran, monkeypatch):
    experiment, infos = ran
    path = experiment.store.folder / SETUP
    path.write_text(json.dumps({**json.loads(path.read_text()), "more": 1}))
    lose_models(monkeypatch)
    with pytest.raises(InputError, match="is damaged"):
        find_setup(experiment.runner, infos)


def test_without_a_stored_setup_the_missing_model_is_named(ran, monkeypatch):
    experiment, infos = ran
    (experiment.store.folder / SETUP).unlink()
    lose_models(monkeypatch)
    with pytest.raises(ResourceError, match="not installed"):
        find_setup(experiment.runner, infos)


def test_the_setup_of_a_study_does_not_depend_on_its_draws(ran, make_study, monkeypatch):
    experiment, infos = ran
    built = build_setup(experiment.runner, infos)
    lose_models(monkeypatch)
    more = make_study(levels={"high": 1}, profiles=["strict"], metrics={"clear_text": {}}, draws=4)
    assert find_setup(more.runner, infos) == built
