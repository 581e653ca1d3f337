"""The options of a job: what is refused before anything is read, and what is reported at the end."""

import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest

from textveil.budget import Budget
from textveil.certificate import Tally
from textveil.errors import BudgetError, OutputExistsError, ParameterError
from textveil.jobs.options import JobOptions, check_free, check_place
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome
from textveil.tables import FORMATS, OUTCOME_COLUMN, TEXT_COLUMN, Layout
from textveil.text.batches import BATCH_SIZE


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("text\nalpha\n", encoding="utf-8")
    return path


def options(**changes):
    return JobOptions(**{"budget": Budget(1.0), **changes})


def test_defaults():
    chosen = options()
    assert chosen.layout == Layout(TEXT_COLUMN, OUTCOME_COLUMN, None)
    assert (chosen.batch_size, chosen.overwrite, chosen.certificate) == (BATCH_SIZE, False, None)


def test_good_options_pass(source, tmp_path):
    options(certificate=tmp_path / "c.json").check(source, tmp_path / "out.csv")
    options().check(None, None)
    options(budget=Budget(epsilon_per_word=1.0)).check(source, None)


@pytest.mark.parametrize("size", [0, -1, 1.5])
def test_a_batch_size_is_a_positive_whole_number(source, size):
    with pytest.raises(ParameterError) as caught:
        options(batch_size=size).check(source, None)
    assert caught.value.parameters == ("batch_size",)


@pytest.mark.parametrize("clash", ["output", "certificate", "both"])
def test_input_output_and_certificate_are_different_files(source, tmp_path, clash):
    (tmp_path / "folder").mkdir()
    detour = tmp_path / "folder" / ".." / "in.csv"
    output, certificate = {
        "output": (detour, None),
        "certificate": (None, detour),
        "both": (tmp_path / "x.csv", tmp_path / "x.csv"),
    }[clash]
    with pytest.raises(ParameterError, match="different files"):
        options(certificate=certificate, overwrite=True).check(source, output)
    assert source.read_text(encoding="utf-8") == "text\nalpha\n"


def test_an_existing_certificate_is_replaced_only_on_request(source, tmp_path):
    certificate = tmp_path / "c.json"
    certificate.touch()
    with pytest.raises(OutputExistsError, match="c.json"):
        options(certificate=certificate).check(source, None)
    options(certificate=certificate, overwrite=True).check(source, None)


def test_an_epsilon_per_word_needs_a_file_that_can_be_read_twice(source, tmp_path):
    per_word = options(budget=Budget(epsilon_per_word=1.0, length="average"))
    for unreadable in (None, tmp_path):
        with pytest.raises(BudgetError, match="read twice"):
            per_word.check(unreadable, None)
        options().check(unreadable, None)
    per_word.check(tmp_path / "missing.csv", None)  # reading it will say that it is missing


def test_a_report_certifies_the_tally(tiny, tmp_path):
    tally = Tally(documents=Counter({DocumentOutcome.OBFUSCATED: 3, DocumentOutcome.MISSING: 1}))
    table = FORMATS.load("csv")(column="text", outcome_column=None, source="s")
    certificate = tmp_path / "c.json"
    started = time.monotonic() - 5
    report = options(certificate=certificate).report(
        Obfuscator(tiny, seed=1),
        Budget(epsilon_per_word=4.0, length="average", average_length=7.5),
        tally,
        table,
        started,
    )
    assert report.documents == 4
    assert report.seconds >= 5
    assert (report.certificate.budget.epsilon_per_word, report.certificate.budget.average_length) == (4.0, 7.5)
    assert report.certificate.other_columns
    assert json.loads(certificate.read_bytes()) == report.certificate.as_dict()


def test_plain_text_has_no_other_columns_and_no_certificate_is_written_by_default(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = FORMATS.load("txt")(column="text", outcome_column=None, source="s")
    report = options().report(Obfuscator(tiny, seed=1), Budget(1.0), Tally(), table, time.monotonic())
    assert not report.certificate.other_columns
    assert list(tmp_path.iterdir()) == []


def test_a_place_is_an_ordinary_file_in_a_folder_that_exists(tmp_path):
    check_place(tmp_path / "new.csv")
    (tmp_path / "old.csv").touch()
    check_place(tmp_path / "old.csv")
    with pytest.raises(ParameterError, match="no folder .*missing"):
        check_place(tmp_path / "missing" / "new.csv")
    with pytest.raises(ParameterError, match="not an ordinary file"):
        check_place(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(ParameterError, match="not an ordinary file"):
            check_place(tmp_path / "fifo")


def test_an_existing_file_is_free_only_to_be_overwritten(tmp_path):
    path = tmp_path / "out.csv"
    check_free(path, overwrite=False)
    path.write_text("old", encoding="utf-8")
    with pytest.raises(OutputExistsError, match="out.csv.* exists"):
        check_free(path, overwrite=False)
    check_free(path, overwrite=True)
    assert path.read_text(encoding="utf-8") == "old"
    with pytest.raises(ParameterError):
        check_free(Path(tmp_path), overwrite=True)
