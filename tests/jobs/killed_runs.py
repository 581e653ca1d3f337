"""Two processes that share a ledger and are killed at random times, again and again. Run by test_ledger_runs.py.

    python killed_runs.py FOLDER LOOPS SEED

FOLDER has the bundle and in.csv. Each process obfuscates in.csv into files of its own, one after the other, and resumes
after a kill. Afterwards FOLDER/seen.jsonl has everything that was ever found in an output or in the parts of one.
"""

from __future__ import annotations

import csv
import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path

from textveil.budget import Budget
from textveil.jobs import FileJob, JobOptions
from textveil.jobs.file import Partial
from textveil.ledger import Ledger
from textveil.obfuscator import Obfuscator


def work(folder: Path, obfuscator: Obfuscator, worker: int) -> None:
    """Obfuscate the file until the process is killed."""
    run = 0
    options = JobOptions(Budget(3.0), batch_size=4)
    while True:
        output = folder / f"out-{worker}-{run}.csv"
        if not output.exists() or Partial(output).exists():  # an empty folder may be left, with nothing to resume
            FileJob(folder / "in.csv", output, options, resume=True, part_seconds=0.02).run(obfuscator)
        run += 1


def collect(folder: Path) -> set[tuple[int, str]]:
    """Every row that an output, or a finished or unfinished part of one, has now: its number and its text."""
    found = set()
    paths = [*folder.glob("out-*.csv"), *folder.glob("out-*.partial/*.part"), *folder.glob("out-*.partial/.*.part.*")]
    for path in paths:
        for row in csv.reader(path.read_text(encoding="utf-8").splitlines()):
            if len(row) == 3 and row[0].isdigit() and row[2] in ("obfuscated", "returned"):  # a row may be cut off
                found.add((int(row[0]), row[1]))
    return found


def count_progress(folder: Path, ledger: Ledger) -> int:
    """A number that grows as long as the processes work: releases, and files once all budgets are spent."""
    return ledger.summarize().releases + 4 * len(list(folder.glob("out-*.csv")))


def await_progress(folder: Path, ledger: Ledger, wanted: int) -> None:
    """Wait until the processes have done something, however busy the machine is."""
    goal, deadline = count_progress(folder, ledger) + wanted, time.monotonic() + 30
    while count_progress(folder, ledger) < goal and time.monotonic() < deadline:
        time.sleep(0.01)


def main() -> None:
    """Fork, kill and collect."""
    folder, loops, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)  # the times of kills
    ledger = Ledger(folder / "spent.db", budget_per_document=30)
    obfuscator = Obfuscator(folder / "bundle", ledger=ledger, largest_share=math.inf)
    seen: set[tuple[int, str]] = set()
    for _ in range(loops):
        workers = []
        for worker in range(2):
            if (process := os.fork()) == 0:
                work(folder, obfuscator, worker)
            workers.append(process)
        await_progress(folder, ledger, chance.randint(8, 24))
        time.sleep(chance.uniform(0, 0.1))
        codes = []
        for process in workers:
            os.kill(process, signal.SIGKILL)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            time.sleep(chance.uniform(0, 0.02))
        assert codes == [-signal.SIGKILL] * 2, "a run failed by itself"  # once none of them is left
        seen |= collect(folder)
    (folder / "seen.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in sorted(seen)), encoding="utf-8")


if __name__ == "__main__":
    main()
