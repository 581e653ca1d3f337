"""Run the benchmarks of textveil and its peers, as ``make bench`` does."""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from benchmarks.counting import MILLIONS, compare_counting
from benchmarks.decomposition import compare_decomposition
from benchmarks.distribution import compare_distribution
from benchmarks.engines import compare_engines
from benchmarks.growth import compare_growth
from benchmarks.mechanisms import compare_mechanisms
from benchmarks.memory import compare_memory
from benchmarks.records import Record, merge_records, read_records, write_records, write_table
from benchmarks.serve import compare_serve
from benchmarks.speed import compare_speed
from benchmarks.start import compare_start
from benchmarks.throughput import compare_throughput
from benchmarks.vectors import compare_vectors

PAGE, RECORDS = Path("docs/performance.md"), Path("docs/performance.json")

PARTS: dict[str, Callable[[argparse.Namespace], list[Record]]] = {
    "start": lambda _: compare_start(),
    "throughput": lambda options: compare_throughput(options.datasets),
    "growth": lambda options: compare_growth(options.datasets),
    "speed": lambda options: compare_speed(options.peers),
    "mechanisms": lambda options: compare_mechanisms(options.bundle),
    "memory": lambda _: compare_memory(),
    "decomposition": lambda options: compare_decomposition(options.datasets),
    "distribution": lambda options: compare_distribution(options.datasets),
    "counting": lambda options: compare_counting(options.corpus, options.words),
    "engines": lambda options: compare_engines(options.corpus, options.peers),
    "serve": lambda _: compare_serve(),
    "vectors": lambda _: compare_vectors(),
}


def main() -> int:
    """Run all benchmarks, or only some of them. A part that fails does not stop the others."""
    options = _parse(sys.argv[1:])
    started = time.perf_counter()
    failed = [part for part in options.only or PARTS if not run_part(part, options)]
    print(f"\nTotal: {(time.perf_counter() - started) / 60:.1f} minutes", flush=True)
    if failed:
        print(f"Failed: {', '.join(failed)}. The errors are above.", file=sys.stderr)
    return 1 if failed else 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="the Python executable of the peers' environment")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="run only this part (may be repeated)")
    parser.add_argument("--bundle", default="en", help="a bundle for the mechanisms, best with a language model")
    parser.add_argument("--datasets", type=Path, help="a folder of reviews; by default the examples are used")
    parser.add_argument("--corpus", type=Path, help="English text, one document per line; by default random words")
    parser.add_argument("--words", type=_sizes, default=MILLIONS, help="the sizes to count, in millions: 10,60,500")
    parser.add_argument("--no-write", action="store_true", help="print only; the page and its JSON file stay")
    return parser.parse_args(arguments)


def _sizes(text: str) -> tuple[float, ...]:
    try:
        sizes = tuple(map(float, text.split(",")))
    except ValueError:
        sizes = ()
    if not all(0 < size < math.inf for size in sizes or [0]):
        raise argparse.ArgumentTypeError("Give positive numbers with commas between them, such as 10,60.")
    return sizes


def run_part(part: str, options: argparse.Namespace) -> bool:
    """Run a part, print its records, and write them at once, so that a later failure loses nothing.

    Returns whether the part succeeded.
    """
    started = time.perf_counter()
    try:
        records = PARTS[part](options)
    except (Exception, SystemExit):  # noqa: BLE001 # parts are independent of each other
        traceback.print_exc()
        print(f"\n{part}: failed after {time.perf_counter() - started:.0f} s", flush=True)
        return False
    print(f"\n{part}: {time.perf_counter() - started:.0f} s", *records, sep="\n", flush=True)
    if not options.no_write:
        merged = merge_records(read_records(RECORDS), records, list(PARTS))
        write_records(RECORDS, merged)
        write_table(PAGE, merged)
    return True


if __name__ == "__main__":
    sys.exit(main())
