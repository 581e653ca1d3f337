import json

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, ["deniability", *map(str, arguments)])


@pytest.fixture(scope="module")
def bundle(tiny):
    return tiny.folder


def test_a_line_per_word(bundle):
    result = run("alpha", "xyzzy", "--epsilon-per-word", 1, "--mechanism", "exponential", "--bundle", bundle)
    assert result.exit_code == 0, result.stderr
    assert "exponential, share 1" in result.stdout
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("│")] == ["alpha", "xyzzy"]
    assert "xyzzy (unknown)" in result.stdout
    assert " to " not in result.stdout  # exact values have no interval


def test_draws_have_intervals(bundle):
    result = run("alpha", "--epsilon-per-word", 1, "--bundle", bundle, "--draws", 200)
    assert result.exit_code == 0, result.stderr
    assert "madlib, share 1" in result.stdout
    assert " to" in result.stdout


def test_as_json(bundle):
    options = ("--mechanism", "exponential", "--dimensions", 4, "--bundle", bundle, "--json")
    values = json.loads(run("alpha", "beta", "--epsilon-per-word", 2, *options).stdout)
    assert (values["mechanism"], values["share"]) == ("exponential (dimensions 4)", 2.0)
    assert [word["word"] for word in values["words"]] == ["alpha", "beta"]
    assert 0 < values["words"][0]["stays"]["value"] < 1


def test_the_share_is_limited_as_in_obfuscate(bundle):
    result = run("alpha", "--epsilon-per-word", 1000, "--mechanism", "exponential", "--bundle", bundle, "--json")
    assert "The share is limited to" in result.stderr
    assert json.loads(result.stdout)["share"] < 1000
    lifted = run(
        *("alpha", "--epsilon-per-word", 1000, "--mechanism", "exponential", "--bundle", bundle, "--json"),
        *("--largest-share", "inf"),
    )
    assert json.loads(lifted.stdout)["words"][0]["stays"]["value"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("alpha", "--epsilon-per-word", 1, "--level", "low"), "not several of them"),
        (("alpha", "--epsilon-per-word", 0), "must be positive"),
        (("?!", "--epsilon-per-word", 1), "Argument 1 of WORDS... has no word"),
        (("alpha", "--epsilon-per-word", 1, "--draws", 0), "--draws"),
        (("alpha", "--epsilon-per-word", 1, "--mechanism", "vickrey"), "--profile paper"),
        (("alpha", "--epsilon-per-word", 1, "--cap", 2), "--cap goes with --mechanism"),
    ],
)
def test_wrong_arguments_end_with_code_2(arguments, message, bundle):
    result = run(*arguments, "--bundle", bundle)
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert result.exit_code == 2
