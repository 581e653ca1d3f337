"""The record of one measurement, and its way into docs/performance.json and docs/performance.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement.

    Attributes:
        part: The part of the benchmarks.
        name: What was measured.
        value: The number.
        unit: Its unit.
        baseline: What it is compared with, measured in the same run unless it says otherwise.
        ratio: How many times as much as the baseline; of speeds, how many times as fast.
    """

    part: str
    name: str
    value: float
    unit: str
    baseline: str | None = None
    ratio: float | None = None

    def __str__(self) -> str:
        compared = "" if self.ratio is None else f"{self.ratio:>10,.3g} x {self.baseline}"
        return f"  {self.name:<58}{_round(self.value):>12} {self.unit:<14}{compared}"


def _round(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def read_records(path: Path) -> list[Record]:
    """The records of a file; none if there is no file."""
    return [Record(**values) for values in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def merge_records(old: Iterable[Record], new: Sequence[Record], order: Sequence[str]) -> list[Record]:
    """The new records, and the old ones of parts that were not measured again, in the order of the parts.

    >>> old = [Record("start", "a", 1, "ms"), Record("speed", "b", 2, "words/s")]
    >>> [record.value for record in merge_records(old, [Record("start", "a", 3, "ms")], ["speed", "start"])]
    [2, 3]
    """
    measured = {record.part for record in new}
    kept = [record for record in old if record.part not in measured and record.part in order]
    return sorted([*kept, *new], key=lambda record: order.index(record.part))


def write_records(path: Path, records: Sequence[Record]) -> None:
    """Write records as JSON."""
    path.write_text(json.dumps([asdict(record) for record in records], indent=1) + "\n", encoding="utf-8")


def write_table(path: Path, records: Sequence[Record]) -> None:
    """Replace the table between the marks of a page."""
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{path} has no marks {BEGIN} and {END}.")
    lines = ["| part | measurement | value | compared with | times |", "|---|---|---|---|---|"]
    for part, some in groupby(records, key=lambda record: record.part):
        for record in some:
            ratio = "" if record.ratio is None else f"{record.ratio:,.3g}"
            lines.append(
                f"| {part} | {record.name} | {_round(record.value)} {record.unit} | {record.baseline or ''} | {ratio} |"
            )
    table = "\n".join(lines) if records else "Nothing has been recorded yet."
    path.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
