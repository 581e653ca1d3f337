import csv
import json

import pytest

from textveil.errors import OutputError, OutputExistsError, ParameterError
from textveil.lab.report.report import check_folder, write_empty_report, write_report


@pytest.fixture(scope="module")
def folder(example, tmp_path_factory):
    path = tmp_path_factory.mktemp("output") / "analysis"
    write_report(example, path, title="A study")
    return path


def test_all_files_are_written(folder, example):
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<title>A study</title>" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "findings.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(example.as_dict())
    )
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert {"heat_map.svg", "heat_map.png", "words_in_clear.svg"} <= figures
    assert {"curves.svg", "curves.png"} <= figures
    assert len(figures) == 2 * 12
    tables = {path.name for path in (folder / "tables").iterdir()}
    assert {"anova_overall.tex", "anova_profile_paper.csv", "results_6_reviews_low_profile_strict.tex"} <= tables
    assert len(tables) == 2 + 2 + 3 + 2 * (2 + 2 + 1 + 1 + 2 + 6)
    means = (folder / "tables/combinations_profile_paper.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {"attribute_baseline", "attribute_chance", "downstream_original", "static_f1_low", "static_f1_high"} <= {
        *means
    }


def test_tables_can_be_read_again(folder, example):
    with (folder / "tables/pairs_profile_paper.csv").open(encoding="utf-8", newline="") as stream:
        pairs = list(csv.DictReader(stream))
    assert len(pairs) == 36
    assert sum(pair["significant"] == "True" for pair in pairs) == sum(pair["p"] != "" for pair in pairs) == 14
    with (folder / "tables/combinations_profile_paper.csv").open(encoding="utf-8", newline="") as stream:
        rows = {(row["decomposition"], row["distribution"]): row for row in csv.DictReader(stream)}
    assert float(rows["pos", "yake"]["clear_share"]) == pytest.approx(0.45)
    with (folder / "tables/curves.csv").open(encoding="utf-8", newline="") as stream:
        points = list(csv.DictReader(stream))
    assert len(points) == 6 * 18 * 3  # pairs, settings, levels
    assert [points[0][name] for name in ("attacker", "measure", "setting", "level")] == [
        "adaptive_f1",
        "utility_f1",
        "words + uniform under strict",
        "high",
    ]
    assert float(points[0]["attack_low"]) < float(points[0]["attack"]) < float(points[0]["attack_high"])
    with (folder / "tables/areas.csv").open(encoding="utf-8", newline="") as stream:
        areas = list(csv.DictReader(stream))
    assert len(areas) == 6 * 17
    assert {area["against"] for area in areas} == {"words + uniform under strict"}
    with (folder / "tables/levels_distribution_profile_paper.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["level"] for row in csv.DictReader(stream)] == ["high", "medium", "low"] * 3


def test_a_folder_is_replaced_only_if_it_is_an_analysis_and_that_is_wanted(folder, example, tmp_path):
    with pytest.raises(OutputExistsError, match="set `overwrite=True`"):
        write_report(example, folder)
    check_folder(folder, overwrite=True)
    other = tmp_path / "precious"
    other.mkdir()
    (other / "thesis.txt").write_text("years", encoding="utf-8")
    with pytest.raises(ParameterError, match="is not an earlier analysis"):
        write_report(example, other, overwrite=True)
    assert (other / "thesis.txt").read_text(encoding="utf-8") == "years"


def test_an_earlier_analysis_is_replaced_as_a_whole(records, tmp_path):
    from textveil.lab.report.findings import analyze
    from textveil.lab.report.results import Results

    findings = analyze(Results.from_records(records))
    path = tmp_path / "analysis"
    path.mkdir()
    (path / "findings.json").write_text("{}", encoding="utf-8")
    (path / "old.txt").write_text("old", encoding="utf-8")
    write_report(findings, path, overwrite=True)
    assert not (path / "old.txt").exists()
    assert (path / "report.html").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["analysis"]


def test_the_working_directory_is_never_replaced(tmp_path, monkeypatch):
    (tmp_path / "findings.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="is not replaced"):
        check_folder(tmp_path, overwrite=True)


def test_nothing_half_written_is_left(records, tmp_path, monkeypatch):
    from textveil.lab.report import report as output
    from textveil.lab.report.findings import analyze
    from textveil.lab.report.results import Results

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "render_png", fail)
    with pytest.raises(OutputError, match="No space left"):
        write_report(analyze(Results.from_records(records)), tmp_path / "analysis")
    assert not list(tmp_path.iterdir())


def test_a_report_without_findings_says_why_and_can_be_replaced(tmp_path):
    folder = tmp_path / "analysis"
    write_empty_report(folder, "No <cell>.", about={"seed": "5"}, failures={"Too few.": ["a / high"]})
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "No &lt;cell&gt;." in page
    assert "Too few. (1 cell: a / high)" in page
    assert json.loads((folder / "findings.json").read_text(encoding="utf-8"))["reason"] == "No <cell>."
    with pytest.raises(OutputExistsError):
        write_empty_report(folder, "Again.")
    write_empty_report(folder, "Again.", overwrite=True)
    assert "Failures" not in (folder / "report.html").read_text(encoding="utf-8")
