"""The state of a study."""

from __future__ import annotations

from tests.study.test_grid import CELL
from textveil.lab.study.status import CellState, Counts
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
