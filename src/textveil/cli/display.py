"""Output for people: the table of chunks, the progress bar, and warnings with flags."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from textveil import summary
from textveil.certificate import Certificate
from textveil.cli.reporting import QUOTES, report
from textveil.errors import spell_parameters
from textveil.methods.distribution import Score
from textveil.outcomes import Outcome
from textveil.progress import Progress, ignore_progress
from textveil.results import Obfuscation

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

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


def build_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    right: Container[str] = (),
    styles: Iterable[str] = repeat(""),
    **settings: Any,
) -> Table:
    """A table whose cells are shown as they are.

    Args:
        heads: The titles of columns.
        rows: The cells of each row.
        right: The columns that are aligned to the right.
        styles: The style of each row.
        settings: Those of a table of rich.
    """
    from rich.table import Table
    from rich.text import Text

    title = settings.pop("title", None)
    table = Table(title=None if title is None else Text(title), **settings)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left")
    for cells, style in zip(rows, styles, strict=False):
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells), style=style)
    return table


def show(table: Table) -> None:
    """Print a table."""
    from rich.console import Console

    Console().print(table)


def explain(result: Obfuscation) -> None:
    """Print a table: chunk, draft if there is one, the scores of its words, share, outcome, replacement."""
    terms = result.certificate.terms
    drafted = terms.draft_share is not None
    scores = "scores of the draft" if drafted else "scores"
    draft = ("draft share", "draft") if drafted else ()
    rows = (
        (
            chunk.original,
            *((f"{chunk.draft_share:.4g}", chunk.draft or "") if drafted else ()),
            "" if chunk.outcome is Outcome.KEPT_STOPWORD else " + ".join(map(_write_score, chunk.scores)),
            f"{chunk.share:.4g}" if chunk.share else "",
            chunk.outcome.value,
            chunk.replacement or "",
        )
        for chunk in result.chunks
    )
    title = f"budget {result.certificate.tally.largest_budget:g}, profile {terms.profile.name}"
    styles = [COLORS[chunk.outcome] for chunk in result.chunks]
    heads = ("chunk", *draft, scores, "share", "outcome", "replacement")
    show(build_table(heads, rows, right=("draft share", scores, "share"), styles=styles, title=title))


def _write_score(score: Score) -> str:
    return "none" if score is None else f"{score:.3g}"


@contextmanager
def showing_progress(quiet: bool, unit_of: Callable[[str], str] = lambda _: "documents") -> Iterator[Progress]:
    """A progress bar on a terminal, and a line a minute elsewhere, such as in a log; nothing if ``quiet``."""
    if quiet or not sys.stderr.isatty():
        yield ignore_progress if quiet else _printing_lines(unit_of)
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID, TextColumn

    columns = (
        *Bar.get_default_columns(),
        TextColumn("left  {task.fields[amount]:,} {task.fields[unit]}{task.fields[rate]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, tuple[TaskID, int]] = {}

        def advance(stage: str, amount: int, fraction: float | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0, amount=0, rate="", unit=unit_of(stage)), amount
            task, first = tasks[stage]
            elapsed = bar.tasks[task].elapsed or 0.0
            rate = f", {(amount - first) / elapsed:,.0f}/s" if elapsed > 1 else ""
            total = None if fraction is None else 1.0
            bar.update(task, total=total, completed=fraction or 0.0, amount=amount, rate=rate)

        yield advance


def _printing_lines(unit_of: Callable[[str], str]) -> Progress:
    """Progress as a line on standard error now and then."""
    due = time.monotonic() + SECONDS_BETWEEN_LINES

    def advance(stage: str, amount: int, fraction: float | None) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + SECONDS_BETWEEN_LINES
            share = "" if fraction is None else f" ({fraction:.0%})"
            report(f"{stage}: {amount:,} {unit_of(stage)}{share}")

    return advance


def list_warnings(certificate: Certificate) -> list[str]:
    """What a user must know even without a summary, with flags for parameters."""
    return [spell_parameters(warning, _spell_flag) for warning in summary.list_warnings(certificate)]


def _spell_flag(name: str, value: str | None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {value.strip(QUOTES)}"
