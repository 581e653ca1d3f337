"""``textveil prepare CORPUS --output BUNDLE`` and ``textveil prepare train``."""

import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from textveil.bundles.bundle import Bundle
from textveil.cli.main import app
from textveil.execution import EXECUTORS

PHRASES = ["new york", "green tea", "box office hit", "good film", "the plot", "was bad", "it was", "a cup of tea"]
SMALL = ["--dimensions", 8, "--epochs", 1, "--min-entry-count", 2, "--no-names", "--executor", "local"]
THRESHOLDS = ["--min-count", 3, "--top", 50]


def run(*arguments):
    return CliRunner().invoke(app, ["prepare", *map(str, arguments)])


@pytest.fixture
def corpus(tmp_path):
    generator = random.Random(2)
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(" ".join(generator.choices(PHRASES, k=8)) for _ in range(300)), encoding="utf-8")
    return path


def test_one_command_builds_a_bundle_from_a_corpus(corpus, tmp_path):
    output = tmp_path / "mine"
    result = run(corpus, "--output", output, *THRESHOLDS, *SMALL, "--license", "CC0", "--bundle-version", "3")
    assert result.exit_code == 0, result.stderr
    assert "MiB of disk next to" in result.stderr
    assert "MiB are free" in result.stderr
    for decomposition in ("words", "pmi", "llr", "tscore", "pos", "wordnet"):
        assert f"\n{decomposition} " in f"\n{result.stdout}"
    bundle = Bundle.load(output)
    assert (bundle.manifest.name, bundle.manifest.version, bundle.manifest.license) == ("mine", "3", "CC0")
    assert bundle.manifest.corpus == "corpus.txt"
    used = CliRunner().invoke(
        app, ["obfuscate", "Green tea in New York", "-e", "9", "--decomposition", "llr", "--bundle", str(output)]
    )
    assert used.exit_code == 0, used.stderr
    assert run(corpus, "--output", output, *THRESHOLDS, *SMALL).exit_code == 2  # it is there
    again = run(corpus, "--output", output, *THRESHOLDS, *SMALL, "--overwrite", "--quiet", "-d", "words")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "")
    assert Bundle.load(output).decompositions == ("words",)


def test_training_uses_existing_lexicons(corpus, tmp_path):
    counts, lexicons, output = (tmp_path / name for name in ("counts", "lexicons", "mine"))
    missing = run("train", corpus, "-o", output, *SMALL)
    assert missing.exit_code == 2
    assert "--lexicons is missing: pmi, llr, tscore need" in missing.stderr
    assert run("count", corpus, "-o", counts, "--min-count", 3, "--executor", "local", "-q").exit_code == 0
    assert run("score", counts, "-o", lexicons, "--top", 50).exit_code == 0
    result = run("train", corpus, "-o", output, "--lexicons", lexicons, *SMALL, "-d", "pmi", "--storage", "float16")
    assert result.exit_code == 0, result.stderr
    bundle = Bundle.load(output)
    assert "green tea" in bundle.lexicon("pmi").spelled
    assert bundle.manifest.vectors["pmi"]["storage"] == "float16"
    assert run("train", corpus, "-o", tmp_path / "words", *SMALL, "-d", "words").exit_code == 0


def test_invalid_input_is_refused_before_any_work(corpus, tmp_path):
    output = tmp_path / "mine"
    for arguments, code, message in [
        (["--storage", "int4"], 2, "Did you mean 'int8'"),
        (["-d", "wrods"], 2, "Did you mean 'words'"),
        (["--epochs", 0], 2, "--epochs must be at least 1"),
        (["--top", 0], 2, "--top must be a percentage"),
        (["--most-entries", 0], 2, "--most-entries must be at least 1"),
        (["--memory", "much"], 2, "such as 512M"),
        (["--executor", "rya"], 2, "Did you mean 'ray'"),
        (["--min-count", 9999], 1, "too small for --min-count 9999. "),
        (["--min-entry-count", 9999, "-d", "words"], 1, "too small for --min-entry-count 9999: "),
    ]:
        result = run(corpus, "--output", output, *SMALL, *arguments)
        assert result.exit_code == code, (arguments, result.stderr)
        assert message in result.stderr
        assert not list(tmp_path.glob("mine*"))
    assert run(tmp_path / "none.txt", "--output", output, *SMALL).exit_code == 1
    assert "Create it first" in run(corpus, "--output", output / "inside", *SMALL).stderr
    table, empty = tmp_path / "table.csv", tmp_path / "empty.txt"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    assert "no column 'text'" in run(table, "--output", output, *SMALL).stderr
    assert "has 0 words" in run(empty, "--output", output, *SMALL).stderr
    assert not list(tmp_path.glob("mine*"))  # nothing to go on from: the next command may have other settings


@pytest.mark.parametrize("command", [[], ["train"]])
def test_options_are_checked_before_an_executor_starts(corpus, tmp_path, monkeypatch, command):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").touch()
    monkeypatch.setattr(EXECUTORS, "load", lambda name: pytest.fail("the executor was started"))
    for arguments, message in [
        (["--output", tmp_path / "photos"], "is not a bundle"),
        (["--output", tmp_path / "new", "--epochs", 0], "--epochs must be at least 1"),
        (["--output", tmp_path / "new", "--storage", "int4"], "Did you mean 'int8'"),
        (["--output", tmp_path / "none" / "new"], "Create it first"),
    ]:
        result = run(*command, corpus, *arguments, "-d", "words", "--no-names", "--executor", "ray")
        assert result.exit_code != 0
        assert message in result.stderr


def test_the_license_is_recorded(corpus, tmp_path):
    assert run(corpus, "-o", tmp_path / "mine", *SMALL, "-d", "words", "--license", "CC0").exit_code == 0
    assert Bundle.load(tmp_path / "mine").manifest.license == "CC0"


def test_names_need_a_model(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTVEIL_RESOURCES", str(tmp_path / "none"))
    monkeypatch.setenv("TEXTVEIL_RESOURCE_SPACY_EN", str(tmp_path / "none"))
    arguments = [argument for argument in SMALL if argument != "--no-names"]
    result = run(corpus, "--output", tmp_path / "mine", *THRESHOLDS, *arguments)
    assert result.exit_code == 1
    assert "spacy-en" in result.stderr
    assert not list(tmp_path.glob("mine*"))


def test_a_bundle_has_priors_unless_they_are_switched_off(corpus, tmp_path):
    result = run(corpus, "-o", tmp_path / "mine", *SMALL, "-d", "words", "--min-documents", 5, "--prior-order", 2)
    assert result.exit_code == 0, result.stderr
    assert re.search(r"prior with n-grams: \d+ of 2 entries", result.stdout)
    assert Bundle.load(tmp_path / "mine").manifest.parts["words"]["prior"]["min_documents"] == 5
    shown = CliRunner().invoke(app, ["bundle", "info", str(tmp_path / "mine")])
    assert "prior with n-grams: " in shown.stdout
    verified = CliRunner().invoke(app, ["bundle", "verify", str(tmp_path / "mine")])
    assert "words     prior: computed again and equal" in verified.stdout
    assert run(corpus, "-o", tmp_path / "none", *SMALL, "-d", "words", "--no-prior").exit_code == 0
    assert Bundle.load(tmp_path / "none").prior("words") is None


def test_a_prior_is_added_to_a_bundle(corpus, tmp_path):
    bundle, output = tmp_path / "mine", tmp_path / "fluent"
    assert run(corpus, "-o", bundle, *SMALL, "-d", "words", "--no-prior", "-q").exit_code == 0
    arguments = ["prior", corpus, "--bundle", bundle, "-o", output, "--executor", "local", "--min-documents", 5]
    for more, code, message in [
        (["-d", "pmi"], 2, "There is no decomposition of the bundle 'pmi'"),
        (["--prior-order", 9], 2, "--prior-order must be from 1 to 4"),
        (["--min-documents", 0], 2, "--min-documents must be at least 1"),
        (["--most-ngrams", 0], 2, "--most-ngrams must be at least 1"),
        (["--bundle", tmp_path / "nowhere"], 2, "There is no bundle or folder"),
        (["-o", tmp_path / "none" / "new"], 1, "Create it first"),
    ]:
        result = run(*arguments, *more)
        assert result.exit_code == code, (more, result.stderr)
        assert message in result.stderr
        assert not output.exists()
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    assert "Done in" in result.stderr
    assert "prior with n-grams: " in result.stdout
    assert Bundle.load(output).prior("words").order == 3
    assert run(*arguments).exit_code == 2  # it is there
    again = run(*arguments, "--overwrite", "--quiet")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "")


def test_a_misspelled_step_is_not_a_corpus(corpus, tmp_path):
    result = run("cuont", corpus, "--output", tmp_path / "counts")
    assert result.exit_code == 2
    assert "Did you mean 'count'?" in result.stderr


@pytest.mark.slow
def test_a_run_that_is_killed_repeatedly_builds_the_same_bundle(corpus, tmp_path):
    def command(output):
        arguments = ["prepare", corpus, "--output", output, *THRESHOLDS, *SMALL, "--name", "tiny"]
        return [sys.executable, "-m", "textveil.cli.main", *map(str, arguments)]

    subprocess.run(command(tmp_path / "whole"), check=True)
    delay, kills = 1.0, 0
    while True:
        process = subprocess.Popen(command(tmp_path / "killed"))
        try:
            assert process.wait(delay) == 0
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills, delay = kills + 1, delay + 0.2
            if (tmp_path / "killed").exists() and not (tmp_path / "killed.partial").exists():
                break  # killed when all was done
            time.sleep(0.01)
    assert kills > 3
    whole, killed = Bundle.load(tmp_path / "whole"), Bundle.load(tmp_path / "killed")
    assert whole.manifest == killed.manifest  # with the hashes of all files
    np.testing.assert_array_equal(whole.vectors("pos").matrix, killed.vectors("pos").matrix)
    assert [path.name for path in tmp_path.iterdir() if "killed" in path.name] == ["killed"]
