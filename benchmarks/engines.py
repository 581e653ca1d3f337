"""Merging counts that do not fit into memory: Arrow runs by range, DuckDB and Polars, on the same rows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.counting import MIN_COUNT, Measured, watch
from benchmarks.records import Record
from benchmarks.web_text import read_documents

PART_WORDS = 1_000_000
PARTS = 30
MEMORY = 512
"""The memory limit in MiB, for engines that have one."""


def write_parts(corpus: Path | None, folder: Path) -> int:
    """Write the sorted trigram counts of every part as Arrow runs and as Parquet; return the number of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    from textveil.lab.corpus.counting.runs import Keys, write_run
    from textveil.lab.corpus.counting.words import END, split_documents

    numbers: dict[str, int] = {END: 0}
    words: list[int] = []
    rows = part = 0
    for document in read_documents(corpus):
        words += [numbers.setdefault(word, len(numbers)) for word in split_documents([document])]
        if len(words) < PART_WORDS:
            continue
        ids = np.array(words, np.uint64)
        whole = (ids[:-2] > 0) & (ids[1:-1] > 0) & (ids[2:] > 0)
        trigrams = ((ids[:-2] << np.uint64(42)) | (ids[1:-1] << np.uint64(21)) | ids[2:])[whole]
        keys, counts = np.unique(trigrams, return_counts=True)
        run = write_run(folder / f"{part:03}.keys", Keys(keys), counts)
        (folder / f"{part:03}.json").write_text(json.dumps(asdict(run)), encoding="utf-8")
        parquet.write_table(pa.table({"key": keys, "count": counts}), folder / f"{part:03}.parquet", compression="lz4")
        rows, part, words = rows + len(keys), part + 1, []
        if part == PARTS:
            break
    return rows


def merge_with_arrow(folder: Path) -> int:
    """Merge range by range in one process; return the number of rows."""
    from textveil.lab.corpus.counting.job import PARENT_BYTES, ROW_BYTES
    from textveil.lab.corpus.counting.runs import Index, Run, make_ranges, merge_range, plan_cuts

    indexes = sorted(folder.glob("*.json"))
    runs = (Run(**json.loads(path.read_text(encoding="utf-8"))) for path in indexes)
    index = Index.gather(folder, runs)
    cuts = plan_cuts(index, ((MEMORY << 20) - PARENT_BYTES) // ROW_BYTES)
    return sum(len(merge_range(wanted, MIN_COUNT)[0]) for wanted in make_ranges(index, cuts))


def merge_with_duckdb(folder: Path) -> int:
    """Merge with DuckDB, which spills to disk; return the number of rows."""
    import duckdb

    settings: dict[str, Any] = {"memory_limit": f"{MEMORY}MB", "threads": 2, "temp_directory": str(folder / "spill")}
    query = f"""COPY (SELECT key, sum(count) AS count FROM read_parquet('{folder}/*.parquet')
        GROUP BY key HAVING sum(count) >= {MIN_COUNT} ORDER BY key) TO '{folder}/merged.duckdb'"""  # noqa: S608
    return int(duckdb.connect(config=settings).execute(query).fetchall()[0][0])


def merge_with_polars(folder: Path) -> int:
    """Merge with the streaming engine of Polars, which has no memory limit; return the number of rows."""
    import polars as pl

    rows = pl.scan_parquet(folder / "*.parquet").group_by("key").agg(pl.col("count").sum())
    rows.filter(pl.col("count") >= MIN_COUNT).sort("key").sink_parquet(folder / "merged.polars")
    return int(pl.scan_parquet(folder / "merged.polars").select(pl.len()).collect().item())


ENGINES = {"arrow": merge_with_arrow, "duckdb": merge_with_duckdb, "polars": merge_with_polars}
LABELS = {
    "duckdb": "DuckDB, 2 threads, with spilling",
    "polars": "Polars, 2 threads, streaming, no limit",
}


def compare_engines(corpus: Path | None, peers: Path) -> list[Record]:
    """The duration and the peak memory of textveil, beside those of the other engines."""
    with tempfile.TemporaryDirectory() as name:
        rows = write_parts(corpus, Path(name))
        found: dict[str, int] = {}
        measured: dict[str, Measured] = {}
        for engine in ENGINES:
            python = sys.executable if engine == "arrow" else str(peers)
            command = [python, "-m", "benchmarks.engines", engine, name]
            found[engine] = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            measured[engine] = watch(command)
    if len(set(found.values())) > 1:
        raise SystemExit(f"The engines find different numbers of rows: {found}.")
    return describe(rows, measured)


def describe(rows: int, measured: Mapping[str, Measured]) -> list[Record]:
    """Rows per second and peak memory of textveil, beside each other engine."""
    ours, work = measured["arrow"], f"merging {rows:,} rows, {MEMORY} MiB allowed"
    records = []
    for engine, other in measured.items():
        if engine != "arrow":
            label = LABELS[engine]
            records += [
                Record("engines", work, rows / ours.seconds, "rows/s", f"{label}: {rows / other.seconds:,.0f}",
                       other.seconds / ours.seconds),
                Record("engines", f"{work}, peak memory", ours.peak, "MiB", f"{label}: {other.peak:,.0f}",
                       ours.peak / other.peak),
            ]  # fmt: skip
    return records


if __name__ == "__main__":
    print(ENGINES[sys.argv[1]](Path(sys.argv[2])))
