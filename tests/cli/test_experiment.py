"""``textveil experiment``."""

from __future__ import annotations

import json

import pytest
import yaml
from typer.testing import CliRunner

from tests.study.conftest import make_study, values  # noqa: F401 # fixtures
from textveil.cli.main import app
from textveil.errors import InputError
from textveil.execution import EXECUTORS
from textveil.execution.local import LocalExecutor
from textveil.lab.metrics import METRICS


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
    assert "based on a trial with up to 100 texts of every data set" in dry.stdout
    before = call("status", study)
    assert "8 cells: 0 finished, 8 to do, 0 failed" in before.stdout
    ran = call("run", study, "--executor", "local")
    assert ran.exit_code == 0, ran.output
    assert "[8/8] reviews / low / words / yake / madlib / paper" in ran.stderr
    assert "[1/2] originals of reviews" in ran.stderr
    copied = f"The originals are copied to {str(study.parent / 'study-results')!r}."
    assert copied in ran.stderr.replace("\n", " ")
    assert copied not in dry.stderr.replace("\n", " ")
    assert "8 cells: 8 finished, 0 to do, 0 failed" in ran.stdout
    assert "There is nothing left to do." in call("run", study, "--dry-run", "--executor", "local").stdout
    after = call("status", study, "--cells")
    assert after.stdout.count("  finished  ") == 8
    assert json.loads(call("status", study, "--json").stdout)["finished"] == 8
    reported = call("report", study, "--response", "utility_f1")
    assert reported.exit_code == 0, reported.output
    assert "report.html" in reported.stdout
    assert "Set --response to one that the cells have: " in call("report", study).stderr  # there is no relative gain
    assert (study.parent / "study-results/report/report.html").exists()


def test_failures_are_listed_and_set_the_exit_code(study, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(METRICS.load("downstream"), "measure", lambda *_: (_ for _ in ()).throw(InputError("Too few.")))
        ran = call("run", study, "--executor", "local", "--quiet")
    assert ran.exit_code == 1
    assert "downstream of reviews / high / words / uniform / madlib / strict and 7 more: Too few." in ran.stderr
    assert "--retry-failed" in ran.stderr
    status = json.loads(call("status", study, "--json").stdout)
    assert (status["failed"], len(status["failures"])) == (8, 8)
    assert call("run", study, "--executor", "local", "--quiet").exit_code == 1
    again = call("run", study, "--executor", "local", "--quiet", "--retry-failed")
    assert (again.exit_code, again.stderr) == (0, "")


def test_init_writes_a_file_once(tmp_path):
    path = tmp_path / "new.yaml"
    assert call("init", path).exit_code == 0
    assert path.read_text().startswith("# A study for a laptop")
    assert call("init", path, "--preset", "paper").exit_code == 2
    assert call("init", path, "--preset", "paper", "--overwrite").exit_code == 0
    assert "trustpilot" in path.read_text()
    unknown = call("init", tmp_path / "other.yaml", "--preset", "labtop")
    assert (unknown.exit_code, "Did you mean 'laptop'" in unknown.stderr) == (2, True)


def test_init_converts_downloads_and_names_missing_models(tmp_path, monkeypatch):
    users = [{"gender": "FM"[n % 2], "reviews": [{"rating": "5", "text": [f"Good shop {n}."]}]} for n in range(60)]
    reviews = [{"user_id": f"u{n % 4}", "stars": n % 2 + 1, "text": f"Bad soup {n}."} for n in range(50)]
    for name, rows in (("us.jsonl", users), ("yelp.json", reviews)):
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setenv("TEXTVEIL_RESOURCE_DEBERTA_V3_BASE", str(tmp_path / "none"))
    monkeypatch.setenv("TEXTVEIL_RESOURCE_GPT2", str(tmp_path / "none"))
    path = tmp_path / "paper.yaml"
    raw = ("--trustpilot", tmp_path / "us.jsonl", "--yelp", tmp_path / "yelp.json")
    made = call("init", path, "--preset", "paper", *raw, "--scale", "0.5")
    assert made.exit_code == 0, made.output
    said = " ".join(made.stderr.split())
    assert "60 reviews (text from 'text', stars from 'rating', gender from 'gender')" in said
    assert "deberta-v3-base (attribute, downstream)" in said
    assert "textveil resources install " in said
    assert len((tmp_path / "trustpilot.jsonl").read_text().splitlines()) == 60
    assert "soup" not in said
    again = call("init", tmp_path / "other.yaml", "--preset", "paper", *raw)
    assert (again.exit_code, "--overwrite" in again.stderr) == (2, True)
    laptop = call("init", tmp_path / "other.yaml", *raw)
    assert (laptop.exit_code, "--trustpilot goes with --preset paper" in laptop.stderr) == (2, True)
    wrong = call("init", tmp_path / "other.yaml", "--preset", "paper", *raw, "--overwrite", "--scale", "2")
    assert (wrong.exit_code, "--scale must be greater than 0" in wrong.stderr) == (2, True)
    assert "Converted" not in wrong.stderr
    assert not (tmp_path / "other.yaml").exists()


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


def snapshot(folder):
    return {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in folder.rglob("*")}


def test_a_dry_run_writes_nothing(study):
    before = snapshot(study.parent)
    dry = call("run", study, "--dry-run", "--executor", "local")
    assert (dry.exit_code, dry.stdout.count("  to do  ")) == (0, 8)
    assert snapshot(study.parent) == before  # not even the folder of the results
    assert call("run", study, "--executor", "local", "--quiet").exit_code == 0
    study.write_text(study.read_text().replace("low: 40", "low: 50"))
    before = snapshot(study.parent)
    dry = call("run", study, "--dry-run", "--executor", "local")
    assert (dry.stdout.count("  to do  "), dry.stdout.count("  finished  ")) == (4, 4)
    assert snapshot(study.parent) == before


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metrics": {"perplexity": {"model": "no-model"}}}, "no-model"),
        ({"datasets": {"reviews": {"path": "nowhere.csv"}}}, "'reviews' was not found"),
        ({"metrics": {"downstream": {"clasifier": "linear"}}}, "Did you mean 'classifier'"),
        ({}, None),
    ],
)
def test_an_executor_is_started_after_the_checks(make_study, values, monkeypatch, changes, said, options):  # noqa: F811
    started = []

    class Recorded(LocalExecutor):
        def __init__(self, *given):
            super().__init__(*given)
            started.append(self)

    monkeypatch.setattr(EXECUTORS, "load", lambda _: Recorded)
    path = make_study(levels={"high": 1}).file.path
    path.write_text(yaml.safe_dump({**values, "levels": {"high": 1}, **changes}), encoding="utf-8")
    ran = call("run", path, *options)
    if said is None:
        assert (ran.exit_code, len(started)) == (0, 1)
    else:
        assert ran.exit_code != 0
        assert said in ran.stderr
        assert started == []


def test_a_wrong_column_is_answered_with_the_key_of_the_study(make_study):  # noqa: F811
    path = make_study(datasets={"reviews": {"path": "reviews.jsonl", "text": "body"}}).file.path
    ran = call("run", path, "--executor", "local")
    assert ran.exit_code == 2
    assert "no column 'body'" in ran.stderr
    assert "Fix 'datasets.reviews' in the study file." in ran.stderr
    assert "--column" not in ran.stderr


def test_a_reason_of_a_failure_names_flags_of_the_command(study, monkeypatch):
    def fail(*_):
        raise InputError("Use fewer `workers`.")

    monkeypatch.setattr(METRICS.load("downstream"), "measure", fail)
    ran = call("run", study, "--executor", "local")
    assert "Use fewer --workers." in ran.stderr
    assert "[8/8] " in ran.stderr
