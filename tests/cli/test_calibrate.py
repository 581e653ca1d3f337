import json

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.lab.calibration import Calibration

from ..calibration.conftest import draw_texts


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def own(tmp_path):
    """A file with texts of the tiny bundle."""
    path = tmp_path / "own.csv"
    path.write_text("text\n" + "\n".join(draw_texts(60, 1)), encoding="utf-8")
    return path


@pytest.fixture
def calibrate(tiny, own):
    """Runs ``textveil calibrate`` on texts of the tiny bundle."""
    return lambda *arguments: run("calibrate", "--bundle", tiny.folder, "--input", own, *arguments)


def test_the_curve_and_the_epsilon_are_printed(calibrate):
    result = calibrate("--target", "unchanged-content=0.3")
    assert result.exit_code == 0, result.stderr
    assert "per word meets unchanged-content=0.3 with 95 % confidence." in result.stdout
    assert " met" in result.stdout
    assert "60 texts of your own, so the epsilon depends on them" in result.stdout


def test_public_texts_are_the_default_and_are_named(tiny):
    result = run("calibrate", "--bundle", tiny.folder, "--target", "unchanged-content=0.5", "--quiet", "--json")
    values = json.loads(result.stdout)
    assert values["texts"] == {"origin": "everyday", "texts": 60, "data_dependent": False}


def test_a_calibration_file_decides_the_budget_of_obfuscate(tmp_path, tiny, calibrate):
    path = tmp_path / "c.json"
    assert calibrate("--target", "unchanged-content=0.3", "--output", path, "--quiet").exit_code == 0
    found = Calibration.load(path)
    settings = ("--bundle", tiny.folder, "--target", path, "--json")
    result = run("obfuscate", "alpha beta gamma", *settings)
    assert result.exit_code == 0, result.stderr
    budget = json.loads(result.stdout)["certificate"]["budget"]
    assert (budget["epsilon_per_word"], budget["length"]) == (found.epsilon_per_word, "own")
    assert budget["largest_share"] == pytest.approx(found.largest_share)
    assert "calibrated on texts of your own" in result.stderr
    refused = run("obfuscate", "alpha beta gamma", *settings, "--mechanism", "exponential")
    assert refused.exit_code == 2
    assert "other settings: mechanism (was madlib, now exponential)" in refused.stderr
    for flag in ("--epsilon", "--epsilon-per-word", "--largest-share"):
        assert run("obfuscate", "alpha", *settings, flag, "3").exit_code == 2


def test_a_log_ratio_sets_the_largest_share(tmp_path, tiny):
    path = tmp_path / "c.json"
    settings = ("--bundle", tiny.folder, "--mechanism", "exponential", "--cap", 2)
    assert run("calibrate", *settings, "--target", "log-ratio=3", "--output", path).exit_code == 0
    assert Calibration.load(path).largest_share == 1.5
    result = run("obfuscate", "alpha beta", *settings, "--target", path, "--json")
    assert json.loads(result.stdout)["certificate"]["bounds"]["words"] == pytest.approx(3.0)


def test_a_page_is_written(tmp_path, calibrate):
    page = tmp_path / "c.html"
    assert calibrate("--target", "unchanged-content=0.3", "--html", page, "--quiet").exit_code == 0
    assert "<svg" in page.read_text(encoding="utf-8")
    assert calibrate("--target", "unchanged-content=0.3", "--html", page).exit_code == 2  # it exists


def test_an_unreachable_target_shows_what_was_tried(calibrate):
    result = calibrate("--target", "unchanged-content=0.001")
    assert result.exit_code == 2
    assert "cannot be met" in result.stderr
    assert "not met" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "unchangd=0.2"), "Did you mean 'unchanged'?"),
        (("--target", "unchanged"), "A target is a name and a number, such as unchanged=0.2."),
        (("--target", "unchanged=0.2", "--target", "unchanged=0.3"), "given twice"),
        (("--target", "unchanged=2"), "must be between 0 and 1"),
        (("--target", "adaptive=0.5"), "Set --attribute."),
        (("--target", "utility=0.9"), "Set --label."),
        (("--target", "adaptive=0.5", "--attribute", "author"), "author"),
        (("--target", "log-ratio=5"), "Use --mechanism exponential, and set its --cap."),
        (("--target", "inversion=0.5", "--confidence", "1"), "--confidence must be"),
    ],
)
def test_wrong_arguments_are_explained(calibrate, arguments, words):
    result = calibrate(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_an_attribute_needs_a_file(tiny):
    result = run("calibrate", "--bundle", tiny.folder, "--target", "adaptive=0.5", "--attribute", "author")
    assert "--attribute and --label go with --input." in result.stderr
