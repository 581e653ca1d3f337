import json
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.execution import EXECUTORS

LINES = "new york city is a city\nNew York City, that is\nwhat a city new york is\n" * 20


def run(*arguments):
    return CliRunner().invoke(app, ["prepare", *map(str, arguments)])


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


@pytest.fixture
def counts(tmp_path, corpus):
    result = run("count", corpus, "--output", tmp_path / "counts", "--min-count", 20, "--executor", "local")
    assert result.exit_code == 0, result.stderr
    return tmp_path / "counts"


def test_count_reports_its_result(tmp_path, corpus):
    result = run(
        "count", corpus, "-o", tmp_path / "counts", "--min-count", 40, "--executor", "processes", "--workers", 2
    )
    assert result.exit_code == 0, result.stderr
    assert "60 documents, 340 words (7 distinct)" in result.stderr
    assert "2-grams that occur 40 times or more: 3" in result.stdout
    assert json.loads((tmp_path / "counts" / "counts.json").read_bytes())["tokens"] == 340


def test_count_prints_nothing_with_quiet(tmp_path, corpus):
    result = run("count", corpus, "-o", tmp_path / "counts", "--min-count", 40, "--executor", "local", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_count_warns_of_a_min_count_that_is_too_high(tmp_path, corpus):
    result = run("count", corpus, "-o", tmp_path / "counts", "--executor", "local")
    assert result.exit_code == 0
    assert "No two words occur together 275 times" in result.stderr
    assert "Lower --min-count" in result.stderr


def test_count_reports_skipped_files(tmp_path, corpus):
    (tmp_path / "folder").mkdir()
    corpus.rename(tmp_path / "folder" / "a.txt")
    (tmp_path / "folder" / "README").write_text("")
    result = run("count", tmp_path / "folder", "-o", tmp_path / "counts", "--executor", "local")
    assert "skipped files of unknown format: 1" in result.stderr


def test_score_writes_lexicons_and_shows_the_top_entries(tmp_path, counts):
    result = run("score", counts, "--output", tmp_path / "lexicons", "--examples", 2, "--min-pmi", 0.5, "--top", 20)
    assert result.exit_code == 0, result.stderr
    assert "n-grams of two to four words, of a corpus of 340 words" in result.stdout
    for measure in ("pmi", "llr", "tscore"):
        assert measure in result.stdout
        assert (tmp_path / "lexicons" / f"{measure}.parquet").exists()
    assert "new york" in result.stdout
    assert "scores from 0.5" in result.stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--min-count", 0], 2, "at least 1"),
        (["--memory", "lots"], 2, "such as 512M or 16G"),
        (["--memory", "10M"], 2, "Raise --memory"),
        (["--executor", "cloud"], 2, "Choose from: local, processes, ray"),
        (["--executor", "local", "--workers", 4], 2, "--executor processes"),
        (["--executor", "local", "--address", "auto"], 2, "--executor ray"),
        (["--subset", "x"], 2, "--subset, --split and --revision need a data set: hf:"),
        (["--output", "missing/folder"], 2, "Create it first"),
    ],
)
def test_count_refuses_invalid_options(tmp_path, corpus, monkeypatch, options, code, message):
    monkeypatch.chdir(tmp_path)
    result = run("count", corpus, "--output", "counts", "--executor", "local", *options)
    assert result.exit_code == code
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_an_empty_corpus_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("")
    result = run("count", tmp_path / "a.txt", "-o", tmp_path / "counts", "--executor", "local")
    assert result.exit_code == 1
    assert "has 0 words" in result.stderr


def test_score_needs_counts(tmp_path):
    result = run("score", tmp_path, "--output", tmp_path / "lexicons")
    assert result.exit_code == 1
    assert "textveil prepare count" in result.stderr


def refuse_to_start(name):
    pytest.fail("the executor was started")


def test_count_checks_its_options_before_it_starts_an_executor(tmp_path, corpus, counts, monkeypatch):
    monkeypatch.setattr(EXECUTORS, "load", refuse_to_start)
    for arguments, message in [
        (["--output", counts], "exists"),
        (["--output", tmp_path / "new", "--min-count", 0], "--min-count must be at least 1"),
        (["--output", tmp_path / "new", "--memory", "lots"], "--memory must be a number of bytes"),
    ]:
        result = run("count", corpus, *arguments)
        assert result.exit_code == 2
        assert message in result.stderr


@pytest.mark.parametrize("top", [0, -1, 100.5, "nan"])
def test_score_refuses_a_percentage_that_is_not_one(tmp_path, counts, top):
    result = run("score", counts, "--output", tmp_path / "lexicons", "--top", top)
    assert result.exit_code == 2
    assert "--top must be a percentage above 0, up to 100" in result.stderr


def list_commands(command, path=()):
    """Every command with its path; ``prepare`` alone stands for ``prepare bundle``."""
    if not hasattr(command, "list_commands"):
        return [(path, command)]
    context = typer.Context(command)
    parts = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return [entry for name, part in parts.items() for entry in list_commands(part, (*path, name))]


COMMANDS = dict(list_commands(typer.main.get_command(app)))
COMMANDS["prepare",] = COMMANDS["prepare", "bundle"]


def sample(command, name, folder):
    """A value that a parameter accepts; none for a flag."""
    hint = get_type_hints(command.callback)[name]
    kinds = {hint, *get_args(hint)}
    if bool in kinds:
        return []
    return ["7" if kinds & {int, float} else str(folder / "file.txt") if Path in kinds else "text"]


def test_all_commands_are_found():
    names = {" ".join(path) for path in COMMANDS}
    assert names > {"obfuscate", "decompose", "distribute", "prepare", "prepare count", "bundle info"}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_options_may_stand_before_and_after_the_arguments(tmp_path, monkeypatch, path):
    command = COMMANDS[path]
    (tmp_path / "file.txt").touch()
    parsed = []
    monkeypatch.setattr(type(command), "invoke", lambda self, context: parsed.append((self.name, context.params)))
    arguments, options = [], []
    for part in command.params:
        if part.param_type_name == "argument":
            arguments += sample(command, part.name, tmp_path)
        elif part.name in get_type_hints(command.callback):
            options += [part.opts[0], *sample(command, part.name, tmp_path)]
    for order in ([*arguments, *options], [*options, *arguments]):
        result = CliRunner().invoke(app, [*path, *order])
        assert result.exit_code == 0, (order, result.output)
    assert parsed[0][0] == command.name
    assert parsed[0] == parsed[1]


def test_all_steps_run_with_the_options_first(tmp_path, corpus):
    options = ["--min-count", 20, "--executor", "local", "--dimensions", 4, "--epochs", 1, "--no-names", "-d", "words"]
    result = run("--output", tmp_path / "bundle", *options, corpus)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "bundle" / "bundle.json").is_file()
