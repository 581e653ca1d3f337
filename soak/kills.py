"""Kill loops: the command is killed at random times and resumed until it is done."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import zstandard

from soak.base import Part
from soak.mutation import make_text
from soak.readers import build_file, read_file
from soak.tiny import build_tiny
from soak.watching import BrokenPromiseError
from textveil.storage.resumable import SETTINGS

NAMES = tuple(f"in.{kind}{suffix}" for kind in ("csv", "tsv", "jsonl", "txt") for suffix in ("", ".gz", ".zst"))
NAMES += ("in.parquet",)
ROWS = 800
MOST_KILLS = 15
PART_SECONDS = 0.02
"""How often a run saves its rows here, instead of every few seconds: so short a run has many parts."""
_LAUNCH = f"""
from functools import partial
from textveil.cli import main, obfuscate
obfuscate.FileJob = partial(obfuscate.FileJob, part_seconds={PART_SECONDS})
main.main()
"""

_READABLE = str.maketrans({"\n": " ", "\r": " ", "\0": " "})
"""A text file has one document per line, and no NUL byte."""


class Loop(NamedTuple):
    """A file, and the seed of the times of its kills."""

    name: str
    seed: int


class Kills(Part):
    """Compares the output of a run that was killed many times with that of an undisturbed run."""

    name = "kills"
    seconds = 600.0
    batch = len(NAMES)
    rows = ROWS

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._bundle = build_tiny(folder / "tiny").folder
        self._waiting: list[str] = []

    def draw(self, random: Random, marker: str) -> Loop:
        """The next format, and a seed. A batch has every format once."""
        if not self._waiting:
            self._waiting = random.sample(NAMES, len(NAMES))
        return Loop(self._waiting.pop(), random.randrange(1 << 30))

    def use(self, given: Loop, marker: str) -> None:
        """Kill and resume the command until it is done. Every process counts as an input."""
        self.uses = 0
        random = Random(given.seed)
        source = self.folder / given.name
        self._write(source, random, marker)
        expected, seconds = self._run_undisturbed(source, marker)
        output = self.folder / f"killed-{given.name}"
        _remove(output)
        for attempt in range(MOST_KILLS + 1):
            patience = None if attempt == MOST_KILLS else random.uniform(0.3, 1.2) * seconds
            finished = self._run(source, output, marker, patience)
            if output.exists() and read_file(output) != expected:
                raise BrokenPromiseError(f"the output of a killed run differs ({given.name})")
            if finished or (output.exists() and not _is_unfinished(output)):
                break
        if not output.exists() or _is_unfinished(output):
            raise BrokenPromiseError(f"a resumed run leaves something behind ({given.name})")

    def _write(self, source: Path, random: Random, marker: str) -> None:
        rows: list[str | None] = [make_text(random, marker).translate(_READABLE) for _ in range(self.rows)]
        content = build_file(rows, source.name.split(".")[1])
        if source.suffix == ".gz":
            content = gzip.compress(content)
        elif source.suffix == ".zst":
            content = bytes(zstandard.compress(content))
        source.write_bytes(content)

    def _run_undisturbed(self, source: Path, marker: str) -> tuple[Any, float]:
        output = self.folder / f"whole-{source.name}"
        _remove(output)
        started = time.monotonic()
        if not self._run(source, output, marker, None):
            raise BrokenPromiseError("an undisturbed run fails")
        return read_file(output), time.monotonic() - started

    def _run(self, source: Path, output: Path, marker: str, patience: float | None) -> bool:
        """Run the command, kill it after some seconds; whether it finished."""
        arguments = ["obfuscate", "-i", source, "-o", output, "--epsilon-per-word", "5", "--seed", "7", "--resume"]
        arguments += ["--bundle", self._bundle, "--batch-size", "16"]
        self.uses += 1
        process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TEXTVEIL_CACHE": str(self.folder / "cache")},
        )
        try:
            said = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()
        if marker.encode() in b"".join(said).lower():
            raise BrokenPromiseError("the command repeats a text")
        if process.returncode > 0:
            message = said[1].decode(errors="replace").replace(f"{self.folder}/", "").strip()
            raise BrokenPromiseError(f"the command ends with code {process.returncode}: {message[-300:]}")
        return process.returncode == 0


def _partial(output: Path) -> Path:
    return output.with_name(f"{output.name}.partial")


def _is_unfinished(output: Path) -> bool:
    """Whether there is a run to resume. A run that was killed while it removed its folder is finished."""
    return (_partial(output) / SETTINGS).exists()


def _remove(output: Path) -> None:
    output.unlink(missing_ok=True)
    shutil.rmtree(_partial(output), ignore_errors=True)
