"""How the cost grows with documents, words, vocabulary, dimensions, workers and threads, each as a figure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mechanisms import widen
from benchmarks.records import Record
from benchmarks.throughput import EPSILON_PER_WORD, WORDS, read_heads
from benchmarks.timing import best_of
from textveil import Obfuscator
from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import Vectors
from textveil.methods.mechanisms import Request
from textveil.methods.mechanisms.madlib import Madlib
from textveil.randomness import SystemRandomness

FIGURES = Path("docs/figures")
DOCUMENTS = (50, 100, 200, 400, 800)
LENGTHS = (15, 30, 60, 120, 240)
VOCABULARY = (3750, 7500, 15000, 30000, 60000)
DIMENSIONS = (16, 32, 64, 128, 256)
WORKERS = THREADS = (1, 2)
FILE_ROWS = 1000
"""The documents of the file that workers obfuscate."""
_POINTS = 4096
_UNITS = {
    "documents": "documents",
    "words per document": "words per document",
    "vocabulary": "entries",
    "dimensions": "dimensions",
    "workers": "worker processes",
    "threads": "threads",
}
_PARALLEL = ("workers", "threads")


def compare_growth(datasets: Path | None) -> list[Record]:
    """Seconds for each size, as multiples of those for the smallest one; and the figures."""
    texts = read_heads(datasets, documents=max(DOCUMENTS), words=max(LENGTHS))
    obfuscator = Obfuscator(decomposition="words", mechanism="madlib", form="keep")
    measured = {
        "documents": _time_each(DOCUMENTS, lambda number: _obfuscate(obfuscator, read_heads(datasets, number))),
        "words per document": _time_each(
            LENGTHS, lambda words: _obfuscate(obfuscator, [" ".join(text.split()[:words]) for text in texts[:200]])
        ),
        "vocabulary": _time_each(VOCABULARY, lambda entries: _search(_sample(entries, 64))),
        "dimensions": _time_each(DIMENSIONS, lambda dimensions: _search(_sample(30000, dimensions))),
        "workers": _time_workers(read_heads(datasets, FILE_ROWS)),
        "threads": {number: _time_with_threads(number) for number in THREADS},
    }
    for name, seconds in measured.items():
        draw(name, seconds, FIGURES / f"performance_{name.replace(' ', '_')}.svg")
    return [record for name, seconds in measured.items() for record in _describe(name, seconds)]


def _describe(name: str, seconds: dict[int, float]) -> list[Record]:
    least = min(seconds)
    return [
        Record("growth", _label(name, size), taken, "s", _label(name, least), taken / seconds[least])
        for size, taken in seconds.items()
    ]


def _label(name: str, size: int) -> str:
    singular = {"workers": "worker process", "threads": "thread"}
    return f"{size:,} {singular.get(name, _UNITS[name]) if size == 1 else _UNITS[name]}"


def _time_each(sizes: Sequence[int], prepare: Callable[[int], Callable[[], Any]]) -> dict[int, float]:
    """The seconds for each size; the preparation does not count."""
    return {size: best_of(2, prepare(size)) for size in sizes}


def _obfuscate(obfuscator: Obfuscator, texts: list[str]) -> Callable[[], Any]:
    return lambda: list(obfuscator.obfuscate_all(texts, epsilon_per_word=EPSILON_PER_WORD))


def _sample(entries: int, dimensions: int) -> Vectors:
    """A part of the shipped vectors in some dimensions."""
    whole = Bundle.load().vectors("words")
    part = Vectors(whole.entries[:entries], np.asarray(whole.matrix[:entries]))
    return part.project(dimensions) if dimensions <= part.dimensions else widen(part).project(dimensions)


def _search(vectors: Vectors) -> Callable[[], Any]:
    """Perturb words with MADLIB."""
    mechanism, randomness = Madlib(vectors), SystemRandomness()
    rows = np.arange(_POINTS) * 7919 % len(vectors)
    parts = np.array_split(rows, len(rows) // WORDS)

    def perturb() -> None:
        mechanism.perturb([Request(part, np.full(len(part), EPSILON_PER_WORD), randomness.stream(0)) for part in parts])

    return perturb


def _time_workers(texts: Sequence[str], rounds: int = 2) -> dict[int, float]:
    """The seconds of ``textveil obfuscate --workers NUMBER`` for a file, with the defaults and with start-up."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
        command = [sys.executable, "-m", "textveil.cli.main", "obfuscate", "--input", str(source)]
        command += ["--output", str(target), "--overwrite", "--quiet", "--epsilon-per-word", str(EPSILON_PER_WORD)]

        def obfuscate(number: int) -> Callable[[], Any]:
            return lambda: subprocess.run([*command, "--workers", str(number)], check=True, capture_output=True)

        return {number: best_of(rounds, obfuscate(number)) for number in WORKERS}


def _time_with_threads(number: int) -> float:
    """The seconds for the same words on a number of threads, in a process of their own."""
    environment = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(number))}
    command = [sys.executable, "-m", "benchmarks.growth"]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def draw(name: str, seconds: dict[int, float], path: Path) -> None:
    """Draw the seconds by size, with the line of proportional growth."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    with mpl.rc_context({"svg.hashsalt": "textveil", "svg.fonttype": "none"}):
        figure = Figure(figsize=(5, 3.2), layout="constrained")
        axes = figure.subplots()
        sizes, least = list(seconds), min(seconds)
        ideal = [seconds[least] * (least / size if name in _PARALLEL else size / least) for size in sizes]
        axes.plot(sizes, ideal, linestyle=":", color="gray", label="proportional")
        axes.plot(sizes, list(seconds.values()), marker="o", label="measured")
        axes.set(xlabel=_UNITS[name], ylabel="seconds", xscale="log", yscale="log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.legend(frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    work = _search(_sample(30000, 64))
    work()
    started = time.perf_counter()
    work()
    print(time.perf_counter() - started)
