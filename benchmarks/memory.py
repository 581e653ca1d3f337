"""The peak memory of ``textveil obfuscate --input FILE`` for short and long files."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.records import Record
from benchmarks.start import TEXT

SHORT, LONG = 10_000, 100_000
PEAK_OF = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def peak_memory(rows: int, suffix: str, folder: Path) -> tuple[float, float]:
    """The peak resident size in MiB for a file with ``rows`` rows, and the documents per second."""
    source, target = folder / f"{rows}.{suffix}", folder / f"{rows}.out.{suffix}"
    with (folder / f"{rows}.csv").open("w", encoding="utf-8") as out:
        out.write("id,text\n")
        out.writelines(f"{row},{TEXT} number {row}\n" for row in range(rows))
    if suffix == "parquet":
        from pyarrow import csv, parquet

        parquet.write_table(csv.read_csv(folder / f"{rows}.csv"), source, row_group_size=10_000)
    command = [sys.executable, "-m", "textveil.cli.main", "obfuscate", "--input", str(source)]
    command += ["--output", str(target), "--epsilon", "40", "--quiet"]
    started = time.perf_counter()
    # A small process in between, because the peak of a process starts with the size of its parent.
    peak = subprocess.run([sys.executable, "-c", PEAK_OF, *command], check=True, capture_output=True, text=True).stdout
    return int(peak) / 1024, rows / (time.perf_counter() - started)


def compare_memory() -> list[Record]:
    """The peak memory for a short and a long file, and the documents per second of the long one."""
    records = []
    for suffix in ("csv", "parquet"):
        with tempfile.TemporaryDirectory() as folder:
            short, _ = peak_memory(SHORT, suffix, Path(folder))
            long, rate = peak_memory(LONG, suffix, Path(folder))
        records += [
            Record("memory", f"{suffix}, {SHORT:,} rows", short, "MiB"),
            Record("memory", f"{suffix}, {LONG:,} rows", long, "MiB", f"{SHORT:,} rows", long / short),
            Record("memory", f"{suffix}, {LONG:,} rows, speed", rate, "documents/s"),
        ]
    return records
