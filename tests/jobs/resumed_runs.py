"""A run that a test starts in a process of its own, kills, and starts again."""

from __future__ import annotations

from pathlib import Path

from textveil.budget import Budget
from textveil.jobs import FileJob, JobOptions
from textveil.obfuscator import Obfuscator


def obfuscate(source: Path, output: Path) -> None:
    """Obfuscate a file with the shipped bundle, or resume that; every batch is a part."""
    options = JobOptions(Budget(60.0), batch_size=8)
    FileJob(source, output, options, resume=True, part_seconds=0.02).run(Obfuscator(seed=3))
