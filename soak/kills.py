"""Kill loops: the command is killed at random times and resumed until it is done."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import zstandard

from soak.base import Part
from soak.mutation import make_text
from soak.readers import build_file, read_file
from soak.tiny import build_tiny
from soak.watching import BrokenPromiseError
from textveil.storage.atomic import hash_file

FILES = tuple(f"in.{kind}{suffix}" for kind in ("csv", "tsv", "jsonl", "txt") for suffix in ("", ".gz", ".zst"))
FILES += ("in.parquet",)
PREPARATION = "prepare"
STUDY = "study"
NAMES = (*FILES, PREPARATION, STUDY)
ROWS = 800
LEAST_KILLS = 3
MOST_KILLS = 15
MOST_LOOPS = 10
PART_SECONDS = 0.02
"""How often a run saves its rows here, instead of every few seconds: so short a run has many parts."""
_LAUNCH = f"""
from functools import partial
from textveil import jobs
from textveil.cli import main
jobs.FileJob = partial(jobs.FileJob, part_seconds={PART_SECONDS})
main.main()
"""
_STUDY_FILE = "study.yaml"
_STUDY = """
name: kills
seed: 7
draws: 1
bundle: {bundle}
datasets:
  texts: {{path: study.jsonl, label: label, attribute: label}}
levels: {{high: 1, low: 5}}
decompositions: [words, pmi]
distributions: [uniform]
mechanisms: [madlib]
profiles: [paper, strict]
metrics: [clear_text]
"""
_VARYING = ("seconds", "versions")
"""The columns of results that differ between equal runs."""

_READABLE = str.maketrans({"\n": " ", "\r": " ", "\0": " "})
"""A text file has one document per line, and no NUL byte."""


Moment: TypeAlias = Callable[[], bool]
"""Whether it is time to kill the process."""


class Loop(NamedTuple):
    """A kind of run, and the seed of the times of its kills."""

    name: str
    seed: int


class Kills(Part):
    """Compares the output of a run that was killed many times with that of an undisturbed run."""

    name = "kills"
    seconds = 120.0
    batch = len(NAMES)
    rows = ROWS
    on_disk = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._bundle = build_tiny(folder / "tiny").folder
        self._waiting: list[str] = []

    def draw(self, random: Random, marker: str) -> Loop:
        """The next kind, and a seed. A batch has every kind once."""
        if not self._waiting:
            self._waiting = random.sample(NAMES, len(NAMES))
        return Loop(self._waiting.pop(), random.randrange(1 << 30))

    def use(self, given: Loop, marker: str) -> None:
        """Kill and resume the command until it is done, several times if it is done too soon. Kills are counted."""
        self.uses, self.label = 0, f"{self.name} {given.name.removeprefix('in.')}"
        random = Random(given.seed)
        source = self._write(given.name, random, marker)
        whole, output = (self.folder / f"{stem}-{given.name}" for stem in ("whole", "killed"))
        _remove(whole)
        started = time.monotonic()
        if not self._run(source, whole, marker, None):
            raise BrokenPromiseError("an undisturbed run fails")
        seconds, expected = time.monotonic() - started, self._read(whole)
        for _ in range(MOST_LOOPS):
            _remove(output)
            self._loop(source, output, marker, lambda: _choose_moment(random, output, seconds), expected)
            if self.uses >= LEAST_KILLS:
                return
        raise BrokenPromiseError(f"a run ends too soon to be killed ({given.name})")

    def _loop(
        self, source: Path, output: Path, marker: str, choose_moment: Callable[[], Moment], expected: object
    ) -> None:
        """Kill and resume the command until it is done."""
        for attempt in range(MOST_KILLS + 1):
            finished = self._run(source, output, marker, None if attempt == MOST_KILLS else choose_moment())
            self.uses += not finished
            if source.name == _STUDY_FILE and not finished:
                continue  # its folder grows from the beginning
            if output.exists() and self._read(output) != expected:
                raise BrokenPromiseError(f"the output of a killed run differs ({output.name})")
            if finished or (output.exists() and not _is_unfinished(output)):
                break
        if not output.exists() or _is_unfinished(output):
            raise BrokenPromiseError(f"a resumed run leaves something behind ({output.name})")

    def _write(self, name: str, random: Random, marker: str) -> Path:
        """Write what the command reads."""
        rows: list[str | None] = [make_text(random, marker).translate(_READABLE) for _ in range(self.rows)]
        if name == PREPARATION:
            phrases = ("new york", "green tea", "box office hit", "good film", "the plot", "was bad", marker)
            rows = [" ".join(random.choices(phrases, k=8)) for _ in range(300)]
            return self._save("corpus.txt", build_file(rows, "txt"))
        if name == STUDY:
            lines = [json.dumps({"text": text, "label": random.choice("ab")}) for text in rows]
            self._save("study.jsonl", "\n".join(lines).encode())
            return self._save(_STUDY_FILE, _STUDY.format(bundle=self._bundle).encode())
        content = build_file(rows, name.split(".")[1])
        if name.endswith(".gz"):
            content = gzip.compress(content)
        elif name.endswith(".zst"):
            content = bytes(zstandard.compress(content))
        return self._save(name, content)

    def _save(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def _list_arguments(self, source: Path, output: Path) -> list[Any]:
        match source.name:
            case "corpus.txt":
                small = ["--dimensions", 8, "--epochs", 1, "--min-entry-count", 2, "--min-count", 3, "--top", 50]
                return ["prepare", source, "-o", output, "--name", "x", *small, "--no-names", "--executor", "local"]
            case "study.yaml":
                return ["experiment", "run", source, "--folder", output, "--executor", "local"]
            case _:
                fixed = ["--epsilon-per-word", 5, "--seed", 7, "--bundle", self._bundle, "--batch-size", 16]
                return ["obfuscate", "-i", source, "-o", output, *fixed, "--resume"]

    @staticmethod
    def _read(output: Path) -> Any:
        """The content of an output, in a form that can be compared."""
        if not output.is_dir():
            return read_file(output)
        if (results := output / "results.csv").exists():
            rows = csv.DictReader(io.StringIO(results.read_text(encoding="utf-8")))
            return [{key: value for key, value in row.items() if key not in _VARYING} for row in rows]
        return {path.name: hash_file(path) for path in output.rglob("*") if path.is_file()}

    def _run(self, source: Path, output: Path, marker: str, moment: Moment | None) -> bool:
        """Run the command, kill it at a moment; whether it finished."""
        process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *map(str, self._list_arguments(source, output))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TEXTVEIL_CACHE": str(self.folder / "cache")},
        )
        while moment is not None and process.poll() is None:
            if moment():
                process.kill()
                break
            time.sleep(0.002)
        said = process.communicate()
        if marker.encode() in b"".join(said).lower():
            raise BrokenPromiseError("the command repeats a text")
        if process.returncode > 0:
            message = said[1].decode(errors="replace").replace(f"{self.folder}/", "").strip()
            raise BrokenPromiseError(f"the command ends with code {process.returncode}: {message[-300:]}")
        return process.returncode == 0


def _choose_moment(random: Random, output: Path, seconds: float) -> Moment:
    """A moment to kill a run: a random time, soon after something was saved, or while the run cleans up."""
    kind = random.randrange(3)
    if kind == 0:
        saved = _count_files(output) + random.randrange(1, 4)
        return lambda: _count_files(output) >= saved
    if kind == 1 and not output.exists():
        return output.exists
    ends = time.monotonic() + random.uniform(0.3, 1.2) * seconds
    return lambda: time.monotonic() >= ends


def _count_files(output: Path) -> int:
    """The number of files that a run has saved."""
    return sum(len(names) for place in (output, _partial(output)) for _, _, names in os.walk(place))


def _partial(output: Path) -> Path:
    return output.with_name(f"{output.name}.partial")


def _is_unfinished(output: Path) -> bool:
    """Whether there is something to resume. A kill at the very end of a removal leaves an empty folder."""
    return _partial(output).exists() and any(_partial(output).iterdir())


def _remove(output: Path) -> None:
    for path in (output, _partial(output)):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
