"""Obfuscate the same texts with textveil and its peers, and judge all of them by ``textveil compare``.

python -m benchmarks.compare_peers DATASET --folder FOLDER --peers PYTHON --presidio PYTHON

Outputs of the same command in FOLDER are reused. A peer that crashes or changes the number of rows is reported,
not compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peer_table import write_page
from textveil.randomness import SeededRandomness
from textveil.storage.atomic import hash_file, writing
from textveil.tables.source import read_records
from textveil.text.documents import cut
from textveil.text.words import find_words

RUNNERS = Path(__file__).with_name("peer_runners")
DOCS = Path(__file__).parents[1] / "docs"
TEXTS, WORDS, SEED = 600, 60, 1
LABELS = {0: "negative", 2: "positive"}
"""The ratings to tell apart. With the third, neutral, nothing can be learned from the first 60 words."""
LEVELS = ("high", "medium", "low")
METRICS = "identifiers,attribute,stylometry,downstream,similarity,perplexity,clear_text,overlap"
SAMPLES = {"perplexity": 50, "similarity": 200}
AGAINST = "mldp-text MADLIB"
"""The setting that curves are compared with: the method of the paper, by others."""
ORIGINALS, DONE = "originals.txt", "done"
TEXTVEIL = (sys.executable, "-m", "textveil.cli.main")
ERROR = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception|Interrupt))\b", re.MULTILINE)


@dataclass(frozen=True)
class Peer:
    """A tool that obfuscates a file of lines.

    Args:
        name: The name in tables.
        command: The command. ``{level}``, ``{seed}``, ``{input}`` and ``{output}`` are replaced.
        levels: The levels to run, from the most private on; none if the tool has no levels.
    """

    name: str
    command: tuple[str, ...]
    levels: tuple[str, ...] = ()

    def list_runs(self) -> list[tuple[str, str]]:
        """The name and the level of every run."""
        return [(f"{self.name}@{level}", level) for level in self.levels] or [(self.name, "")]


@dataclass(frozen=True)
class Run:
    """What became of one run of a peer. The error is the name of an exception; its message could quote a text."""

    name: str
    outcome: str
    rows: int
    empty: int
    seconds: float
    error: str | None = None


def list_peers(peers: str, presidio: str) -> list[Peer]:
    """All tools to compare, at levels at which about 5, 20 and 50 % of the words return, where there are any."""

    def ours(name: str, *options: str) -> Peer:
        budget = ("--level", "{level}", "--seed", "{seed}", "--quiet")
        files = ("--input", "{input}", "--output", "{output}")
        return Peer(name, (*TEXTVEIL, "obfuscate", *files, *budget, *options), LEVELS)

    def mldp(name: str, mechanism: str, *levels: str) -> Peer:
        script = str(RUNNERS / "run_mldp.py")
        return Peer(f"mldp-text {name}", (peers, script, mechanism, "{level}", "{seed}", "{input}", "{output}"), levels)

    return [
        mldp("MADLIB", "MultivariateCalibrated", "8", "10", "13"),
        mldp("TEM", "TEM", "1.8", "2.1", "2.5"),
        mldp("Mahalanobis", "Mahalanobis", "8", "11", "14"),
        mldp("Vickrey", "VickreyMechanism", "8", "10", "13"),
        mldp("truncated Gumbel", "TruncatedGumbel", "10"),
        Peer("Presidio", (presidio, str(RUNNERS / "run_presidio.py"), "{input}", "{output}")),
        ours("paper", "--profile", "paper", "--mechanism", "madlib"),
        ours("madlib", "--mechanism", "madlib"),
        ours("exponential", "--mechanism", "exponential"),
        ours("fluent", "--mechanism", "fluent"),
        ours("fluent proven", "--mechanism", "fluent", "--profile", "proven", "--decomposition", "words"),
    ]


def prepare(dataset: Path, folder: Path, texts: int, words: int, seed: int) -> dict[str, Any]:
    """Write the first words of a sample of reviews, as a table and as lines; return their statistics."""
    rows = [row for row in read_records(dataset) if row["label3"] in LABELS]
    order = SeededRandomness(seed).stream(0).permutation(len(rows))[:texts]
    chosen = [
        {
            "text": " ".join(cut(rows[row]["text"], words).split()),
            "label": LABELS[rows[row]["label3"]],
            "author": rows[row]["author"],
        }
        for row in order
    ]
    write(folder / ORIGINALS, "".join(f"{row['text']}\n" for row in chosen))
    write(folder / "originals.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen))
    lengths = [len(find_words(row["text"])) for row in chosen]
    return {
        "dataset": dataset.name,
        "texts": len(chosen),
        "seed": seed,
        "words": sum(lengths),
        "longest": max(lengths),
        "labels": dict(sorted(Counter(row["label"] for row in chosen).items())),
        "authors": len({row["author"] for row in chosen}),
    }


def obfuscate(peer: Peer, folder: Path, seed: int) -> list[Run]:
    """Run a peer at all its levels. A run is repeated if it failed, or if its command or the originals changed."""
    runs = []
    source = folder / ORIGINALS
    for name, level in peer.list_runs():
        record, target = (folder / f"{name_file(name)}.{kind}" for kind in ("json", "txt"))
        places = {"level": level, "seed": str(seed), "input": str(source), "output": str(target)}
        command = [part.format_map(places) for part in peer.command]
        key = hashlib.sha256(json.dumps([command, hash_file(source)]).encode()).hexdigest()
        kept = json.loads(record.read_text(encoding="utf-8")) if record.exists() and target.exists() else {}
        if kept.get("key") != key or kept["run"]["outcome"] != DONE:
            kept = {"key": key, "run": asdict(run_once(name, command, source, target))}
            write(record, json.dumps(kept))
        runs.append(Run(**kept["run"]))
        print(f"{name}: {runs[-1].outcome}, {runs[-1].seconds:.0f} s", flush=True)
    return runs


def run_once(name: str, command: Sequence[str], source: Path, target: Path) -> Run:
    """Run a command and check what it wrote."""
    target.unlink(missing_ok=True)
    started = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        sys.exit(f"{name}: {command[0]} cannot be run. `make compare-peers` sets up the environments.")
    seconds = time.perf_counter() - started
    lines = read_lines(target) if target.exists() else []
    empty = sum(not line.strip() for line in lines)
    if done.returncode != 0:
        found = ERROR.findall(done.stderr)
        return Run(name, "crashed", len(lines), empty, seconds, found[-1] if found else f"exit {done.returncode}")
    outcome = DONE if len(lines) == len(read_lines(source)) else "changed rows"
    return Run(name, outcome, len(lines), empty, seconds)


def compare(runs: Sequence[Run], folder: Path, figures: Path) -> dict[str, Any]:
    """Judge all complete outputs by one call of ``textveil compare``."""
    complete = [run for run in runs if run.outcome == DONE]
    if not complete:
        sys.exit("No tool wrote a text for every original, so there is nothing to compare.")
    files = [str(folder / f"{name_file(run.name)}.txt") for run in complete]
    names = [part for run in complete for part in ("--name", run.name)]
    samples = [part for metric, size in SAMPLES.items() for part in ("--sample", f"{metric}={size}")]
    settings = {run.name.rpartition("@")[0] or run.name for run in complete}
    against = ["--against", AGAINST] if AGAINST in settings else []
    found = folder / "comparison.json"
    columns = ("--label", "label", "--attribute", "author", "--metrics", METRICS)
    outputs = ("--json", str(found), "--html", str(folder / "comparison.html"), "--figures", str(figures))
    command = ["compare", str(folder / "originals.jsonl"), *files, *names, *columns, *samples, *against]
    if code := run_textveil([*command, *outputs, "--overwrite"]):
        sys.exit(f"textveil compare failed with exit code {code}. Its message is above.")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def run_textveil(arguments: Sequence[str]) -> int:
    """Run a command of textveil and return its exit code."""
    return subprocess.run([*TEXTVEIL, *arguments], check=False).returncode


def name_file(name: str) -> str:
    """The file of a run, without its suffix."""
    return re.sub(r"[^\w.@-]", "_", name)


def read_lines(path: Path) -> list[str]:
    """The lines of a file. Only a line feed ends a line."""
    content = path.read_bytes().decode(errors="replace")
    return content.removesuffix("\n").split("\n") if content else []


def write(path: Path, content: str) -> None:
    """Write a file at once."""
    with writing(path) as stream:
        stream.write(content.encode())


def main(arguments: Sequence[str] | None = None, peers: Sequence[Peer] | None = None) -> None:
    """Run all tools, compare their outputs and write the results to the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="reviews with the columns text, label3 and author")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"), help="folder for texts and scores")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of comparison.md, for results and figures")
    parser.add_argument("--peers", default=".venv-peers/bin/python", help="Python with mldp-text")
    parser.add_argument("--presidio", default=".venv-presidio/bin/python", help="Python with Presidio")
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--words", type=int, default=WORDS, help="number of words of each text to use")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    if not options.dataset.is_file():
        sys.exit(
            f"There is no data set {str(options.dataset)!r}. Give the scale data of Pang and Lee as JSON lines with "
            "the columns text, label3 and author: make compare-peers DATASETS=FOLDER."
        )
    folder = options.folder / f"{options.texts}x{options.words}-{options.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    statistics = prepare(options.dataset, folder, options.texts, options.words, options.seed)
    chosen = list_peers(options.peers, options.presidio) if peers is None else peers
    runs = [run for peer in chosen for run in obfuscate(peer, folder, options.seed)]
    comparison = compare(runs, folder, options.docs / "figures" / "peers")
    write_page(options.docs, statistics, [asdict(run) for run in runs], comparison)


if __name__ == "__main__":
    main()
