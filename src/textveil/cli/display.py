"""Output for people: the table of chunks, the progress bar, and warnings with flags."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from textveil import summary
from textveil.certificate import Certificate
from textveil.cli.reporting import report
from textveil.errors import spell_parameters
from textveil.methods.distribution import Score
from textveil.outcomes import Outcome
from textveil.progress import Progress, ignore_progress
from textveil.results import Obfuscation

SECONDS_BETWEEN_LINES = 60.0
"""The time between two lines of progress, where there is no progress bar."""
COLORS = {
    Outcome.PERTURBED: "green",
    Outcome.DRAWN: "cyan",
    Outcome.REDACTED: "magenta",
    Outcome.KEPT_STOPWORD: "dim",
    Outcome.KEPT_UNKNOWN: "bold red",
    Outcome.KEPT_NO_SHARE: "bold red",
}


def explain(result: Obfuscation) -> None:
    """Print a table: chunk, draft if there is one, the scores of its words, share, outcome, replacement."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=f"budget {result.certificate.tally.largest_budget:g}, profile {result.certificate.terms.profile.name}"
    )
    drafted = result.certificate.terms.draft_share is not None
    table.add_column("chunk")
    if drafted:
        table.add_column("draft share", justify="right")
        table.add_column("draft")
    table.add_column("scores of the draft" if drafted else "scores", justify="right")
    table.add_column("share", justify="right")
    table.add_column("outcome")
    table.add_column("replacement")
    for chunk in result.chunks:
        table.add_row(
            Text(chunk.original),
            *((f"{chunk.draft_share:.4g}", Text(chunk.draft or "")) if drafted else ()),
            "" if chunk.outcome is Outcome.KEPT_STOPWORD else " + ".join(map(_write_score, chunk.scores)),
            f"{chunk.share:.4g}" if chunk.share else "",
            chunk.outcome.value,
            Text(chunk.replacement or ""),
            style=COLORS[chunk.outcome],
        )
    Console().print(table)


def _write_score(score: Score) -> str:
    return "none" if score is None else f"{score:.3g}"


@contextmanager
def showing_progress(quiet: bool, unit_of: Callable[[str], str] = lambda _: "documents") -> Iterator[Progress]:
    """A progress bar on a terminal, and a line a minute elsewhere, such as in a log; nothing if ``quiet``."""
    if quiet or not sys.stderr.isatty():
        yield ignore_progress if quiet else _ProgressLines(unit_of)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[amount]:,} {task.fields[unit]}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, tuple[TaskID, int]] = {}

        def advance(stage: str, amount: int, fraction: float | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0, amount=0, rate="", unit=unit_of(stage)), amount
            task, first = tasks[stage]
            elapsed = bar.tasks[task].elapsed or 0.0
            rate = f"{(amount - first) / elapsed:,.0f}/s" if elapsed > 1 else ""
            total = None if fraction is None else 1.0
            bar.update(task, total=total, completed=fraction or 0.0, amount=amount, rate=rate)

        yield advance


class _ProgressLines:
    """Writes a line to standard error now and then.

    Args:
        unit_of: The unit of the amount of a stage.
    """

    def __init__(self, unit_of: Callable[[str], str]) -> None:
        self._unit_of = unit_of
        self._due = time.monotonic() + SECONDS_BETWEEN_LINES

    def __call__(self, stage: str, amount: int, fraction: float | None) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + SECONDS_BETWEEN_LINES
        share = "" if fraction is None else f" ({fraction:.0%})"
        report(f"{stage}: {amount:,} {self._unit_of(stage)}{share}")


def list_warnings(certificate: Certificate) -> list[str]:
    """What a user must know even without a summary, with flags for parameters."""
    return [spell_parameters(warning, _spell_flag) for warning in summary.list_warnings(certificate)]


def describe_workers(peaks: Mapping[str, int]) -> list[str]:
    """The number of workers of a run and their memory, in a line; nothing if there were none.

    >>> describe_workers({"a 1": 210 << 20, "a 2": 198 << 20})
    ['workers        2, each with at most 210 MiB of memory at its peak']
    """
    if not peaks:
        return []
    return [f"workers        {len(peaks):,}, each with at most {max(peaks.values()) >> 20:,} MiB of memory at its peak"]


def _spell_flag(name: str, value: str | None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {value.strip(_QUOTES)}"


_QUOTES = "'\""
