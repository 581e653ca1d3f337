"""The progress of a study: a live table on a terminal, lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from textveil.cli.display import build_table
from textveil.cli.reporting import report, spell_flag
from textveil.errors import TextveilError
from textveil.lab.study.experiment import Plan, Watcher
from textveil.lab.study.status import CellState, Counts

if TYPE_CHECKING:
    from rich.table import Table

    from textveil.lab.study.cell_runner import CellDone
    from textveil.lab.study.experiment import SharedDone


def write_time(seconds: float) -> str:
    """A duration in words.

    >>> write_time(8.2), write_time(95), write_time(7380)
    ('8 s', '2 min', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def list_failures(states: Sequence[CellState]) -> Iterator[str]:
    """One line for every reason of a failure, with the first cell that has it."""
    found: dict[tuple[str, str], list[str]] = {}
    for state in states:
        for failure in state.failures:
            found.setdefault((failure.what, failure.reason), []).append(str(state.cell))
    for (what, reason), cells in found.items():
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        yield f"Failed: {what} of {cells[0]}{more}: {spell_reason(reason)}"


def spell_reason(reason: str) -> str:
    """The reason of a failure, with parameters as ``textveil experiment run`` spells them."""
    from textveil.cli.experiment import run

    return TextveilError(reason).spell(partial(spell_flag, run))


def make_table(rows: Iterable[tuple[str, Counts]]) -> Table:
    """A table of data sets, with the number of cells by state."""
    heads = ("cells", "finished", "to do", "failed")
    cells, styles = [], []
    for name, counts in rows:
        values = (counts.cells, counts.finished, counts.to_do, counts.failed)
        cells.append([name, *(f"{value:,}" for value in values)])
        styles.append("red" if counts.failed else "")
    return build_table(("data set", *heads), cells, right=heads, styles=styles)


def count_by_dataset(states: Sequence[CellState]) -> list[tuple[str, Counts]]:
    """The number of cells by state, for every data set."""
    names = dict.fromkeys(state.cell.dataset for state in states)
    return [(name, Counts.of(state for state in states if state.cell.dataset == name)) for name in names]


class Display(Watcher):
    """Shows finished tasks: a table on a terminal, a line for each elsewhere. Problems always have a line.

    Args:
        live: The part of a terminal that is updated.
    """

    def __init__(self, live: Any = None) -> None:
        self._live = live
        self._plan = Plan((), (), ())
        self._done: Counter[str] = Counter()
        self._changes: dict[str, Counter[str]] = {}
        self._since = time.monotonic()

    def begin(self, plan: Plan) -> None:
        """Show the number of cells."""
        self._plan = plan
        counts = Counts.of(plan.states)
        self._tell(f"{counts.cells:,} cells: {counts.finished:,} finished, {len(plan.cells):,} to do")

    def shared_done(self, done: SharedDone) -> None:
        """Show a shared task, with its time or its failure."""
        self._done["shared"] += 1
        self._since = time.monotonic()
        for warning in done.warnings:
            self._note(f"Warning: {done.task}: {spell_reason(warning)}")
        failed = f": failed: {spell_reason(done.reason)}" if done.reason else f", {done.seconds:.1f} s"
        self._tell(f"[{self._done['shared']}/{len(self._plan.shared)}] {done.task}{failed}")

    def cell_done(self, done: CellDone) -> None:
        """Show a cell with its time, its failures, and the time left at the rate of the finished ones."""
        self._done["cells"] += 1
        self._changes.setdefault(done.cell.dataset, Counter())["failed" if done.failures else "finished"] += 1
        for failure in done.failures:
            self._note(f"Failed: {failure.what} of {done.cell}: {spell_reason(failure.reason)}")
        finished, planned = self._done["cells"], len(self._plan.cells)
        left = write_time((time.monotonic() - self._since) / finished * (planned - finished))
        self._tell(f"[{finished}/{planned}] {done.cell}, {done.seconds:.1f} s, about {left} left")

    def _note(self, line: str) -> None:
        if self._live is None:
            report(line)
        else:
            self._live.console.print(line, markup=False)

    def _tell(self, line: str) -> None:
        if self._live is None:
            report(line)
            return
        from rich.console import Group
        from rich.text import Text

        rows = []
        for name, counts in count_by_dataset(self._plan.states):
            change = self._changes.get(name, Counter())
            failed, finished = counts.failed + change["failed"], counts.finished + change["finished"]
            rows.append((name, Counts(counts.cells, finished, counts.cells - finished - failed, failed)))
        self._live.update(Group(make_table(rows), Text(line)))


@contextmanager
def watching(quiet: bool) -> Iterator[Watcher]:
    """A watcher that shows a run, or nothing."""
    if quiet or not sys.stderr.isatty():
        yield Watcher() if quiet else Display()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4) as live:
        yield Display(live)
