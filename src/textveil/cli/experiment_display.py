"""The progress of a study: a live table on a terminal, lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from textveil.cli.reporting import report, spell_flag
from textveil.errors import TextveilError
from textveil.lab.study.experiment import Plan, Watcher
from textveil.lab.study.status import CellState, Counts

if TYPE_CHECKING:
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


def make_table(rows: Sequence[tuple[str, Counts]]) -> Any:
    """A table of data sets, with the number of cells by state."""
    from rich.table import Table

    table = Table()
    table.add_column("data set")
    for head in ("cells", "finished", "to do", "failed"):
        table.add_column(head, justify="right")
    for name, counts in rows:
        values = (counts.cells, counts.finished, counts.to_do, counts.failed)
        table.add_row(name, *(f"{value:,}" for value in values), style="red" if counts.failed else None)
    return table


def count_by_dataset(states: Sequence[CellState]) -> list[tuple[str, Counts]]:
    """The number of cells by state, for every data set."""
    names = dict.fromkeys(state.cell.dataset for state in states)
    return [(name, Counts.of(state for state in states if state.cell.dataset == name)) for name in names]


class _Counting(Watcher):
    """Counts finished tasks, and estimates the time left."""

    def __init__(self) -> None:
        self.plan = Plan((), (), ())
        self.shared = self.cells = 0
        self.changes: dict[str, Counter[str]] = {}
        self._since = time.monotonic()

    def begin(self, plan: Plan) -> None:
        self.plan = plan

    def shared_done(self, done: SharedDone) -> None:
        self.shared += 1
        self._since = time.monotonic()

    def cell_done(self, done: CellDone) -> None:
        self.cells += 1
        self.changes.setdefault(done.cell.dataset, Counter())["failed" if done.failures else "finished"] += 1

    @property
    def left(self) -> str:
        """The estimated time for the remaining cells, at the rate of the finished ones."""
        if not self.cells:
            return ""
        seconds = (time.monotonic() - self._since) / self.cells * (len(self.plan.cells) - self.cells)
        return f", about {write_time(seconds)} left"


class Lines(_Counting):
    """Prints a line for every finished task."""

    def begin(self, plan: Plan) -> None:
        """Print the number of cells."""
        super().begin(plan)
        counts = Counts.of(plan.states)
        report(f"{counts.cells:,} cells: {counts.finished:,} finished, {len(plan.cells):,} to do")

    def shared_done(self, done: SharedDone) -> None:
        """Print a shared task, with its time or its failure."""
        super().shared_done(done)
        failed = f": failed: {spell_reason(done.reason)}" if done.reason else f", {done.seconds:.1f} s"
        report(f"[{self.shared}/{len(self.plan.shared)}] {done.task}{failed}")
        for warning in list_warnings(done):
            report(warning)

    def cell_done(self, done: CellDone) -> None:
        """Print a cell with its time and its failures."""
        super().cell_done(done)
        failures = "".join(f"; failed: {failure.what}: {spell_reason(failure.reason)}" for failure in done.failures)
        report(f"[{self.cells}/{len(self.plan.cells)}] {done.cell}, {done.seconds:.1f} s{self.left}{failures}")


class _Live(_Counting):
    """Updates a table on the terminal."""

    def __init__(self, live: Any) -> None:
        super().__init__()
        self._live = live

    def begin(self, plan: Plan) -> None:
        super().begin(plan)
        self._show("")

    def shared_done(self, done: SharedDone) -> None:
        super().shared_done(done)
        for warning in list_warnings(done):
            self._live.console.print(warning, markup=False)
        self._show(f"{self.shared} of {len(self.plan.shared)} shared tasks, last: {done.task}")

    def cell_done(self, done: CellDone) -> None:
        super().cell_done(done)
        for failure in done.failures:
            reason = spell_reason(failure.reason)
            self._live.console.print(f"Failed: {failure.what} of {done.cell}: {reason}", markup=False)
        self._show(f"{self.cells} of {len(self.plan.cells)} cells{self.left}, last: {done.cell}, {done.seconds:.1f} s")

    def _show(self, line: str) -> None:
        from rich.console import Group
        from rich.text import Text

        rows = []
        for name, counts in count_by_dataset(self.plan.states):
            change = self.changes.get(name, Counter())
            failed = counts.failed + change["failed"]
            finished = counts.finished + change["finished"]
            rows.append((name, Counts(counts.cells, finished, counts.cells - finished - failed, failed)))
        self._live.update(Group(make_table(rows), Text(line)))


def list_warnings(done: SharedDone) -> Iterator[str]:
    """A line for every warning of a shared task."""
    return (f"Warning: {done.task}: {spell_reason(warning)}" for warning in done.warnings)


@contextmanager
def watching(quiet: bool) -> Iterator[Watcher]:
    """A watcher that shows a run: a table on a terminal, lines in a pipe, or nothing."""
    if quiet:
        yield Watcher()
    elif not sys.stderr.isatty():
        yield Lines()
    else:
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), refresh_per_second=4) as live:
            yield _Live(live)
