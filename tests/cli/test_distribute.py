import json
import os
import re

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.methods.distribution import DISTRIBUTORS

TEXT = "The soup was cold and the waiter, Mr <Grzybowski>, rude."


def run(*arguments, **options):
    return CliRunner().invoke(app, ["distribute", *map(str, arguments)], **options)


@pytest.fixture(scope="module", autouse=True)
def loaded_once():
    """Every command of these tests would load the same encoder again, for each method that has one."""
    with pytest.MonkeyPatch.context() as patched:
        for method in map(DISTRIBUTORS.load, ("attention", "gradients", "keybert")):
            patched.setattr(method, "load", share(method.load))
        yield


def share(load):
    """Load one encoder for all objects of a class that have the same files and settings."""
    loaded = {}

    def shared(distributor):
        key = (distributor.files, *distributor.settings.values())
        if key not in loaded:
            loaded[key] = load(distributor)
        return loaded[key]

    return shared


def test_every_distribution_has_a_column():
    result = run(TEXT, "--epsilon", 14)
    assert result.exit_code == 0, result.stderr
    head = next(line for line in result.stdout.splitlines() if "uniform" in line)
    assert re.findall(r"[a-z]+", head) == ["word", *DISTRIBUTORS]
    assert "budget 14" in result.stdout
    assert "\x1b" not in result.stdout
    soup = next(line for line in result.stdout.splitlines() if "soup" in line)
    assert len(re.findall(r"\d+(?:\.\d+)?", soup)) == len(list(DISTRIBUTORS))
    assert len(re.findall(r"\*\d", result.stdout)) == 4  # words without a score: three for ic, one for YAKE
    the = next(line for line in result.stdout.splitlines() if "│ The" in line)
    assert not re.search(r"\d", the)


def test_shares_sum_to_the_budget_and_stopwords_get_nothing():
    found = json.loads(run(TEXT, "--epsilon", 14, "--json").stdout)
    assert list(found) == list(DISTRIBUTORS)
    for division in found.values():
        words = division["words"]
        assert [word["word"] for word in words][:3] == ["The", "soup", "was"]
        assert sum(word["share"] for word in words) == pytest.approx(14, rel=1e-9)
        assert words[0]["share"] == 0
    assert "all-minilm-l6-v2" in found["attention"]["description"]
    perturbed = json.loads(run(TEXT, "-e", 14, "--json", "--stopwords", "perturb", "-d", "uniform").stdout)
    assert perturbed["uniform"]["words"][0]["share"] == pytest.approx(14 / 10)


def test_the_profile_decides_what_words_without_a_score_get():
    def shares(profile):
        words = json.loads(run(TEXT, "-e", 14, "--json", "-d", "yake", "--profile", profile).stdout)["yake"]["words"]
        return {word["word"]: word["share"] for word in words if word["score"] is None and word["word"] == "Mr"}

    assert shares("strict")["Mr"] > 0
    assert shares("paper")["Mr"] == 0


def test_the_page_is_for_the_user_only(tmp_path):
    umask = os.umask(0)
    try:
        assert run(TEXT, "--epsilon", 14, "-d", "uniform", "--html", tmp_path / "shares.html").exit_code == 0
    finally:
        os.umask(umask)
    assert (tmp_path / "shares.html").stat().st_mode & 0o777 == 0o600


def test_the_page_has_a_box_for_every_word(tmp_path):
    page = tmp_path / "shares.html"
    result = run(TEXT, "--epsilon", 14, "--html", page)
    assert result.exit_code == 0, result.stderr
    written = page.read_text(encoding="utf-8")
    assert written.count("<li ") == 10 * len(list(DISTRIBUTORS))
    assert "Grzybowski" in written
    assert not re.search(r"https?://|<script|<link|src=", written)
    assert run(TEXT, "--epsilon", 14, "--html", page).exit_code == 2
    assert run(TEXT, "-e", 14, "-d", "uniform", "--html", page, "--overwrite").exit_code == 0
    assert page.read_text(encoding="utf-8").count("<h2>") == 1


def test_what_is_not_installed_is_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTVEIL_RESOURCE_WORDNET_IC", str(tmp_path / "none"))
    result = run(TEXT, "-e", 14)
    assert result.exit_code == 0
    assert "uniform" in result.stdout
    assert "ic: " in result.stderr
    assert "wordnet-ic" in result.stderr
    asked = run(TEXT, "-e", 14, "-d", "ic")
    assert asked.exit_code == 1
    assert "wordnet-ic" in asked.stderr


@pytest.mark.parametrize("text", ["", "?!", "\U0001f600", "\ud800", "the of and"])
def test_a_text_without_words_to_give_shares_to(text, tmp_path):
    result = run(text, "-e", 14, "--html", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr


def test_standard_input():
    assert run("-", "-e", 3, "-d", "uniform", input=TEXT).stdout == run(TEXT, "-e", 3, "-d", "uniform").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-e", 0], "positive"),
        (["-e", 3, "-d", "atention"], "Did you mean 'attention'"),
        (["-e", 3, "-d", "yake", "--encoder", "gte-small"], "--encoder goes with"),
        (["-e", 3, "-d", "attention", "--steps", 9], "--steps goes with"),
        (["-e", 3, "-d", "gradients", "--steps", 0], "at least 1"),
        (["-e", 3, "--profile", "stric"], "Did you mean 'strict'"),
    ],
)
def test_bad_input(arguments, message):
    result = run(TEXT, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "soup" not in result.stderr


def test_an_encoder_that_is_not_there(tmp_path):
    result = run(TEXT, "-e", 3, "-d", "keybert", "--encoder", tmp_path / "none")
    assert result.exit_code == 1
    assert "textveil resources list" in result.stderr


def test_obfuscate_takes_every_distribution():
    for name in DISTRIBUTORS:
        result = CliRunner().invoke(app, ["obfuscate", TEXT, "-e", "60", "--distribution", name, "--explain"])
        assert result.exit_code == 0, result.stderr
        assert "score" in result.stdout
    result = CliRunner().invoke(
        app, ["obfuscate", TEXT, "-e", "60", "--distribution", "gradients", "--steps", "5", "--json"]
    )
    assert json.loads(result.stdout)["certificate"]["distribution"]["options"] == {"steps": 5, "precision": "float32"}
    assert len(json.loads(result.stdout)["chunks"][1]["scores"]) == 1
