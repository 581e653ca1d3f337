"""Files that workers obfuscate: the same bytes, whoever does the work and whoever is killed."""

from __future__ import annotations

import csv
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from textveil.budget import Budget
from textveil.bundles.bundle import Bundle
from textveil.errors import ExecutionError, LedgerError, ParameterError, UnknownNameError
from textveil.execution.local import LocalExecutor, ProcessExecutor
from textveil.jobs import FileJob, JobOptions, workers
from textveil.jobs.workers import BatchTask, Recipe, Workplace, do_batch, identify
from textveil.ledger import Ledger
from textveil.methods.distribution.uniform import Uniform
from textveil.obfuscator import Obfuscator
from textveil.outcomes import DocumentOutcome
from textveil.randomness import SystemRandomness
from textveil.tables import FORMATS, Layout

from ..tables.test_contract import make, read

ROOT = Path(__file__).parents[2]
TEXTS = ["alpha beta", "", "the and of", "good film, bad plot!", "xyzzy", None, "gamma " * 30] * 20


@pytest.fixture(scope="module")
def two():
    with ProcessExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def three():
    with ProcessExecutor(3) as executor:
        yield executor


@pytest.fixture
def seeded(tiny):
    return lambda **options: Obfuscator(tiny, **{"seed": 5, "largest_share": math.inf, **options})


def run(folder, obfuscator, executor=None, name="csv", *, resume=False, progress=None, part_seconds=0.0, **options):
    chosen = JobOptions(**{"budget": Budget(30.0), "batch_size": 16, "overwrite": not resume, **options})
    place = Workplace(executor)
    output = folder / f"out.{name}"
    job = FileJob(folder / f"in.{name}", output, chosen, resume=resume, part_seconds=part_seconds, workplace=place)
    report = job.run(obfuscator, *([] if progress is None else [progress]))
    return output.read_bytes(), report


def write(folder, name="csv", texts=TEXTS):
    (folder / f"in.{name}").write_bytes(make(name, texts))


@pytest.mark.parametrize("name", list(FORMATS))
def test_workers_write_the_same_bytes_and_certificate_as_this_process(tmp_path, seeded, two, three, name):
    write(tmp_path, name)
    alone, expected = run(tmp_path, seeded(), None, name)
    for executor in (LocalExecutor(), two, three):
        content, report = run(tmp_path, seeded(), executor, name)
        assert content == alone
        assert report.certificate == expected.certificate
        assert report.documents == len(TEXTS)
    assert [text or None for text in read(name, alone)][5::7] == [None] * 20  # missing rows stay in their places


@pytest.mark.parametrize(("name", "suffix"), [("csv", ".gz"), ("jsonl", ".zst"), ("txt", ".xz")])
def test_compressed_files_are_the_same_bytes(tmp_path, seeded, two, name, suffix):
    from textveil.tables.compression import compressing, decompress

    path = tmp_path / f"in.{name}{suffix}"
    with path.open("wb") as raw, compressing(raw, path) as stream:
        stream.write(make(name, TEXTS))
    found = []
    for executor in (None, two):
        content, _ = run(tmp_path, seeded(), executor, f"{name}{suffix}")
        with (tmp_path / f"out.{name}{suffix}").open("rb") as raw:
            found.append(decompress(raw, path).read())
        assert content
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "proven"},
        {"profile": "proven", "draft_share": 0.4, "distribution": "yake"},
        {"profile": "paper", "mechanism": "gumbel"},
        {"mechanism": "exponential", "stopwords": "perturb", "form": "plain"},
        {"form": "keep", "keep_emoji": True, "largest_share": 3.0},
        {"mechanism": "madlib", "mechanism_options": {"rank_decay": 0.3}},
    ],
    ids=lambda options: " ".join(map(str, options.values())),
)
def test_all_settings_reach_the_workers(tmp_path, seeded, two, options):
    write(tmp_path)
    alone, expected = run(tmp_path, seeded(**options))
    content, report = run(tmp_path, seeded(**options), two)
    assert content == alone
    assert report.certificate == expected.certificate


def test_identifiers_are_screened_by_workers_too(tiny):
    obfuscator = Obfuscator(tiny, identifiers="redact", seed=5)
    assert obfuscator.terms.identifiers is not None
    assert obfuscator.for_workers()().terms.identifiers == obfuscator.terms.identifiers


def test_several_columns_and_conversion(tmp_path, seeded, two):
    rows = [["title", "text", "stars"], *([text or "", f"plot {number}", number] for number, text in enumerate(TEXTS))]
    with (tmp_path / "in.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    layout = Layout(["title", "text"])
    alone, _ = run(tmp_path, seeded(), layout=layout)
    assert run(tmp_path, seeded(), two, layout=layout)[0] == alone
    job = FileJob(tmp_path / "in.csv", tmp_path / "out.parquet", JobOptions(Budget(9.0), layout))
    job.run(seeded())
    expected = (tmp_path / "out.parquet").read_bytes()
    replace(job, options=replace(job.options, overwrite=True), workplace=Workplace(two)).run(seeded())
    assert (tmp_path / "out.parquet").read_bytes() == expected


def test_the_average_length_is_that_of_the_whole_file(tmp_path, seeded, two):
    write(tmp_path)
    budget = Budget(None, 3.0, "average")
    alone, expected = run(tmp_path, seeded(), budget=budget)
    content, report = run(tmp_path, seeded(), two, budget=budget)
    assert content == alone
    assert report.certificate.budget == expected.certificate.budget


def test_without_a_seed_every_row_has_noise_of_its_own(tmp_path, tiny, two):
    write(tmp_path, texts=["alpha beta gamma delta epsilon zeta eta theta"] * 120)
    outputs = []
    for _ in range(2):
        content, report = run(tmp_path, Obfuscator(tiny), two, budget=Budget(0.1), batch_size=8)
        outputs += read("csv", content)
        assert report.certificate.terms.randomness["source"] == "os"
    assert len(set(outputs)) == len(outputs) == 240  # a copied state would repeat noise


def test_fresh_noise_reaches_workers_without_a_state(tiny):
    rebuilt = Obfuscator(tiny).for_workers()()
    assert isinstance(rebuilt.randomness, SystemRandomness)
    assert not vars(rebuilt.randomness)


def test_the_memory_of_every_worker_is_reported(tmp_path, seeded, two):
    write(tmp_path)
    _, report = run(tmp_path, seeded(), two, batch_size=2)
    assert 1 <= len(report.peaks) <= 2
    assert all(10 << 20 < peak < 4 << 30 for peak in report.peaks.values())
    assert run(tmp_path, seeded())[1].peaks == {}


class Stop(Exception):
    pass


def stop_after(documents):
    def progress(stage, done, fraction):
        if stage == "obfuscating" and done >= documents:
            raise Stop

    return progress


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_a_run_resumes_with_another_executor_and_batch_size(tmp_path, seeded, two, three, name):
    write(tmp_path, name)
    expected, _ = run(tmp_path, seeded(), None, name)
    (tmp_path / f"out.{name}").unlink()
    for executor, stop in ((two, 40), (None, 80), (three, 120)):
        with pytest.raises(Stop):
            run(tmp_path, seeded(), executor, name, resume=True, progress=stop_after(stop))
    assert run(tmp_path, seeded(), two, name, resume=True, batch_size=11)[0] == expected


def test_rows_before_a_broken_line_are_saved_and_the_run_resumes(tmp_path, seeded, two):
    write(tmp_path, "jsonl")
    whole, _ = run(tmp_path, seeded(), None, "jsonl")
    (tmp_path / "out.jsonl").unlink()
    lines = (tmp_path / "in.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "in.jsonl").write_bytes(b"".join([*lines[:100], b"{broken\n", *lines[101:]]))
    with pytest.raises(Exception, match="line 101"):
        run(tmp_path, seeded(), two, "jsonl", resume=True)
    assert list((tmp_path / "out.jsonl.partial").glob("*.part"))
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    assert run(tmp_path, seeded(), two, "jsonl", resume=True)[0] == whole


# The ledger, which only this process writes.


@pytest.mark.parametrize("repeat", ["fresh", "same"])
def test_the_ledger_charges_in_order_as_without_workers(tmp_path, tiny, two, repeat):
    texts = [f"alpha beta gamma {number % 25}" for number in range(60)]  # 10 of them occur three times
    write(tmp_path, texts=texts)

    def run_with(executor, name):
        ledger = Ledger(tmp_path / f"{name}.db", budget_per_document=12, repeat=repeat)
        obfuscator = Obfuscator(tiny, ledger=ledger, largest_share=math.inf)
        return *run(tmp_path, obfuscator, executor, budget=Budget(6.0), batch_size=4), ledger

    (alone, expected, first), (content, report, second) = run_with(None, "alone"), run_with(two, "workers")
    outcomes = [read("csv", found, "textveil_outcome") for found in (alone, content)]
    refused = [[number for number, outcome in enumerate(found) if outcome == "refused"] for found in outcomes]
    assert refused[0] == refused[1] == ([*range(50, 60)] if repeat == "fresh" else [])
    assert first.summarize().releases == second.summarize().releases == (50 if repeat == "fresh" else 25)
    assert second.verify() == []
    tallies = [found.certificate.tally.documents[DocumentOutcome.REFUSED] for found in (expected, report)]
    assert tallies[0] == tallies[1] == len(refused[0])
    for text, answer, outcome in zip(texts, read("csv", content), outcomes[1], strict=True):
        assert outcome == "refused" or second.has(text, answer)


def test_an_interrupted_run_with_a_ledger_charges_nothing_twice(tmp_path, tiny, two):
    texts = [f"alpha beta gamma {number}" for number in range(40)]
    write(tmp_path, texts=texts)

    def start():
        return Obfuscator(tiny, ledger=Ledger(tmp_path / "spent.db", budget_per_document=6), largest_share=math.inf)

    options = {"budget": Budget(6.0), "batch_size": 4, "part_seconds": 1e9, "resume": True}
    with pytest.raises(Stop):
        run(tmp_path, start(), two, progress=stop_after(20), **options)
    assert start().ledger.summarize().releases >= 20
    content, report = run(tmp_path, start(), two, **options)
    assert report.certificate.tally.documents[DocumentOutcome.REFUSED] == 0
    assert start().ledger.summarize().releases == len(texts)
    assert all(start().ledger.has(*pair) for pair in zip(texts, read("csv", content), strict=True))


def test_a_ledger_that_fails_saves_nothing_unrecorded(tmp_path, tiny, two, monkeypatch):
    write(tmp_path, texts=[f"alpha {number}" for number in range(40)])
    obfuscator = Obfuscator(tiny, ledger=Ledger(tmp_path / "spent.db"), largest_share=math.inf)
    charge = obfuscator.ledger.charge

    def fail(releases, settings):
        if releases[0].text == "alpha 20":
            raise LedgerError("The disk is full.")
        return charge(releases, settings)

    monkeypatch.setattr(obfuscator.ledger, "charge", fail)
    with pytest.raises(LedgerError, match="full"):
        run(tmp_path, obfuscator, two, batch_size=4)
    parts = sorted((tmp_path / "out.csv.partial").glob("*.part"))
    assert sum(len(part.read_text().splitlines()) for part in parts) == 21  # the header and the rows before


# Kills.

KILLED = """
import math, sys
from pathlib import Path
from textveil import Budget, Obfuscator
from textveil.jobs import FileJob, JobOptions
from textveil.jobs.workers import Workplace

if __name__ == "__main__":
    bundle, source, output, workers = sys.argv[1:]
    obfuscator = Obfuscator(bundle, seed=3, largest_share=math.inf)
    options = JobOptions(Budget(60.0), batch_size=8)
    place = Workplace("processes", int(workers)) if int(workers) else Workplace()
    job = FileJob(Path(source), Path(output), options, resume=True, part_seconds=0.01, workplace=place)
    job.run(obfuscator)
"""


@pytest.fixture
def start(tmp_path, tiny):
    """Starts a process that obfuscates in.csv, with as many workers."""
    (tmp_path / "run.py").write_text(KILLED, encoding="utf-8")
    texts = ["alpha beta gamma film plot " * 400, None, "good scene", ""] * 60
    write(tmp_path, texts=texts)
    started = []

    def start(output, number):
        paths = [tiny.folder, tmp_path / "in.csv", tmp_path / output, number]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, str(tmp_path / "run.py"), *map(str, paths)]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, env=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def list_workers(parent: int) -> list[int]:
    """The workers of a process: the children of its fork server."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            status = (path / "status").read_text()
            command = (path / "cmdline").read_bytes()
        except OSError:
            continue
        above = int(re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)[1])
        if above and b"forkserver" in command and above != parent:
            grand = re.search(r"^PPid:\s+(\d+)", (Path("/proc") / str(above) / "status").read_text(), re.MULTILINE)
            if int(grand[1]) == parent:
                found.append(int(path.name))
    return found


def await_parts(process, folder, wanted):
    while process.poll() is None and len(list(folder.glob("*.json"))) < wanted:
        time.sleep(0.005)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="workers are found in /proc")
def test_killed_workers_and_a_killed_parent_change_nothing(tmp_path, start):
    whole = start("whole.csv", 0)
    process = start("out.csv", 2)
    folder = tmp_path / "out.csv.partial"
    await_parts(process, folder, 3)
    victims = list_workers(process.pid)
    assert victims
    os.kill(victims[0], signal.SIGKILL)  # another worker does its batch
    await_parts(process, folder, 8)
    assert process.poll() is None, process.communicate()[1]
    left = list_workers(process.pid)
    process.kill()
    process.communicate(timeout=60)
    assert not (tmp_path / "out.csv").exists()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{worker}").exists() for worker in left):  # workers end with their parent
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process = start("out.csv", 3)
    assert process.wait() == 0, process.communicate()[1]
    assert whole.wait() == 0, whole.communicate()[1]
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not folder.exists()


@pytest.mark.slow
def test_two_nodes_of_ray_and_a_killed_worker(tmp_path, tiny, open_executor):
    import ray

    obfuscator = Obfuscator(tiny, seed=3, largest_share=math.inf)
    write(tmp_path, texts=["alpha beta gamma film plot " * 400, None, "good scene", ""] * 60)
    alone, expected = run(tmp_path, obfuscator, batch_size=8)
    killed = []
    with open_executor("ray") as executor:

        def kill_one(stage, done, fraction):
            if done >= 40 and not killed:
                killed.append(executor._actors[0])
                ray.kill(killed[0])

        content, report = run(tmp_path, obfuscator, executor, progress=kill_one, batch_size=8)
        assert executor.workers == 4
    assert killed
    assert content == alone
    assert report.certificate == expected.certificate
    assert len(report.peaks) >= 2


# What is refused.


def test_wrong_places_are_refused_before_anything_is_written(tmp_path, seeded, two):
    write(tmp_path)
    for place, error, message in [
        (Workplace("process"), UnknownNameError, "Did you mean 'processes'"),
        (Workplace("processes", 0), ParameterError, "`workers` must be at least 1"),
        (Workplace("local", 2), ParameterError, "use `executor='processes'`"),
        (Workplace(address="auto"), ParameterError, "`address` goes with `executor='ray'`"),
        (Workplace(two, 2), ParameterError, "go with the name of an executor"),
    ]:
        job = FileJob(tmp_path / "in.csv", tmp_path / "out.csv", JobOptions(Budget(9.0)), workplace=place)
        with pytest.raises(error, match=message):
            job.run(seeded())
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_workers_alone_are_processes():
    with Workplace(workers=3).open() as executor:
        assert isinstance(executor, ProcessExecutor)
        assert executor.workers == 3
    with Workplace().open() as nobody:
        assert nobody is None


def test_a_method_without_a_name_is_refused(tmp_path, seeded, two):
    class Mine(Uniform):
        """One that no registry knows."""

        name = "mine"

    write(tmp_path)
    with pytest.raises(ParameterError, match=r"distribution 'mine' was given as an object.*leave out `executor`"):
        run(tmp_path, seeded(distribution=Mine()), two)
    assert run(tmp_path, seeded(distribution=Mine()))[1].documents == len(TEXTS)


def test_a_method_with_a_name_may_be_given_as_an_object(tmp_path, seeded, two):
    write(tmp_path)
    assert run(tmp_path, seeded(distribution=Uniform()), two)[0] == run(tmp_path, seeded())[0]


def test_a_worker_with_another_bundle_or_version_is_refused(tiny, tiny_with_prior):
    obfuscator = Obfuscator(tiny, seed=1, largest_share=math.inf)
    terms = identify(obfuscator.terms)
    for identity, named in [
        ({**terms, "version of numpy": "0.1"}, "another version of numpy"),
        (identify(Obfuscator(tiny_with_prior, mechanism="madlib").terms), "another bundle"),
    ]:
        task = BatchTask(Recipe(named, obfuscator.for_workers(), identity, None), Budget(3.0), ["alpha"], [0])
        with pytest.raises(ExecutionError, match=f"{named} than this process.*Install the same versions"):
            do_batch(task)


def test_a_worker_builds_its_obfuscator_once_and_limits_its_threads(tiny, monkeypatch):
    built, limits = [], []
    obfuscator = Obfuscator(tiny, seed=1, largest_share=math.inf)
    monkeypatch.setattr(workers, "limit_threads", limits.append)

    def build():
        built.append(1)
        return obfuscator

    recipe = Recipe("this run", build, identify(obfuscator.terms), 1)
    done = [do_batch(BatchTask(recipe, Budget(3.0), ["alpha beta", None], [n, n + 1])) for n in (0, 0, 7)]
    assert (built, limits) == ([1], [1])
    assert done[0].results == done[1].results
    expected = list(obfuscator.obfuscate_all(["alpha beta", None], epsilon=3.0, first_document=7))
    assert [text for text, _, _ in done[2].results] == [result.text for result in expected]


def test_a_task_does_not_show_its_texts(tiny):
    recipe = Recipe("run", Obfuscator(tiny).for_workers(), {}, 1)
    assert "secret" not in repr(BatchTask(recipe, Budget(3.0), ["secret"], [0]))


def test_a_shipped_bundle_is_named_and_another_one_is_a_path(tiny):
    assert Obfuscator(Bundle.load("en")).for_workers().args[0].bundle == "en"
    assert Path(Obfuscator(tiny).for_workers().args[0].bundle) == tiny.folder.resolve()
