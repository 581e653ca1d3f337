"""``textveil obfuscate`` on files: several columns, conversion and progress in a pipe."""

import csv
import io

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
