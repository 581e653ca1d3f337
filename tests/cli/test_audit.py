import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.obfuscation import Obfuscator

NOISY = f"{sys.executable} -c 'import sys, random; [print(random.choice([line.strip(), \"x\"])) for line in sys.stdin]'"


def run(*arguments):
    return CliRunner().invoke(app, ["audit", "--quiet", *map(str, arguments)])


@pytest.fixture(scope="module")
def bundle(tiny):
    return tiny.folder


def test_a_table_has_a_line_per_pair(bundle):
    result = run("--bundle", bundle, "--epsilon-per-word", 1, "--draws", 100, "--seed", 1)
    assert result.exit_code == 0, result.output
    for word in ("claimed", "exact", "shown", "verdict", "near words", "not refuted", "not neighbors: the kept"):
        assert word in " ".join(result.stdout.split())
    assert "None of 15 pairs refutes the claim: 100 answers to each text" in result.stdout


def test_as_json(bundle):
    options = ("--mechanism", "exponential", "--cap", 1, "--profile", "proven", "--seed", 1)
    result = run("--bundle", bundle, "--epsilon-per-word", 1, "--draws", 100, *options, "--json")
    found = json.loads(result.stdout)
    assert found["auditee"] == "Obfuscator('tiny', words, uniform, exponential (cap 1.0), profile 'proven')"
    assert found["violations"] == 0
    assert {pair["verdict"] for pair in found["pairs"]} == {"not refuted"}
    assert all(pair["exact"] <= pair["claimed"] + 0.01 for pair in found["pairs"])
    assert (found["draws"], found["confidence"]) == (100, 0.95)


def test_a_violation_ends_with_code_1(bundle):
    result = run("--bundle", bundle, "--command", NOISY, "--claim", 0.5, "--draws", 300)
    assert result.exit_code == 1
    assert "violated" in result.stdout
    assert "near words: word 1 is " in result.stdout
    assert "refute the claim: 300 answers" in result.stdout


def test_a_violation_as_json_ends_with_code_1_too(bundle):
    result = run(
        "--bundle",
        bundle,
        "--command",
        NOISY,
        "--claim",
        "distance",
        "--epsilon-per-word",
        0.1,
        "--draws",
        300,
        "--json",
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["violations"] > 5


def test_a_large_claim_is_not_refuted(bundle):
    result = run("--bundle", bundle, "--command", NOISY, "--claim", 50, "--draws", 300)
    assert result.exit_code == 0
    assert "can show a log-ratio of at most" in " ".join(result.stdout.split())


def test_no_claim_at_all_is_shown_as_such(bundle):
    result = run("--bundle", bundle, "--command", NOISY, "--claim", "inf", "--draws", 300, "--json")
    assert result.exit_code == 0
    assert {pair["verdict"] for pair in json.loads(result.stdout)["pairs"]} == {"no claim"}


def test_pairs_of_a_file(bundle, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a good film\ta bad film\nalpha\tbeta gamma\n")
    result = run("--bundle", bundle, "--epsilon-per-word", 1, "--draws", 100, "--pairs", path, "--json")
    first, second = json.loads(result.stdout)["pairs"]
    assert (first["kind"], first["first"], first["verdict"]) == ("line 1", "a good film", "not refuted")
    assert second["not_covered"] == "the numbers of words differ"


def test_a_certificate_is_audited(tiny, tmp_path):
    obfuscator = Obfuscator(tiny, decomposition="words", mechanism="exponential", profile="proven", seed=1)
    path = tmp_path / "certificate.json"
    obfuscator.obfuscate("alpha beta", epsilon_per_word=0.5).certificate.write(path)
    result = run("--bundle", tiny.folder, "--certificate", path, "--draws", 100, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert "exponential, profile 'proven'" in found["auditee"]
    again = run(
        *("--bundle", tiny.folder, "--mechanism", "exponential", "--profile", "proven"),
        *("--epsilon-per-word", 0.5, "--draws", 100, "--json"),
    )
    claimed = [[pair["claimed"] for pair in audit["pairs"]] for audit in (found, json.loads(again.stdout))]
    assert claimed[0] == claimed[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--level", "hihg"), "There is no level 'hihg'"),
        (("--command", "cat", "--claim", 1, "--epsilon", 3), "--epsilon does not go with --command"),
        (("--epsilon-per-word", -1), "must be positive"),
        (("--epsilon-per-word", 1, "--draws", 5), "--draws must be a whole number of at least 100"),
        (("--epsilon-per-word", 1, "--confidence", 2), "--confidence must be a number between 0 and 1"),
        (("--command", "cat"), "--command needs --claim"),
        (("--command", "cat", "--claim", "much"), "--claim must be a number of at least 0, or distance"),
        (("--command", "cat", "--claim", "-1"), "--claim must be a number of at least 0, or distance"),
        (("--command", "cat", "--claim", "distance"), "--claim distance needs --epsilon-per-word"),
        (("--command", "cat", "--claim", 1), "deterministic"),
        (("--command", "head -n 3", "--claim", 1), "too few answers: 3 to"),
        (("--command", "false", "--claim", 1), "The --command ended with code 1"),
        (("--command", "cat", "--claim", 1, "--largest-share", 1), "--largest-share does not go with --command"),
        (("--command", "cat", "--claim", 1, "--cap", 1), "--cap does not go with --command"),
        (("--command", "cat", "--claim", 1, "--certificate", "x.json"), "--command or --certificate, not both"),
        (("--certificate", "x.json", "--epsilon", 1), "a budget or --certificate"),
        (("--epsilon-per-word", 1, "--mechanism", "vickrey"), "has no guarantee"),
        (("--epsilon-per-word", 1, "--cap", 1), "--cap goes with --mechanism exponential or fluent"),
    ],
)
def test_wrong_arguments_end_with_code_2(arguments, message, bundle):
    result = run("--bundle", bundle, *arguments)
    assert message in " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_missing_certificate_or_file_of_pairs(bundle):
    assert "cannot be read" in run("--bundle", bundle, "--certificate", Path("none.json")).stderr
    assert "cannot be read" in run("--bundle", bundle, "--epsilon-per-word", 1, "--pairs", Path("none.tsv")).stderr
