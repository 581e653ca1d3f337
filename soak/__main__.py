"""Run the soak: ``python -m soak --seconds N --seed S [--only PART] [--without PART]``."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import secrets
import shutil
import sys
import time
from pathlib import Path

from soak.base import RUNNING
from soak.process import PARTS, Task, run_task
from soak.report import Finding, Report

KILLS_SHARE = 0.25
"""The share of the time for kills, which wait for processes. Other parts share the rest equally."""
GRACE = 120.0
"""The seconds that a part may take longer than it should before its process counts as hanging."""


def main() -> int:
    """Run the parts one after the other; return 1 if there are findings."""
    options = _parse()
    shutil.rmtree(options.output, ignore_errors=True)
    report = Report(options.output, options.keep)
    names = [name for name in PARTS if options.only in (None, name) and name != options.without]
    print(f"soak with --seed {options.seed}", flush=True)
    for name in names:
        _supervise(name, report, options, _share_time(name, names, options.seconds))
        print(f"{name}: {report.count(name):,} inputs", flush=True)
    print("\n".join(report.summarize()))
    (options.output / "report.json").write_text(json.dumps(report.as_dict(), indent=1), encoding="utf-8")
    return 1 if report.findings else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="the time of the whole run")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32), help="the seed of the first batch")
    parser.add_argument("--only", choices=list(PARTS), help="run one part")
    parser.add_argument("--without", choices=list(PARTS), help="leave one part out")
    parser.add_argument("--inputs", type=int, help="end each part after this number of inputs")
    parser.add_argument("--keep", action="store_true", help="also write the inputs of findings")
    parser.add_argument("--output", type=Path, default=Path("build/soak"), help="the folder of findings")
    return parser.parse_args()


def _share_time(name: str, names: list[str], seconds: float) -> float:
    if "kills" not in names or len(names) == 1:
        return seconds / len(names)
    return seconds * (KILLS_SHARE if name == "kills" else (1 - KILLS_SHARE) / (len(names) - 1))


def _supervise(name: str, report: Report, options: argparse.Namespace, seconds: float) -> None:
    """Run a part in a process of its own. If the process dies or hangs, record that and start another."""
    ends, seed = time.monotonic() + seconds, options.seed
    while (left := ends - time.monotonic()) > 0:
        task = Task(name, options.output, seed, left, options.inputs, options.keep)
        process = multiprocessing.get_context("spawn").Process(target=run_task, args=(task,))
        process.start()
        process.join(left + GRACE)
        hangs = process.is_alive()
        if hangs:
            process.kill()
            process.join()
        running = options.output / RUNNING
        state = json.loads(running.read_text(encoding="utf-8")) if running.exists() else None
        running.unlink(missing_ok=True)
        if state is not None:
            report.add_dict({key: state[key] for key in ("inputs", "seconds", "processor", "findings")})
        if process.exitcode == 0:
            return
        seed = options.seed if state is None else state["seed"]
        kind = "hang" if hangs else "died"
        report.add(Finding(name, seed, -1, kind, f"the process itself (exit code {process.exitcode})"))
        seed += 1
        if state is None or options.inputs is not None:
            return


if __name__ == "__main__":
    sys.exit(main())
