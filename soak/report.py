"""Findings of the soak, and the summary of a run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

BATCH = 100
"""The number of inputs that share a seed and a marker."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise, with the seed that repeats it. It never holds the input."""

    part: str
    seed: int
    number: int
    """The position of the input in its batch, from 0; -1 if unknown."""
    kind: str
    """``crash``, ``marker``, ``hang``, ``wrong`` or ``died``."""
    place: str

    @property
    def command(self) -> str:
        """The command that repeats the batch."""
        return f"python -m soak --only {self.part} --seed {self.seed} --inputs {BATCH}"


@dataclass(slots=True)
class Report:
    """The inputs, the seconds and the findings of a run.

    Args:
        folder: Where findings are written.
        keep: Also write the inputs of findings. They may be long.
    """

    folder: Path
    keep: bool = False
    inputs: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    processor: Counter[str] = field(default_factory=Counter)
    """The seconds of processor time, which a busy machine does not change."""
    findings: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding, given: object = None) -> None:
        """Record a finding on disk and in memory."""
        self.findings.append(finding)
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps({**asdict(finding), "repeat": finding.command})
        with (self.folder / "findings.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
        if self.keep and given is not None:
            name = f"{finding.part}-{finding.seed}-{finding.number}.txt"
            (self.folder / name).write_text(ascii(given), encoding="ascii")

    def count(self, part: str) -> int:
        """The number of inputs of a part. Some parts count several kinds of inputs, such as ``kills csv``."""
        return sum(count for label, count in self.inputs.items() if label.split(" ")[0] == part)

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        return {
            "inputs": dict(self.inputs),
            "seconds": dict(self.seconds),
            "processor": dict(self.processor),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def add_dict(self, values: dict[str, Any]) -> None:
        """Count in the report of another process, whose findings are on disk already."""
        self.inputs.update(values["inputs"])
        self.seconds.update(values["seconds"])
        self.processor.update(values["processor"])
        self.findings += [Finding(**finding) for finding in values["findings"]]

    def summarize(self) -> Iterable[str]:
        """The lines of a table: inputs, seconds and findings of every part, then the different findings."""
        yield f"{'part':<14}{'inputs':>10}{'seconds':>10}{'processor':>11}{'findings':>10}"
        found = Counter(finding.part for finding in self.findings)
        for part, seconds in self.seconds.items():
            yield f"{part:<14}{self.count(part):>10,}{seconds:>10.0f}{self.processor[part]:>11.0f}{found[part]:>10,}"
            for kind in sorted(label for label in self.inputs if label.startswith(f"{part} ")):
                yield f"  {kind.removeprefix(part).strip():<12}{self.inputs[kind]:>10,}"
        times = f"{self.seconds.total():>10.0f}{self.processor.total():>11.0f}"
        yield f"{'all':<14}{self.inputs.total():>10,}{times}{found.total():>10,}"
        alike: dict[tuple[str, str, str], list[Finding]] = {}
        for finding in self.findings:
            alike.setdefault((finding.part, finding.kind, finding.place), []).append(finding)
        for (_, kind, place), several in alike.items():
            yield f"\n{len(several):,} x {kind}: {place}\n  {several[0].command}   (input {several[0].number})"
