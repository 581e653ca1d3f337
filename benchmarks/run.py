"""Run the benchmarks of textveil and its peers, as ``make bench`` does."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.counting import compare_counting
from benchmarks.decomposition import compare_decomposition
from benchmarks.distribution import compare_distribution
from benchmarks.engines import compare_engines
from benchmarks.mechanisms import compare_mechanisms
from benchmarks.serve import compare_serve
from textveil.bundles.vector_files import reading_vectors
from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.mechanisms import Request
from textveil.mechanisms.madlib import Madlib
from textveil.randomness import SystemRandomness

EPSILON = 10.0
WORDS = 20_000
WORDS_PER_DOCUMENT = 60
PEAK_OF = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
TEXT = "the film was a delight and the music lovely"


def load_glove(path: Path) -> Vectors:
    """The GloVe vectors of the peer. All entries are writable, as in the peer."""
    with reading_vectors(path) as imported:
        return Vectors([f"w{row}" for row in range(len(imported.entries))], np.array(imported.matrix))


def word_rows() -> RowNumbers:
    """The rows of the test words, scattered over the vocabulary. The peers process as many as time allows."""
    return np.arange(WORDS) * 7919


def time_madlib(vectors: Vectors) -> float:
    """Words per second of textveil for noise and search, in documents of typical length."""
    mechanism, randomness = Madlib(vectors), SystemRandomness()
    rows = word_rows() % len(vectors)

    def requests(count: int) -> list[Request]:
        parts = np.array_split(rows[:count], max(1, count // WORDS_PER_DOCUMENT))
        return [Request(part, np.full(len(part), EPSILON), randomness.stream(0)) for part in parts]

    mechanism.perturb(requests(2000))
    return WORDS / best_of(3, lambda: mechanism.perturb(requests(WORDS)))


def sgemm_peak(size: int = 3072) -> float:
    """Floating-point operations per second of a product of large square matrices."""
    square = np.random.default_rng(1).standard_normal((size, size), dtype=np.float32)
    return 2 * size**3 / best_of(5, lambda: square @ square)


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """The shortest duration of several runs, in seconds: the run with the least disturbance."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def compare_speed(peers: Path) -> None:
    """Print words per second of textveil and its peers, and the share of the peak of the machine."""
    rows = " ".join(map(str, word_rows()))
    command = [str(peers), str(Path(__file__).with_name("peers.py")), str(EPSILON), "8"]
    answer = json.loads(subprocess.run(command, input=rows, capture_output=True, text=True, check=True).stdout)
    vectors = load_glove(Path(answer["glove"]))
    peak = sgemm_peak()
    ours = time_madlib(vectors)
    peak = max(peak, sgemm_peak())
    used = ours * 2 * len(vectors) * (vectors.dimensions + 1) / peak
    print(f"\nMADLIB on GloVe, {len(vectors):,} x {vectors.dimensions}, epsilon {EPSILON:g} per word")
    print(f"  {'textveil (exact)':<62}{ours:>10,.0f} words/s")
    for peer, rate in answer["rates"].items():
        print(f"  {peer:<62}{rate:>10,.1f} words/s   textveil is {ours / rate:,.0f} times as fast")
    print(f"  sgemm peak of this machine {peak / 1e9:.0f} GFLOP/s; textveil, noise included, uses {used:.0%} of it")


def compare_start() -> None:
    """Print the start-up time of the command and of a bare import of numpy."""
    textveil = [str(Path(sys.executable).with_name("textveil")), "obfuscate", TEXT, "--epsilon", "100"]
    times: dict[str, list[float]] = {"import numpy": [], "textveil obfuscate": []}
    for _ in range(15):  # the runs alternate, so that a slow phase of the machine affects both
        for name, command in zip(times, ([sys.executable, "-c", "import numpy"], textveil), strict=True):
            times[name].append(best_of(1, partial(subprocess.run, command, check=True, capture_output=True)))
    bare, ours = (statistics.median(times[name]) for name in times)
    print("\nCold start, median of 15 alternating runs")
    print(f"  python -c 'import numpy'     {bare * 1000:>8.0f} ms")
    print(f"  textveil obfuscate TEXT      {ours * 1000:>8.0f} ms   {ours / bare:.1f} times")


def peak_memory(rows: int, suffix: str, folder: Path) -> tuple[float, float]:
    """The peak resident size in MiB for a file with ``rows`` rows, and the documents per second."""
    source, target = folder / f"{rows}.{suffix}", folder / f"{rows}.out.{suffix}"
    with (folder / f"{rows}.csv").open("w", encoding="utf-8") as out:
        out.write("id,text\n")
        out.writelines(f"{row},{TEXT} number {row}\n" for row in range(rows))
    if suffix == "parquet":
        from pyarrow import csv, parquet

        parquet.write_table(csv.read_csv(folder / f"{rows}.csv"), source, row_group_size=10_000)
    command = [str(Path(sys.executable).with_name("textveil")), "obfuscate", "--input", str(source)]
    command += ["--output", str(target), "--epsilon", "40", "--quiet"]
    started = time.perf_counter()
    # A small process in between, because the peak of a process starts with the size of its parent.
    peak = subprocess.run([sys.executable, "-c", PEAK_OF, *command], check=True, capture_output=True, text=True).stdout
    return int(peak) / 1024, rows / (time.perf_counter() - started)


def compare_memory() -> None:
    """Print the peak memory for a short and a long file."""
    print("\nPeak memory of textveil obfuscate --input FILE")
    for suffix in ("csv", "parquet"):
        with tempfile.TemporaryDirectory() as folder:
            short, _ = peak_memory(10_000, suffix, Path(folder))
            print(f"  {suffix:<8}  10,000 rows  {short:>8.0f} MiB")
            long, rate = peak_memory(200_000, suffix, Path(folder))
            print(f"  {suffix:<8} 200,000 rows  {long:>8.0f} MiB   {long / short - 1:+.1%}   {rate:,.0f} documents/s")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "speed": lambda options: compare_speed(options.peers),
    "mechanisms": lambda options: compare_mechanisms(options.bundle),
    "start": lambda _: compare_start(),
    "memory": lambda _: compare_memory(),
    "decomposition": lambda options: compare_decomposition(options.datasets),
    "distribution": lambda options: compare_distribution(options.datasets),
    "counting": lambda options: compare_counting(options.corpus),
    "engines": lambda options: compare_engines(options.corpus, options.peers),
    "serve": lambda _: compare_serve(),
}


def main() -> None:
    """Run all benchmarks, or only some of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="the Python executable of the peers' environment")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="run only this part (may be repeated)")
    parser.add_argument("--bundle", default="en", help="a bundle for the mechanisms, best with a language model")
    parser.add_argument("--datasets", type=Path, help="a folder of reviews; by default the examples are used")
    parser.add_argument("--corpus", type=Path, help="English text, one document per line; by default random words")
    options = parser.parse_args()
    for part in options.only or PARTS:
        PARTS[part](options)


if __name__ == "__main__":
    main()
