"""Counting n-grams: textveil against a Counter of joined strings, and its speed and memory for growing corpora.

``python -m benchmarks.counting FILE`` counts a file with the Counter, so that its memory can be measured.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks.records import Record
from benchmarks.web_text import unpack, write_web_text

MILLIONS = (10.0, 60.0, 500.0)
"""The sizes of the inputs in millions of words."""
ROUNDS = 3
"""The runs for the smallest input, which the others are compared with: start-up and chance matter most there."""
MIN_COUNT = 20
MEMORY = 360
"""The memory limit in MiB, less than a fifth of the memory of a Counter for ten million words."""
BYTES_PER_WORD = 24
"""The disk that a word needs: 6 bytes of input, and what counting keeps at a time."""
CORPUS_BYTES = 1 << 30
"""The disk for the corpus without compression."""


class Measured(NamedTuple):
    """The duration of a command, and the peak memory of all its processes together."""

    seconds: float
    peak: float


def watch(command: list[str]) -> Measured:
    """Run a command, and measure the memory of all its processes fifty times a second.

    Shared memory counts once (PSS), so the sum is the memory that the machine needs.
    """
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_resident, _family(process.pid))))
        time.sleep(0.02)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Measured(time.perf_counter() - started, peak / 1024)


def _family(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text(encoding="ascii").split())
    except OSError:  # the process has just ended
        pass
    return [pid, *chain.from_iterable(map(_family, children))]


def _resident(pid: int) -> int:
    try:
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def count_joined_strings(path: Path) -> None:
    """Count like the research code, but without its pruning, which makes counts wrong."""
    counters: list[Counter[str]] = [Counter() for _ in range(4)]
    with path.open(encoding="utf-8") as documents:
        for document in documents:
            words = re.findall(r"\b\w+\b", document.lower())
            for length, counter in enumerate(counters, start=1):
                counter.update("_".join(words[start : start + length]) for start in range(len(words) - length + 1))


def watch_textveil(path: Path, counts: Path) -> Measured:
    """Count with two processes within the memory limit."""
    command = [sys.executable, "-m", "textveil.cli.main", "prepare", "count", str(path), "--output", str(counts)]
    command += ["--overwrite", "--quiet", "--workers", "2", "--memory", f"{MEMORY}M", "--min-count", str(MIN_COUNT)]
    return watch(command)


class Counted(NamedTuple):
    """An input of a size, counted by textveil."""

    label: str
    words: int
    making: float
    """The seconds to write the input, which do not count."""
    seconds: float
    peak: float

    @property
    def rate(self) -> float:
        """Words per second."""
        return self.words / self.seconds


def compare_counting(corpus: Path | None, millions: Sequence[float] = MILLIONS) -> list[Record]:
    """Words per second and peak memory for growing inputs; the smallest is also counted by a Counter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_disk(folder, max(millions))
        unpack(corpus, folder / "corpus.txt")
        least, *larger = sorted(millions)
        first = count_input(folder, least, ROUNDS)
        plain = watch([sys.executable, "-m", "benchmarks.counting", str(folder / "input.txt")])
        return [
            *describe_first(first, plain),
            *(record for size in larger for record in describe_larger(count_input(folder, size, 1), first)),
        ]


def check_disk(folder: Path, millions: float) -> None:
    """Refuse an input for which the disk has no space."""
    needed, free = int(millions * 1e6) * BYTES_PER_WORD + CORPUS_BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise SystemExit(
            f"{millions:g} million words need about {needed >> 30} GiB in {str(folder.parent)!r}; {free >> 30} GiB are "
            "free. Set TMPDIR to another folder, or choose smaller sizes, such as --words 10,60."
        )


def count_input(folder: Path, millions: float, rounds: int) -> Counted:
    """Write an input and count it; the medians of some runs."""
    path, counts = folder / "input.txt", folder / "counts"
    started = time.perf_counter()
    write_web_text(folder / "corpus.txt", int(millions * 1e6), path)
    making = time.perf_counter() - started
    measured = [watch_textveil(path, counts) for _ in range(rounds)]
    words = json.loads((counts / "counts.json").read_bytes())["tokens"]
    seconds = statistics.median(each.seconds for each in measured)
    return Counted(f"{millions:g} million words", words, making, seconds, max(each.peak for each in measured))


def describe_first(first: Counted, plain: Measured) -> list[Record]:
    """The smallest input beside the Counter."""
    rate, memory = first.words / plain.seconds, f"{first.label}, peak memory"
    return [
        Record("counting", first.label, first.rate, "words/s", f"Counter of joined strings: {rate:,.0f}",
               first.rate / rate),
        Record("counting", memory, first.peak, "MiB", f"Counter: {plain.peak:,.0f}", first.peak / plain.peak),
        *_describe_any(first),
    ]  # fmt: skip


def describe_larger(counted: Counted, first: Counted) -> list[Record]:
    """A larger input beside the smallest one."""
    memory = f"{counted.label}, peak memory"
    return [
        Record("counting", counted.label, counted.rate, "words/s", first.label, counted.rate / first.rate),
        Record("counting", memory, counted.peak, "MiB", first.label, counted.peak / first.peak),
        *_describe_any(counted),
    ]


def _describe_any(counted: Counted) -> list[Record]:
    return [
        Record("counting", f"{counted.label}, peak memory", counted.peak, "MiB", f"the limit: {MEMORY}",
               counted.peak / MEMORY),
        Record("counting", f"{counted.label}, writing the input", counted.making, "s",
               f"counting: {counted.seconds:,.1f}", counted.making / counted.seconds),
    ]  # fmt: skip


if __name__ == "__main__":
    count_joined_strings(Path(sys.argv[1]))
