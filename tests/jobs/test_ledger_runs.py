"""Files with a ledger: refused rows, resumption, and processes that are killed."""

import csv
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from textveil.budget import Budget
from textveil.errors import LedgerError, ParameterError
from textveil.jobs import FileJob, JobOptions
from textveil.ledger import Ledger
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome
from textveil.tables import FORMATS

from ..tables.test_contract import make as make_table
from ..tables.test_contract import read

TEXTS = [f"alpha beta gamma {number}" for number in range(40)]
NEVER, ALWAYS = 1e9, 0.0


@pytest.fixture
def make(tiny, tmp_path):
    """An obfuscator with the ledger of the test."""

    def make(repeat="fresh", budget=None, **options):
        ledger = Ledger(tmp_path / "spent.db", budget_per_document=budget, repeat=repeat)
        return Obfuscator(tiny, ledger=ledger, largest_share=math.inf, **options)

    return make


def job(folder: Path, output="out.csv", *, source="in.csv", resume=False, part_seconds=NEVER, **options) -> FileJob:
    chosen = JobOptions(**{"budget": Budget(6.0), "batch_size": 4, **options})
    return FileJob(folder / source, folder / output, chosen, resume=resume, part_seconds=part_seconds)


def write(folder: Path, texts=TEXTS, name="csv") -> None:
    (folder / f"in.{name}").write_bytes(make_table(name, texts))


class Stop(Exception):
    """An interruption."""


def stop_at(count):
    def progress(stage, documents, fraction):
        if stage == "obfuscating" and documents >= count:
            raise Stop

    return progress


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_refused_row_stays_in_its_place_without_a_text(tmp_path, make, name):
    write(tmp_path, TEXTS[:8], name)
    make().obfuscate(TEXTS[5], epsilon=6)
    report = job(tmp_path, f"out.{name}", source=f"in.{name}").run(make(budget=10))
    texts = read(name, (tmp_path / f"out.{name}").read_bytes())
    assert [number for number, text in enumerate(texts) if not text] == [5]
    assert report.certificate.tally.documents[DocumentOutcome.REFUSED] == 1
    if name != "txt":
        outcomes = read(name, (tmp_path / f"out.{name}").read_bytes(), "textveil_outcome")
        assert [number for number, outcome in enumerate(outcomes) if outcome == "refused"] == [5]


@pytest.mark.parametrize("repeat", ["fresh", "same"])
@pytest.mark.parametrize("part_seconds", [NEVER, ALWAYS], ids=["nothing saved", "parts saved"])
def test_a_resumed_run_charges_nothing_twice(tmp_path, make, repeat, part_seconds):
    write(tmp_path)
    with pytest.raises(Stop):
        job(tmp_path, part_seconds=part_seconds).run(make(repeat, budget=6), stop_at(22))
    recorded = make().ledger.summarize().releases
    assert recorded >= 20
    report = job(tmp_path, resume=True).run(make(repeat, budget=6))
    assert report.certificate.tally.documents[DocumentOutcome.REFUSED] == 0
    assert make().ledger.summarize().releases == len(TEXTS)
    ledger = make().ledger
    for text, answer in zip(TEXTS, read("csv", (tmp_path / "out.csv").read_bytes()), strict=True):
        assert ledger.has(text, answer)


def test_a_text_that_changed_before_the_resumption_is_charged_and_gets_other_noise(tmp_path, make):
    write(tmp_path)
    with pytest.raises(Stop):
        job(tmp_path).run(make(), stop_at(22))
    write(tmp_path, ["psi", *TEXTS[1:]])
    job(tmp_path, resume=True).run(make())
    ledger = make().ledger
    assert [len(ledger.find(text)) for text in ("psi", TEXTS[0], TEXTS[1])] == [1, 1, 1]


def test_a_run_that_starts_over_charges_again(tmp_path, make):
    write(tmp_path)
    with pytest.raises(Stop):
        job(tmp_path).run(make(), stop_at(22))
    job(tmp_path, overwrite=True).run(make())
    assert len(make().ledger.find(TEXTS[0])) == 2


def test_a_run_resumes_only_with_its_own_ledger(tmp_path, make, tiny):
    write(tmp_path)
    with pytest.raises(Stop):
        job(tmp_path).run(make(budget=6), stop_at(22))
    others = [
        make(budget=7),
        Obfuscator(tiny, largest_share=math.inf),
        Obfuscator(tiny, largest_share=math.inf, ledger=Ledger(tmp_path / "other.db", budget_per_document=6)),
    ]
    for other in others:
        with pytest.raises(ParameterError, match="had other settings: ledger"):
            job(tmp_path, resume=True).run(other)


def test_a_ledger_that_fails_stops_the_run_and_nothing_unrecorded_is_saved(tmp_path, make, monkeypatch):
    write(tmp_path)
    obfuscator = make()
    charge = obfuscator.ledger.charge

    def fail(releases, settings):
        if releases[0].text == TEXTS[20]:
            raise LedgerError("The disk is full.")
        return charge(releases, settings)

    monkeypatch.setattr(obfuscator.ledger, "charge", fail)
    with pytest.raises(LedgerError, match="full"):
        job(tmp_path, part_seconds=ALWAYS).run(obfuscator)
    assert not (tmp_path / "out.csv").exists()
    parts = sorted((tmp_path / "out.csv.partial").glob("*.part"))
    saved = [text for part in parts for text in csv.reader(part.read_text().splitlines())]
    assert len(saved) == 21  # the header and the rows before the failure


def kill(folder: Path, tiny, loops: int, seed: int) -> tuple[Ledger, list[tuple[int, str]]]:
    shutil.copytree(tiny.folder, folder / "bundle")
    texts = [f"alpha beta gamma {number} plot" for number in range(20)]
    rows = "".join(f"{number},{text}\n" for number, text in enumerate(texts))
    (folder / "in.csv").write_text(f"id,text\n{rows}", encoding="utf-8")
    script = Path(__file__).with_name("killed_runs.py")
    subprocess.run([sys.executable, script, folder, str(loops), str(seed)], check=True, timeout=500)
    seen = [tuple(json.loads(line)) for line in (folder / "seen.jsonl").read_text().splitlines()]
    ledger = Ledger(folder / "spent.db", create=False)
    assert ledger.verify() == []
    unknown = [row for row, answer in seen if not ledger.has(texts[row], answer)]
    assert not unknown, f"{len(unknown)} of {len(seen)} rows were written and not recorded"
    assert ledger.summarize().largest_spent <= 30.0 * (1 + 1e-9)
    return ledger, seen


def test_processes_that_are_killed_write_nothing_that_is_not_in_their_ledger(tmp_path, tiny):
    _, seen = kill(tmp_path, tiny, loops=4, seed=1)
    assert len(seen) > 10


@pytest.mark.slow
def test_fifty_kills_of_two_processes_leave_nothing_unrecorded(tmp_path, tiny):
    ledger, seen = kill(tmp_path, tiny, loops=50, seed=2)
    assert len(seen) > 100
    assert ledger.summarize().largest_spent == pytest.approx(30.0)  # so the limit was reached, and held
