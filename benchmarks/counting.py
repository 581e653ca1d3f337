"""Counting n-grams: textveil against a Counter of joined strings, and its speed and memory for growing corpora.

    python -m benchmarks.counting --scale CORPUS --words 10 60 500

counts inputs of so many million words, which are made of the corpus: sentences drawn at random, and noise.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

WORDS = 10_000_000
SCALE = (10, 60, 500)
"""The sizes of inputs in millions of words, to see how speed and memory grow."""
LARGEST_DIFFERENCE = 0.25
"""The largest allowed difference between the speeds for all sizes, relative to the fastest."""
NOISE = 0.02
"""The share of words that noise changes: misspellings, numbers and names, of which a web corpus has ever new ones."""
SAMPLED = 200_000
"""The documents of the corpus to draw from."""
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


def make_documents(corpus: Path | None, words: int) -> Iterator[tuple[str, int]]:
    """Documents like those of a web corpus, with at least ``words`` words in total, and the words of each.

    A document is a few pieces of documents of the corpus. Some words are replaced by new ones, so that the number of
    distinct words grows with the size, as it does on the web.
    """
    generator = np.random.default_rng(7)
    pieces = [document.split() for document in islice(read_documents(corpus), SAMPLED)]
    made = 0
    while made < words:
        document: list[str] = []
        for number in generator.integers(len(pieces), size=generator.integers(1, 6)):
            piece = pieces[number]
            length = int(generator.integers(20, 200))
            start = int(generator.integers(max(1, len(piece) - length)))
            document += piece[start : start + length]
        for position in np.flatnonzero(generator.random(len(document)) < NOISE).tolist():
            document[position] = f"{document[position][:3]}{int(generator.pareto(0.5) * 1000) % 10**12}"
        text = " ".join(document)
        count = len(re.findall(r"\w+", text))
        made += count
        yield text, count


def write_noisy(corpus: Path | None, words: int, path: Path) -> int:
    """Stream such documents to a file; return the exact number of words."""
    written = 0
    with path.open("w", encoding="utf-8") as out:
        for document, count in make_documents(corpus, words):
            out.write(f"{document}\n")
            written += count
    return written


def compare_scale(corpus: Path | None, sizes: Sequence[float], folder: Path | None) -> bool:
    """Print the speed and the memory for growing inputs; whether the memory held and the speeds are near each other."""
    rates, peaks = [], []
    print(f"\nCounting growing inputs, {'drawn from ' + corpus.name if corpus else 'random words'}, 2 processes")
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            path = Path(name) / "corpus.txt"
            free = shutil.disk_usage(name).free >> 20
            print(
                f"  {size:g} million words need about {size * 20:,.0f} MiB of disk; {free:,} MiB are free", flush=True
            )
            words = write_noisy(corpus, int(size * 1e6), path)
            measured = watch_textveil(path, Path(name))
            rates.append(words / measured.seconds)
            peaks.append(measured.peak)
            print(
                f"  {words:>12,} words, {path.stat().st_size >> 20:>6,} MiB {peaks[-1]:>8,.0f} MiB of memory "
                f"{rates[-1]:>12,.0f} words/s",
                flush=True,
            )
    spread = 1 - min(rates) / max(rates)
    held = max(peaks) <= MEMORY
    print(f"  speeds differ by {spread:.0%} (at most {LARGEST_DIFFERENCE:.0%} are allowed)")
    print(f"  memory {'stayed' if held else 'did not stay'} below the limit of {MEMORY} MiB")
    return held and spread <= LARGEST_DIFFERENCE


def main() -> int:
    """Count one file plainly, for the memory of that, or measure growing inputs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("corpus", type=Path, nargs="?", help="a text file, plain, .gz or .xz")
    parser.add_argument("--scale", action="store_true", help="measure growing inputs made of the corpus")
    parser.add_argument("--words", type=float, nargs="+", default=SCALE, help="their sizes in millions of words")
    parser.add_argument("--folder", type=Path, help="where inputs are written; by default the folder for such files")
    given = parser.parse_args()
    if given.scale:
        return 0 if compare_scale(given.corpus, given.words, given.folder) else 1
    count_joined_strings(given.corpus)
    return 0


if __name__ == "__main__":
    sys.exit(main())
