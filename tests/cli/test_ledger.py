import csv
import json
import re
import sqlite3

import pytest
from typer.testing import CliRunner

from textveil.certificate import Certificate
from textveil.cli.main import app
from textveil.ledger import Ledger, Release

TEXT = "alpha beta gamma"


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def obfuscate(tiny, tmp_path):
    """Runs ``textveil obfuscate`` with a ledger."""
    fixed = ("--bundle", tiny.folder, "--largest-share", "inf")
    return lambda *arguments, ledger="spent.db": run("obfuscate", *arguments, *fixed, "--ledger", tmp_path / ledger)


@pytest.fixture
def spent(tmp_path, obfuscate):
    """A ledger with two releases of a text and one of another."""
    obfuscate(TEXT, "--epsilon", 6)
    obfuscate(TEXT, "--epsilon", 3)
    obfuscate("psi", "--epsilon", 1)
    return tmp_path / "spent.db"


def test_a_new_ledger_is_announced_once(obfuscate):
    assert "New ledger: " in obfuscate(TEXT, "--epsilon", 6).stderr
    assert "New ledger" not in obfuscate(TEXT, "--epsilon", 6).stderr


def test_a_text_that_would_pass_its_budget_is_refused_and_not_printed(obfuscate):
    assert obfuscate(TEXT, "--epsilon", 6, "--budget-per-document", 10).exit_code == 0
    refused = obfuscate(TEXT, "--epsilon", 6, "--budget-per-document", 10)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "has spent 6 of 10 (6 on 20" in refused.stderr
    assert "--repeat same" in refused.stderr
    assert "alpha" not in refused.stderr


def test_repeat_same_prints_the_first_answer_again(obfuscate):
    first, again = (
        obfuscate(TEXT, "--epsilon", 6, "--repeat", "same", "--budget-per-document", 6).stdout for _ in range(2)
    )
    assert first == again != ""


def test_a_file_has_refused_rows_and_a_warning(tmp_path, obfuscate):
    (tmp_path / "in.csv").write_text(f"id,text\n1,{TEXT}\n2,psi chi\n", encoding="utf-8")
    obfuscate(TEXT, "--epsilon", 6)
    files = ("--input", tmp_path / "in.csv", "--output", tmp_path / "out.csv")
    result = obfuscate(*files, "--epsilon", 6, "--budget-per-document", 10)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert (rows[0]["text"], rows[0]["textveil_outcome"]) == ("", "refused")
    assert rows[1]["text"]
    assert "Warning: the ledger refused 1 of 2 documents (outcome 'refused')" in result.stderr
    assert "set --budget-per-document 12 or more." in result.stderr
    assert "ledger         at most 10 per document over all releases" in result.stderr


@pytest.mark.parametrize("flags", [(), ("--quiet",), ("--workers", 2)])
def test_a_run_that_refuses_most_rows_fails_and_says_first_what_they_would_have_needed(tmp_path, obfuscate, flags):
    (tmp_path / "in.csv").write_text("text\npsi chi\nchi psi chi psi chi\npsi psi psi\n", encoding="utf-8")
    files = ("--input", tmp_path / "in.csv", "--output", tmp_path / "out.csv", "--certificate", tmp_path / "c.json")
    result = obfuscate(*files, "--epsilon-per-word", 4, "--budget-per-document", 9, *flags)
    assert result.exit_code == 1
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["textveil_outcome"] == "refused" for row in rows] == [False, True, True]
    lines = [line for line in result.stderr.splitlines() if not line.startswith("New ledger")]
    assert lines[0].startswith(
        "Warning: the ledger refused 2 of 3 documents (outcome 'refused'). Their texts are empty."
    )
    needed = int(re.search(r"set --budget-per-document (\d+) or more\.$", lines[0])[1])
    assert "refused" not in str(Certificate.load(tmp_path / "c.json").as_dict()["budget"])
    again = obfuscate(
        *files, "--epsilon-per-word", 4, "--budget-per-document", needed, *flags, "--overwrite", ledger="new.db"
    )
    assert again.exit_code == 0, again.stderr
    assert "refused" not in again.stderr


@pytest.mark.parametrize("flag", [("--ledger-key", "k"), ("--budget-per-document", 5), ("--repeat", "same")])
def test_flags_of_a_ledger_need_one(tiny, flag):
    result = run("obfuscate", TEXT, "--epsilon", 6, "--bundle", tiny.folder, *flag)
    assert result.exit_code == 2
    assert "go with --ledger." in result.stderr


def test_wrong_values_are_refused(obfuscate):
    result = obfuscate(TEXT, "--epsilon", 6, "--repeat", "sane")
    assert result.exit_code == 2
    assert "same" in result.stderr
    result = obfuscate(TEXT, "--epsilon", 6, "--budget-per-document", "-1")
    assert result.exit_code == 2
    assert "--budget-per-document" in result.stderr


def test_a_missing_folder_and_another_key_are_explained(tmp_path, tiny, spent):
    result = run("obfuscate", TEXT, "--epsilon", 6, "--bundle", tiny.folder, "--ledger", tmp_path / "no" / "spent.db")
    assert result.exit_code == 2
    assert "There is no folder" in result.stderr
    Ledger(tmp_path / "other.db")
    result = run("ledger", "show", spent, "--key", tmp_path / "other.db.key")
    assert result.exit_code == 1
    assert "has another key" in result.stderr
    assert "Give the file with its key as --key." in result.stderr


def test_show_lists_totals_and_the_largest_documents(spent):
    result = run("ledger", "show", spent)
    assert result.exit_code == 0
    assert "3 releases of 2 documents" in result.stdout
    assert "spent 10 in all, and at most 9 by a document" in result.stdout
    values = json.loads(run("ledger", "show", spent, "--json").stdout)
    assert [row["spent"] for row in values["largest"]] == [9.0, 1.0]


def test_show_lists_the_releases_of_a_text(spent):
    result = run("ledger", "show", spent, "--text", TEXT)
    assert result.stdout.startswith("2 releases, 9 spent\n")
    assert "strict, words, uniform, madlib, fresh noise" in result.stdout
    assert TEXT not in result.stdout
    entries = json.loads(run("ledger", "show", spent, "--text", TEXT, "--json").stdout)
    assert [entry["epsilon"] for entry in entries] == [6.0, 3.0]
    assert run("ledger", "show", spent, "--text", "rho").stdout == "0 releases, 0 spent\n"


def test_showing_does_not_create_a_ledger(tmp_path):
    result = run("ledger", "show", tmp_path / "spent.db")
    assert result.exit_code == 2
    assert "There is no ledger" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_verify_tells_an_intact_ledger_from_a_changed_one(spent):
    assert run("ledger", "verify", spent).stdout == "intact: 3 releases\n"
    with sqlite3.connect(spent) as connection:
        connection.execute("UPDATE releases SET epsilon = 0 WHERE number = 2")
    connection.close()
    result = run("ledger", "verify", spent)
    assert result.exit_code == 1
    assert "Error: release 2 was changed" in result.stderr


def test_verify_checks_a_released_file(tmp_path, obfuscate):
    (tmp_path / "in.csv").write_text(f"id,text\n1,{TEXT}\n2,psi chi\n", encoding="utf-8")
    files = ("--input", tmp_path / "in.csv", "--output", tmp_path / "out.csv")
    assert obfuscate(*files, "--epsilon", 6).exit_code == 0
    checked = ("ledger", "verify", tmp_path / "spent.db", "--original", tmp_path / "in.csv", "--obfuscated")
    assert run(*checked, tmp_path / "out.csv").exit_code == 0
    other = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    other[2] = "2,something else,obfuscated"
    (tmp_path / "other.csv").write_text("\n".join(other), encoding="utf-8")
    result = run(*checked, tmp_path / "other.csv")
    assert result.exit_code == 1
    assert "row 2 was released, and the ledger does not have it" in result.stderr
    assert "something" not in result.stderr
    assert run(*checked[:-1]).exit_code == 2


def test_merge_adds_another_ledger(tmp_path, spent):
    theirs = Ledger(tmp_path / "theirs.db", key_path=f"{spent}.key")
    theirs.charge([Release("psi", "chi", 4.0, None)], {})
    assert run("ledger", "merge", spent, theirs.path).stdout.endswith("theirs.db: 1 releases added\n")
    assert [entry.epsilon for entry in Ledger(spent).find("psi")] == [1.0, 4.0]
    Ledger(tmp_path / "other.db")
    result = run("ledger", "merge", spent, tmp_path / "other.db")
    assert result.exit_code == 1
    assert "has another key" in result.stderr
