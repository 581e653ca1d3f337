"""``textveil analyze``."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app

EXAMPLE = Path(__file__).parents[2] / "examples/results.csv"


def run(*arguments):
    return CliRunner().invoke(app, ["analyze", *map(str, arguments)])


def test_the_summary_has_tables_pairs_and_choices():
    result = run(EXAMPLE, "--pairs", 2)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "108 cells, 6 data sets and levels; response: relative gain"
    assert sum(line.startswith("effect ") for line in lines) == 3
    assert re.search(r"^decomposition +27\.52 +2\.31e-08 +0\.567 +2 +0\.0054$", result.stdout, flags=re.MULTILINE)
    assert sum(" over " in line and line.startswith("  ") for line in lines) == 2
    assert any(line.startswith("There are too few draws of noise (1)") for line in lines)
    assert "  0.0428  pos + yake over words + uniform (p = 2.4e-07)" in lines
    assert [line.partition(". ")[0] for line in lines if line.startswith("For trade-off,")] == [
        "For trade-off, no combination is recommended",
        "For trade-off, choose pos + yake (45.0% of its words in clear)",
    ]
    assert any("which cannot be told from chance" in line for line in lines)
    assert any("of 108 cells cannot be told from chance" in line for line in lines)
    assert lines.count("No factor interacts significantly with the data set.") == 2
    assert sum(line.startswith("On the front for ") for line in lines) == 6
    assert result.stderr == ""


def test_curves_are_compared_with_a_setting():
    found = json.loads(run(EXAMPLE, "--json", "--against", "pos + yake under paper").stdout)
    assert {curve["against"] for curve in found["curves"]} == {"pos + yake under paper"}
    wrong = run(EXAMPLE, "--against", "pos + yake")
    assert wrong.exit_code == 2
    assert "setting" in wrong.stderr


def test_json_is_all_that_is_printed():
    found = json.loads(run(EXAMPLE, "--json", "--response", "perplexity").stdout)
    assert found["response"] == "perplexity"
    assert [setting["setting"] for setting in found["settings"]] == ["profile strict", "profile paper"]


def test_a_folder_is_written_and_not_overwritten_unless_asked(tmp_path):
    folder = tmp_path / "analysis"
    results = change(tmp_path, lambda lines: [lines[0], *(line for line in lines if ",paper," in line)])
    first = run(results, "--output", folder)
    assert first.exit_code == 0, first.stderr
    assert f"Written: {folder / 'report.html'}" in first.stderr
    before = (folder / "report.html").read_bytes()
    again = run(results, "--output", folder)
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr
    assert again.stdout == ""
    (folder / "report.html").write_text("old", encoding="utf-8")
    assert run(results, "--output", folder, "--overwrite").exit_code == 0
    assert (folder / "report.html").read_bytes() == before


def change(tmp_path, edit):
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "results.csv"
    path.write_text("\n".join(edit(lines)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("edit", "code", "message"),
    [
        (lambda lines: [lines[0].replace("decomposition", "method"), *lines[1:]], 2, "no column 'decomposition'"),
        (lambda lines: lines[:-1], 1, "lacks 1 of 108 cells: reviews / low / pos / yake / paper"),
        (lambda lines: [*lines, lines[-1]], 1, "is repeated: numbers 108 and 109"),
        (lambda lines: lines[:1], 1, "has no rows"),
        (
            lambda lines: [*lines[:3], lines[3].replace("0.4063", "nan"), *lines[4:]],
            1,
            "row 3: the column 'cosine_similarity'",
        ),
    ],
)
def test_bad_results_are_refused(tmp_path, edit, code, message):
    result = run(change(tmp_path, edit))
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_one_data_set_at_one_level_has_tables_and_says_why_nothing_was_tested(tmp_path):
    path = change(tmp_path, lambda lines: [lines[0], *(line for line in lines if line.startswith("letters,high"))])
    result = run(path, "--output", tmp_path / "analysis")
    assert result.exit_code == 0, result.stderr
    assert "Not tested. One data set at one level (letters, level high, epsilon 4)" in result.stdout
    page = (tmp_path / "analysis/report.html").read_text(encoding="utf-8")
    assert "Not tested. One data set at one level" in page
    assert page.count('<table class="results">') >= 2


def test_a_data_set_without_the_response_is_excluded_in_words(tmp_path):
    def edit(lines):
        head, *rows = (line.split(",") for line in lines)
        dataset, gain = head.index("dataset"), head.index("relative_gain")
        first = rows[0][dataset]
        for row in rows:
            row[gain] = "" if row[dataset] == first else row[gain]
        return [",".join(row) for row in (head, *rows)]

    result = run(change(tmp_path, edit))
    assert result.exit_code == 0, result.stderr
    assert "Relative gain is missing, so these are excluded from the analysis: " in result.stderr
    assert result.stdout.startswith("54 cells, 3 data sets and levels")


def test_incomplete_groups_can_be_excluded(tmp_path):
    result = run(change(tmp_path, lambda lines: lines[:-1]), "--drop-incomplete")
    assert result.exit_code == 0
    assert result.stderr == "Excluded, because it lacks a combination: reviews, level low, epsilon 300\n"
    assert result.stdout.startswith("90 cells, 5 data sets")


def test_a_setting_without_variation_is_reported_as_not_tested(tmp_path):
    def clear_strict(lines):
        place = lines[0].split(",").index("pi_remaining")
        for line in lines:
            cells = line.split(",")
            yield ",".join([*cells[:place], "0", *cells[place + 1 :]]) if ",strict," in line else line

    result = run(change(tmp_path, clear_strict), "--response", "pi_remaining")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("Not tested. The values of surviving identifiers are the same for all combinations") == 1
    assert result.stdout.count("For surviving identifiers, no combination is recommended. Nothing was tested.") == 1


def test_a_response_that_is_not_there():
    result = run(EXAMPLE, "--response", "relative")
    assert result.exit_code == 2
    assert "Choose from:" in result.stderr


def test_a_file_that_is_not_there_or_no_table(tmp_path):
    assert "is not there" in run(tmp_path / "none.csv").stderr
    (tmp_path / "results.txt").write_text("a\n", encoding="utf-8")
    assert "plain text" in run(tmp_path / "results.txt").stderr
    assert "does not tell its format" in run(tmp_path / "results.xlsx").stderr


def test_a_folder_that_cannot_be_written_is_noticed_before_the_work(tmp_path):
    (tmp_path / "analysis").mkdir()
    result = run(tmp_path / "none.csv", "--output", tmp_path / "analysis")
    assert "exists" in result.stderr


STUDY = Path(__file__).parents[2] / "docs/study"


@pytest.mark.parametrize(
    ("name", "cells"), [("results.parquet", 360), ("strict.parquet", 216), ("results.csv.xz", 360)]
)
def test_results_of_an_earlier_version_are_read(name, cells):
    """They have the column distribution_label instead of distribution_method."""
    found = json.loads(run(STUDY / name, "--json").stdout)
    assert found["cells"] == cells
    settings = {setting["setting"]: setting for setting in found["settings"]}
    strict = settings.get("profile strict", settings.get(""))
    effects = {effect["factors"][0]: effect for effect in strict["anova"]["effects"] if len(effect["factors"]) == 1}
    assert effects["decomposition"]["p_value"] < 0.05 < effects["distribution"]["p_value"]


def test_an_incomplete_file_is_answered_with_a_flag(tmp_path):
    result = run(change(tmp_path, lambda lines: lines[:-1]))
    assert "Run them, or set --drop-incomplete to exclude every data set and level that lacks a cell." in result.stderr
