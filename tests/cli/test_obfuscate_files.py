"""``textveil obfuscate`` on files: several columns, conversion and progress in a pipe."""

import csv
import io
import re

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.tables import read_records


def run(*arguments, **options):
    return CliRunner().invoke(app, ["obfuscate", *map(str, arguments), "--epsilon", "60", "--quiet"], **options)


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("title,text,stars\nCold soup,The waiter was rude.,1\nMusic,Lovely songs!,5\n", encoding="utf-8")
    return path


def test_several_columns_are_obfuscated_in_one_run(tmp_path, reviews):
    out = tmp_path / "out.csv"
    result = run("-i", reviews, "-o", out, "--column", "title", "-c", "text")
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert list(rows[0]) == ["title", "text", "stars", "textveil_outcome_title", "textveil_outcome_text"]
    assert [row["stars"] for row in rows] == ["1", "5"]


def test_without_a_column_the_texts_are_in_the_column_text(tmp_path, reviews):
    out = tmp_path / "out.csv"
    assert run("-i", reviews, "-o", out).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["title"] for row in rows] == ["Cold soup", "Music"]
    assert list(rows[0])[-1] == "textveil_outcome"


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "out.tsv.gz"])
def test_the_name_of_the_output_chooses_its_format(tmp_path, reviews, name):
    result = run("-i", reviews, "-o", tmp_path / name)
    assert result.exit_code == 0, result.stderr
    assert [row["title"] for row in read_records(tmp_path / name)] == ["Cold soup", "Music"]


@pytest.mark.parametrize(
    "flags", [["--workers", "2"], ["--executor", "processes", "--workers", "1"], ["--executor", "local"]]
)
def test_workers_write_the_same_file_and_their_memory_is_shown(tmp_path, reviews, flags):
    arguments = ["obfuscate", "-i", str(reviews), "--epsilon", "60", "--seed", "4"]
    assert CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "alone.csv")]).exit_code == 0
    result = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "out.csv"), *flags])
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()
    shown = re.search(r"^workers +1, each with at most \d+ MiB of memory at its peak$", result.stderr, re.MULTILINE)
    assert (shown is None) == ("local" in flags)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A text.", "--workers", "2"], "need --input FILE and --output FILE"),
        (["-", "--executor", "processes"], "need --input FILE and --output FILE"),
        (["-i", "in.csv", "--workers", "2"], "need --input FILE and --output FILE"),
        (["-i", "in.csv", "-o", "out.csv", "--workers", "0"], "--workers must be at least 1"),
        (["-i", "in.csv", "-o", "out.csv", "--executor", "local", "--workers", "2"], "use --executor processes"),
        (["-i", "in.csv", "-o", "out.csv", "--address", "auto"], "--address goes with --executor ray"),
    ],
)
def test_workers_need_files_and_flags_that_fit(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("text\nplot\n", encoding="utf-8")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.fixture
def signed(tmp_path):
    path = tmp_path / "signed.csv"
    path.write_text("id,text,author\n8,The waiter was rude.,ann\n5,Lovely songs!,ben\n", encoding="utf-8")
    return path


def test_columns_that_may_identify_people_are_pointed_out(tmp_path, signed):
    result = run("-i", signed, "-o", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "Warning: Columns that may identify people are copied: 'id' (identifiers), 'author' (names). Leave out what "
        "nobody needs with --drop, or name what stays with --keep-column.\n"
    )


@pytest.mark.parametrize(
    ("flags", "columns"),
    [
        (["--drop", "author", "--drop", "id"], ["text"]),
        (["--keep-column", "id"], ["id", "text"]),
        (["--config"], ["id", "text"]),
    ],
)
def test_columns_are_dropped_or_kept(tmp_path, signed, flags, columns):
    out, config = tmp_path / "out.csv", tmp_path / "textveil.toml"
    config.write_text('[obfuscate]\nkeep-column = ["id"]\n')
    result = run("-i", signed, "-o", out, *flags, *([config] if flags == ["--config"] else []))
    assert result.exit_code == 0, result.stderr
    assert "identify" not in result.stderr
    assert out.read_text().splitlines()[0].split(",") == [*columns, "textveil_outcome"]


def test_a_choice_of_columns_that_cannot_be_made_names_the_flag(tmp_path, signed):
    result = run("-i", signed, "-o", tmp_path / "out.csv", "--drop", "name")
    assert result.exit_code == 2
    assert "has no column 'name'. It has: 'id', 'text', 'author'. Choose with --drop." in result.stderr
    result = run("-i", signed, "-o", tmp_path / "out.csv", "--drop", "id", "--keep-column", "author")
    assert "Set --drop or --keep-column, not both." in result.stderr


def test_a_file_in_the_place_of_a_text_is_refused(signed, monkeypatch):
    result = run(signed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"give --input {signed}." in result.stderr
    assert run(str(signed.parent)).exit_code == 0  # a folder, whose name may be a word
