import json

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app

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


def test_count_says_what_it_found(tmp_path, corpus):
    result = run(
        "count", corpus, "-o", tmp_path / "counts", "--min-count", 40, "--executor", "processes", "--workers", 2
    )
    assert result.exit_code == 0, result.stderr
    assert "60 documents, 340 words, 7 of them different" in result.stderr
    assert "words/s" in result.stderr
    assert "2-grams that occur 40 times or more: 3" in result.stdout
    assert json.loads((tmp_path / "counts" / "counts.json").read_bytes())["tokens"] == 340


def test_count_keeps_quiet(tmp_path, corpus):
    result = run("count", corpus, "-o", tmp_path / "counts", "--min-count", 40, "--executor", "local", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_count_warns_of_a_min_count_that_is_too_high(tmp_path, corpus):
    result = run("count", corpus, "-o", tmp_path / "counts", "--executor", "local")
    assert result.exit_code == 0
    assert "No two words occur together 275 times" in result.stderr
    assert "lower --min-count" in result.stderr


def test_count_tells_of_files_that_it_skipped(tmp_path, corpus):
    (tmp_path / "folder").mkdir()
    corpus.rename(tmp_path / "folder" / "a.txt")
    (tmp_path / "folder" / "README").write_text("")
    result = run("count", tmp_path / "folder", "-o", tmp_path / "counts", "--executor", "local")
    assert "Files in no known format were skipped: 1" in result.stderr


def test_score_writes_lexicons_and_shows_the_best(tmp_path, counts):
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
        (["--config", "x"], 2, "hf:"),
        (["--output", "missing/folder"], 2, "Make it first"),
    ],
)
def test_count_refuses_what_cannot_work(tmp_path, corpus, monkeypatch, options, code, message):
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


@pytest.mark.parametrize("command", ["count", "score"])
def test_help_teaches_with_examples(command):
    shown = run(command, "--help").stdout
    assert "Examples:" in shown
    assert f"textveil prepare {command}" in shown
