"""Cold start: ``textveil obfuscate TEXT`` with the defaults, against a bare import of numpy."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from benchmarks.records import Record

TEXT = "the film was a delight and the music lovely"
ROUNDS = 15
COMMANDS = {
    "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
    "textveil obfuscate TEXT": [sys.executable, "-m", "textveil.cli.start", "obfuscate", TEXT],
    "full command line": [sys.executable, "-m", "textveil.cli.main", "obfuscate", TEXT],
}
"""All without a wrapper script, so that the same interpreter starts each of them."""


class _Taken(NamedTuple):
    elapsed: float
    processor: float


def compare_start(rounds: int = ROUNDS) -> list[Record]:
    """The start-up times as multiples of numpy's: elapsed, and of the processor, which other work disturbs less."""
    with tempfile.TemporaryDirectory() as compiled:
        # Installed packages are compiled; a checkout may not be.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
        taken: dict[str, list[_Taken]] = {name: [] for name in COMMANDS}
        for number in range(1 + rounds):  # the runs alternate, so that a slow phase of the machine affects all
            for name, command in COMMANDS.items():
                measured = _measure(command, environment)
                if number:  # the first round compiles
                    taken[name].append(measured)
    records = []
    for place, kind in enumerate(("elapsed", "processor")):
        medians = {name: statistics.median(each[place] for each in times) for name, times in taken.items()}
        bare = medians[next(iter(COMMANDS))]
        records += [
            Record("start", f"{name}, {kind}", 1000 * median, "ms", "import numpy", median / bare)
            for name, median in medians.items()
        ]
    return records


def _measure(command: list[str], environment: dict[str, str]) -> _Taken:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    elapsed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return _Taken(elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
