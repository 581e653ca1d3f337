"""The process of a part: a crash or a hang ends it, and not the soak."""

from __future__ import annotations

import json
import os
import resource
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from soak.base import RUNNING, Part, run_part
from soak.report import Report

PARTS = {
    "readers": "Readers",
    "text": "Text",
    "allocation": "Allocation",
    "obfuscation": "Obfuscations",
    "studies": "Studies",
    "bundles": "Bundles",
    "certificates": "Certificates",
    "service": "Service",
    "kills": "Kills",
}
"""The class of every part, by the name of its module."""
IN_MEMORY = Path("/dev/shm")  # noqa: S108 # a folder of a random name is made in it
"""A folder in memory, on Linux."""
MEMORY = 8 << 30
"""The bytes that a process may ask for. A damaged file must not claim more."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a process is to do."""

    part: str
    output: Path
    seed: int
    seconds: float
    inputs: int | None
    keep: bool


def load_part(name: str) -> type[Part]:
    """The part with this name."""
    kind: type[Part] = getattr(import_module(f"soak.{name}"), PARTS[name])
    return kind


def run_task(task: Task) -> None:
    """Run a part, and leave its report where the parent finds it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    report = Report(task.output, task.keep)
    kind = load_part(task.part)
    place = None if kind.on_disk or not os.access(IN_MEMORY, os.W_OK) else IN_MEMORY
    with tempfile.TemporaryDirectory(prefix="soak-", dir=place) as folder:
        os.environ["TEXTVEIL_CACHE"] = str(Path(folder) / "cache")
        part = kind(Path(folder))
        try:
            run_part(part, report, seed=task.seed, seconds=task.seconds, inputs=task.inputs)
        finally:
            part.close()
    (task.output / RUNNING).write_text(json.dumps({"seed": task.seed, **report.as_dict()}), encoding="utf-8")
