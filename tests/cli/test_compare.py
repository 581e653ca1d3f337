import csv
import json
import stat
import sys

import pytest
from typer.testing import CliRunner

from tests.metrics.conftest import make_rows
from tests.metrics.making import make_comparison
from textveil.cli.compare import _show
from textveil.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def write(path, texts, labels, authors):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "sentiment", "author"])
        writer.writerows(zip(texts, labels, authors, strict=True))
    return path


def hide(texts, every):
    """The texts without every n-th word."""
    return [" ".join(word for place, word in enumerate(text.split()) if place % every) for text in texts]


@pytest.fixture
def files(tmp_path):
    """The originals, and two files without some of their words."""
    texts, *classes = make_rows()
    return [
        write(tmp_path / "reviews.csv", texts, *classes),
        write(tmp_path / "half.csv", hide(texts, 2), *classes),
        write(tmp_path / "third.csv", hide(texts, 3), *classes),
    ]


CLASSES = ("--label", "sentiment", "--attribute", "author", "--metrics", "attribute,downstream", "--seeds", "1")


def test_a_table_a_page_and_json(files, tmp_path):
    page, found = tmp_path / "page.html", tmp_path / "found.json"
    result = run(*files, *CLASSES, "--html", page, "--json", found)
    assert result.exit_code == 0, result.stderr
    for said in ("privacy, 60 texts", "utility, 60 texts", "half", "third", "originals", "the front"):
        assert said in result.stdout
    assert "\x1b" not in result.stdout
    content = json.loads(found.read_text())
    assert set(content["obfuscations"]) == {"half", "third"}
    assert content["fronts"][0]["attack"] == "attribute.adaptive|attribute.static|stylometry.adaptive"
    assert content["obfuscations"]["half"]["metrics"]["attribute"]["values"]["baseline"] == 1
    assert "<svg" in page.read_text()
    assert f"Written: {page}" in result.stderr
    assert "reviews.csv.scores" in result.stderr


def test_no_value_is_cut_off_in_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    comparison = make_comparison({"a name that is longer than the column of names": (0.3, 0.6), "b": (0.6, 0.5)})
    _show(comparison, [])
    shown = capsys.readouterr().out
    assert max(map(len, shown.partition("95 %")[0].splitlines())) <= 60
    for value in ("30.0%", "27.0–33.0%", "25.0%", "22.0–28.0%", "93.0%", "91.0–95.0%", "57.0–63.0%"):
        assert value in shown
    assert "…" not in shown


@pytest.mark.parametrize(
    ("metric", "shown"), [("overlap", "ROUGE-L"), ("clear_text", "unchanged words"), ("linkage", "texts linked with")]
)
def test_every_metric_has_its_table(files, metric, shown):
    result = run(*files, "--metrics", metric, "--no-cache", "-q")
    assert result.exit_code == 0, result.stderr
    assert "privacy, 60 texts" in result.stdout
    assert shown in " ".join(result.stdout.replace("┃", " ").split())


@pytest.mark.parametrize(
    ("flags", "metric", "value"),
    [
        (["--metrics", "identifiers", "--kinds", "paper"], "identifiers", "paper"),
        (["--metrics", "similarity", "--truncate"], "similarity", "truncate"),
        (["--metrics", "linkage,attribute", "--encoders", "minilm"], "linkage", "encoder"),
    ],
)
def test_metrics_take_the_options_of_evaluate(files, tmp_path, minilm, flags, metric, value):
    found = tmp_path / "found.json"
    flags = [str(minilm) if each == "minilm" else each for each in flags]
    result = run(*files[:2], "--attribute", "author", *flags, "--json", found, "--no-cache", "-q")
    assert result.exit_code == 0, result.stderr
    measured = json.loads(found.read_text())["obfuscations"]["half"]["metrics"][metric]
    assert value in json.dumps([measured["description"], measured["details"]])


def test_options_of_a_transformer_go_with_a_transformer(files):
    for flags in (["--epochs", "2"], ["--learning-rate", "0.1"]):
        result = run(*files, "--attribute", "author", "--metrics", "attribute", *flags)
        assert result.exit_code == 2
        assert f"{flags[0]} goes with --attacker transformer" in result.stderr


def test_names_make_curves(files, tmp_path):
    page = tmp_path / "page.html"
    result = run(*files, *CLASSES, "-n", "cut@2", "-n", "cut@3", "--html", page, "--no-cache", "-q")
    assert result.exit_code == 0, result.stderr
    assert "in 1 setting" in page.read_text()
    assert result.stderr == ""


def test_curves_are_compared_with_one_of_them_and_drawn(files, tmp_path):
    original, half, third = files
    texts, *classes = make_rows()
    more = [write(tmp_path / f"{every}.csv", hide(texts, every), *classes) for every in (4, 5)]
    names = [each for name in ("cut@2", "cut@3", "other@4", "other@5") for each in ("-n", name)]
    found, figures = tmp_path / "found.json", tmp_path / "new" / "figures"
    arguments = [original, half, third, *more, *names, *CLASSES, "--no-cache"]
    result = run(*arguments, "--against", "other", "--json", found, "--figures", figures)
    assert result.exit_code == 0, result.stderr
    front = json.loads(found.read_text())["fronts"][0]
    assert front["against"] == "other"
    assert [area["setting"] for area in front["areas"]] == ["cut"]
    assert [(point["setting"], point["level"]) for point in front["points"]] == [
        ("cut", "2"), ("cut", "3"), ("other", "4"), ("other", "5"),
    ]  # fmt: skip
    assert (figures / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (figures / "curves.svg").read_text()
    assert f"Written: {figures / 'curves.svg'}" in result.stderr
    again = run(*arguments, "--figures", figures)
    assert again.exit_code != 0
    assert "--overwrite" in again.stderr


def test_figures_need_an_attack_and_a_utility(files, tmp_path):
    result = run(*files, "--metrics", "overlap", "--no-cache", "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.stderr
    assert not list((tmp_path / "figures").glob("*"))
    assert "Nothing to draw" in result.stderr


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--name", "a"], 2, "There are 2 files and 1 names. Give one name per file, in the same order (--name)"),
        (["-n", "a", "-n", "a"], 2, "have the same name, 'a'. Give each its own name (--name)"),
        (["-n", "chance", "-n", "a"], 2, "'chance' is the name of a reference"),
        (["-n", "a@1", "-n", "a"], 2, "An obfuscation of 'a' has no level."),
        (["--against", "hal"], 2, "'hal'"),
        (["--label", "rating"], 2, "rating"),
        (["--text", "body"], 2, "body"),
        (["--metrics", "inversion"], 2, "Remove it from --metrics"),
        (["--metrics", ","], 2, "--metrics is empty"),
        (["--seeds", "x"], 2, "--seeds must be"),
    ],
)
def test_bad_arguments(files, more, code, message):
    result = run(*files, *more)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_bad_files(files, tmp_path):
    original, half, _ = files
    texts, *classes = make_rows()
    short = write(tmp_path / "short.csv", texts[:-1], *(values[:-1] for values in classes))
    for wrong, message in (
        ([short], "has 60 rows and"),
        ([half, half], "is given twice"),
        ([original], "is the file of originals"),
        ([write(tmp_path / "copy.csv", texts, *classes)], "The texts of 'copy' are the originals"),
        ([tmp_path / "none.csv"], "none.csv"),
    ):
        result = run(original, *wrong, *CLASSES)
        assert result.exit_code in (1, 2), message
        assert message in result.stderr
        assert "soup" not in result.stderr  # never a text
    assert run(original).exit_code == 2


def test_existing_outputs_are_refused_before_anything_is_measured(files, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(*files, *CLASSES, "--html", page)
    assert result.exit_code == 2
    assert "--overwrite" in result.stderr
    assert page.read_text() == "mine"
    assert not (tmp_path / "reviews.csv.scores").exists()
    assert run(*files, *CLASSES, "--html", page, "--overwrite").exit_code == 0
    assert "<svg" in page.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_outputs_are_as_private_as_the_originals(files, tmp_path):
    files[0].chmod(0o600)
    page = tmp_path / "page.html"
    assert run(*files, *CLASSES, "--html", page).exit_code == 0
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_no_output_has_a_text(files, tmp_path):
    page, found = tmp_path / "page.html", tmp_path / "found.json"
    result = run(*files, *CLASSES, "--html", page, "--json", found)
    for content in (result.stdout, page.read_text(), found.read_text()):
        assert not any(word in content for word in ("soup", "pistons", "dreadful"))
