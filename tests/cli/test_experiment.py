"""``textveil experiment``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.experiments.conftest import make_study, values  # noqa: F401 # fixtures
from textveil.cli.experiment_display import Lines, list_failures, watching, write_time
from textveil.cli.main import app
from textveil.errors import InputError
from textveil.evaluation import METRICS
from textveil.experiments.experiment import Watcher


def call(*arguments):
    return CliRunner().invoke(app, ["experiment", *map(str, arguments)])


@pytest.fixture
def study(make_study):  # noqa: F811
    return make_study(levels={"high": 1, "low": 40}).file.path


def test_a_study_from_its_beginning_to_its_report(study):
    dry = call("run", study, "--dry-run", "--executor", "local")
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.count("  to do  ") == 8
    assert "8 cells: 0 finished, 8 to do, 0 failed" in dry.stdout
    assert "timed now" in dry.stdout
    before = call("status", study)
    assert "8 cells: 0 finished, 8 to do, 0 failed" in before.stdout
    ran = call("run", study, "--executor", "local")
    assert ran.exit_code == 0, ran.output
    assert "[8/8] reviews / low / words / yake / madlib / paper" in ran.stderr
    assert "[1/2] originals of reviews" in ran.stderr
    assert "8 cells: 8 finished, 0 to do, 0 failed" in ran.stdout
    assert "Nothing is left to do." in call("run", study, "--dry-run", "--executor", "local").stdout
    after = call("status", study, "--cells")
    assert after.stdout.count("  finished  ") == 8
    assert json.loads(call("status", study, "--json").stdout)["finished"] == 8
    reported = call("report", study, "--response", "utility_f1")
    assert reported.exit_code == 0, reported.output
    assert "report.html" in reported.stdout
    assert (study.parent / "study-results/report/report.html").exists()


def test_what_fails_is_listed_and_the_exit_code_tells(study, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(METRICS.load("downstream"), "measure", lambda *_: (_ for _ in ()).throw(InputError("Too few.")))
        ran = call("run", study, "--executor", "local", "--quiet")
    assert ran.exit_code == 1
    assert "Failed: downstream of reviews / high / words / uniform / madlib / strict and 7 more: Too few." in ran.stderr
    assert "--retry-failed" in ran.stderr
    status = json.loads(call("status", study, "--json").stdout)
    assert (status["failed"], len(status["failures"])) == (8, 8)
    assert call("run", study, "--executor", "local", "--quiet").exit_code == 1
    again = call("run", study, "--executor", "local", "--quiet", "--retry-failed")
    assert (again.exit_code, again.stderr) == (0, "")


def test_init_writes_a_file_once(tmp_path):
    path = tmp_path / "new.yaml"
    assert call("init", path).exit_code == 0
    assert path.read_text().startswith("# A study that a laptop finishes")
    assert call("init", path, "--preset", "paper").exit_code == 2
    assert call("init", path, "--preset", "paper", "--overwrite").exit_code == 0
    assert "trustpilot" in path.read_text()
    unknown = call("init", tmp_path / "other.yaml", "--preset", "labtop")
    assert (unknown.exit_code, "Did you mean 'laptop'" in unknown.stderr) == (2, True)


def test_wrong_files_and_options(study, tmp_path):
    (tmp_path / "bad.yaml").write_text("nmae: x\n")
    wrong = call("run", tmp_path / "bad.yaml")
    assert (wrong.exit_code, "Did you mean 'name'" in wrong.stderr) == (2, True)
    assert call("status", tmp_path / "none.yaml").exit_code == 1
    gpus = call("run", study, "--gpus-per-task", "1")
    assert (gpus.exit_code, "goes with --executor ray" in gpus.stderr) == (2, True)
    for command in ("status", "report"):
        nowhere = call(command, study, "--folder", tmp_path / "typo")
        assert (nowhere.exit_code, "Check --folder" in nowhere.stderr) == (1, True)
    assert not (tmp_path / "typo").exists()
    response = call("report", study)
    assert (response.exit_code, "Run the study first" in response.stderr) == (1, True)


def test_times_are_said_as_people_say_them():
    assert [write_time(seconds) for seconds in (0.4, 59, 61, 3600, 5400)] == [
        "0 s",
        "59 s",
        "1 min",
        "1 h 0 min",
        "1 h 30 min",
    ]


def test_who_watches(monkeypatch):
    with watching(True) as nobody:
        assert type(nobody) is Watcher
    with watching(False) as lines:  # no terminal
        assert isinstance(lines, Lines)
    assert list(list_failures([])) == []


def test_a_table_changes_on_a_terminal(make_study, monkeypatch):  # noqa: F811
    from io import StringIO

    from rich.console import Console

    from textveil.execution.local import LocalExecutor

    shown = StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=shown, force_terminal=True, width=120))
    with watching(False) as table:
        make_study(levels={"high": 1}).run(LocalExecutor(), watcher=table)
    assert "4 of 4 cells, about 0 s left" in shown.getvalue()
    assert "data set" in shown.getvalue()
