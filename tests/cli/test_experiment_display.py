"""The progress of a study, as a table and as lines."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from tests.study.conftest import make_study, values  # noqa: F401 # fixtures
from tests.study.test_grid import CELL
from textveil.cli.experiment_display import (
    Display,
    count_by_dataset,
    list_failures,
    make_table,
    spell_reason,
    watching,
    write_time,
)
from textveil.execution.local import LocalExecutor
from textveil.lab.study.cell_runner import CellDone
from textveil.lab.study.experiment import CellTask, Job, Plan, SharedDone, SharedTask, Watcher
from textveil.lab.study.status import CellState, Counts
from textveil.lab.study.store import CellTexts, Failure

JOB = Job(folder=None, study="")
FINISHED = CellState(CELL, CellTexts(None, "", 2.0), {}, (), ())
FAILED = CellState(CELL, None, {}, (), (Failure("obfuscation", "Too few."),))
NEW = CellState(CELL, None, {}, ("downstream",), ())
SCORES = SharedTask(JOB, "reviews", distribution="yake", start=128, stop=256)
ORIGINALS = SharedTask(JOB, "reviews", ("downstream",))


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h 0 min"), (5400, "1 h 30 min")],
)
def test_durations(seconds, written):
    assert write_time(seconds) == written


def test_failures_with_the_same_reason_are_one_line():
    other = CellState(CELL, None, {}, (), (Failure("downstream", "Too few."),))
    assert list(list_failures([])) == []
    assert list(list_failures([FAILED, FINISHED, FAILED, FAILED, other])) == [
        f"Failed: obfuscation of {CELL} and 2 more: Too few.",
        f"Failed: downstream of {CELL}: Too few.",
    ]


def test_a_reason_names_flags_of_the_command():
    assert spell_reason("Run the study in another `folder`.") == "Run the study in another --folder."
    assert spell_reason("It needs a `label`.") == "It needs a label."


def test_cells_are_counted_by_data_set():
    assert count_by_dataset([FINISHED, FAILED, NEW]) == [("reviews", Counts(3, 1, 1, 1))]
    shown = StringIO()
    Console(file=shown, width=80).print(make_table([("reviews", Counts(1200, 1100, 99, 1))]))
    (row,) = [line for line in shown.getvalue().splitlines() if "reviews" in line]
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["reviews", "1,200", "1,100", "99", "1"]


def test_shared_tasks_have_names():
    assert str(SCORES) == "scores of yake for reviews, texts 129 to 256"
    assert str(ORIGINALS) == "originals of reviews"


def test_a_line_for_every_task(capsys):
    lines = Display()
    lines.begin(Plan((FINISHED, NEW, NEW), (ORIGINALS, SCORES), (CellTask(JOB, CELL, (), True),) * 2))
    lines.shared_done(SharedDone(ORIGINALS, 1.25, None, ("It has learned too little.",)))
    lines.shared_done(SharedDone(SCORES, 0.0, "Use fewer `workers`."))
    lines.cell_done(CellDone(CELL, 3.0, obfuscated=True, measured=(), failures=(Failure("downstream", "Too few."),)))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "3 cells: 1 finished, 2 to do",
        "Warning: originals of reviews: It has learned too little.",
        "[1/2] originals of reviews, 1.2 s",
        "[2/2] scores of yake for reviews, texts 129 to 256: failed: Use fewer --workers.",
        f"Failed: downstream of {CELL}: Too few.",
        f"[1/2] {CELL}, 3.0 s, about 0 s left",
    ]


def test_the_watcher_depends_on_the_terminal():
    with watching(True) as silent:
        assert type(silent) is Watcher
    with watching(False) as lines:  # not a terminal
        assert isinstance(lines, Display)


def test_a_terminal_shows_a_live_table(make_study, monkeypatch):  # noqa: F811
    shown = StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=shown, force_terminal=True, width=120))
    with watching(False) as table:
        make_study(levels={"high": 1}).run(LocalExecutor(), watcher=table)
    assert "[4/4] reviews / high / words / yake" in shown.getvalue()
    assert "data set" in shown.getvalue()
