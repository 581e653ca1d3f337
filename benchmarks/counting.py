"""Counting n-grams: textveil against a Counter of joined strings, and its memory for growing corpora."""

from __future__ import annotations

import gzip
import lzma
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

WORDS = 10_000_000
LARGER = (30_000_000, 60_000_000)
MIN_COUNT = 20
MEMORY = 360
"""The memory limit in MiB, less than a fifth of the memory of a Counter for ten million words."""


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


def read_documents(corpus: Path | None) -> Iterator[str]:
    """The lines of a corpus; without a corpus, lines of random words with Zipfian frequencies."""
    if corpus is not None:
        opener = {".xz": lzma.open, ".gz": gzip.open}.get(corpus.suffix, open)
        with opener(corpus, "rt", encoding="utf-8") as lines:  # type: ignore[operator]
            yield from lines
        return
    generator = np.random.default_rng(1)
    names = np.array([f"w{number}" for number in range(100_000)])
    weights = np.cumsum(1 / np.arange(1, len(names) + 1))
    while True:
        drawn = names[np.searchsorted(weights, generator.random(100_000) * weights[-1])]
        yield from (" ".join(drawn[start : start + 80]) + "\n" for start in range(0, len(drawn), 80))


def write_corpus(corpus: Path | None, words: int, path: Path) -> int:
    """Write documents with at least ``words`` words in total; return the exact number."""
    written = 0
    with path.open("w", encoding="utf-8") as out:
        for document in read_documents(corpus):
            out.write(document)
            written += len(re.findall(r"\w+", document))
            if written >= words:
                break
    return written


def count_joined_strings(path: Path) -> None:
    """Count like the research code, but without its pruning, which makes counts wrong."""
    counters: list[Counter[str]] = [Counter() for _ in range(4)]
    with path.open(encoding="utf-8") as documents:
        for document in documents:
            words = re.findall(r"\b\w+\b", document.lower())
            for length, counter in enumerate(counters, start=1):
                counter.update("_".join(words[start : start + length]) for start in range(len(words) - length + 1))


def watch_textveil(path: Path, folder: Path) -> Measured:
    """Count with two processes within the memory limit."""
    textveil = str(Path(sys.executable).with_name("textveil"))
    command = [textveil, "prepare", "count", str(path), "--output", str(folder / "counts"), "--overwrite", "--quiet"]
    return watch([*command, "--workers", "2", "--memory", f"{MEMORY}M", "--min-count", str(MIN_COUNT)])


def compare_counting(corpus: Path | None) -> None:
    """Print words per second and peak memory of both, then the memory for larger corpora."""
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "corpus.txt"
        words = write_corpus(corpus, WORDS, path)
        source = corpus.name if corpus else "words drawn at random"
        print(f"\nCounting n-grams of 1-4 words, {words:,} words of {source}, min count {MIN_COUNT}")
        ours = min((watch_textveil(path, folder) for _ in range(2)), key=lambda measured: measured.seconds)
        plain = watch([sys.executable, "-m", "benchmarks.counting", str(path)])
        for label, measured in (
            (f"textveil, 2 processes, --memory {MEMORY}M", ours),
            ("Counter over joined strings", plain),
        ):
            print(f"  {label:<40}{words / measured.seconds:>12,.0f} words/s {measured.peak:>8,.0f} MiB")
        print(f"  {plain.seconds / ours.seconds:.1f} times as fast, in 1/{plain.peak / ours.peak:.1f} of the memory")
        print(f"\nPeak memory of textveil prepare count --workers 2 --memory {MEMORY}M, all processes together")
        for size in (WORDS, *LARGER):
            words = write_corpus(corpus, size, path)
            measured = watch_textveil(path, folder)
            print(f"  {words:>12,} words {measured.peak:>8,.0f} MiB {words / measured.seconds:>12,.0f} words/s")


if __name__ == "__main__":
    count_joined_strings(Path(sys.argv[1]))
