import json

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.methods.decomposition import DECOMPOSERS

TEXT = "We don't live in New York City. It was out of the question."


def run(*arguments, **options):
    return CliRunner().invoke(app, ["decompose", *map(str, arguments)], **options)


def test_every_decomposition_has_a_line_per_sentence():
    result = run(TEXT)
    assert result.exit_code == 0, result.stderr
    first, second = (block.splitlines() for block in result.stdout.split("\n\n"))
    assert [line.split()[0] for line in first] == [line.split()[0] for line in second] == list(DECOMPOSERS)
    assert first[:2] == ["words    We don t live in New York City", "pmi      We don_t live_in_New York_City"]
    assert len({line.partition(" ")[2].strip().replace("_", " ") for line in second}) == 1
    assert "\x1b" not in result.stdout


def test_only_some():
    result = run(TEXT, "-d", "pos", "-d", "t_score")
    assert [line.split()[0] for line in result.stdout.splitlines() if line] == ["pos", "tscore"] * 2


def test_as_json():
    chunks = json.loads(run(TEXT, "--json").stdout)["wordnet"]
    assert {"start": 5, "stop": 8, "text": "New York City"} in chunks


def test_standard_input():
    assert run("-", input=TEXT).stdout == run(TEXT).stdout


@pytest.mark.parametrize("text", ["", "?!", "\U0001f600", "\ud800"])
def test_a_text_without_words(text):
    result = run(text)
    assert result.exit_code == 0
    assert [line.strip() for line in result.stdout.splitlines()] == list(DECOMPOSERS)


def test_a_bundle_with_fewer_lexicons(copied_bundle):
    result = run(TEXT, "--bundle", copied_bundle)
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if line] == ["words", "pos"] * 2
    assert "pmi: The bundle 'tiny' has no lexicon for 'pmi'" in result.stderr
    refused = run(TEXT, "--bundle", copied_bundle, "-d", "pmi")
    assert refused.exit_code == 1
    assert "no lexicon" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([TEXT, "-d", "pmu"], "Did you mean 'pmi'"),
        (["two", "arguments"], "in quotes"),
        ([TEXT, "--tagger", "nltj"], "Did you mean 'nltk'"),
        ([TEXT, "-d", "pmi", "--tagger", "nltk"], "--tagger goes with --decomposition pos"),
    ],
)
def test_wrong_calls_are_explained(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
