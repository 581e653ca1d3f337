"""What the command line writes: lines, tables, JSON, files, progress, and errors with the right exit code."""

from __future__ import annotations

import functools
import io
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from textveil.errors import ParameterError, TextveilError, TextveilWarning, describe_bug, spell_parameters
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import writing

if TYPE_CHECKING:
    from textveil.certificate import Certificate

FAILURE = 1
USAGE = 2
INTERRUPTED = 130
SECONDS_BETWEEN_LINES = 60.0
"""The time between two lines of progress, where there is no progress bar."""

P = ParamSpec("P")
R = TypeVar("R")


def report(message: str) -> None:
    """Write a line to standard error."""
    typer.echo(message, err=True)


def write_json(values: Any) -> str:
    """Values as indented JSON for people and files, with a newline at the end."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def print_json(values: Any) -> None:
    """Print values as indented JSON of ASCII characters, which every terminal and pipe can show."""
    typer.echo(json.dumps(values, indent=2, allow_nan=False))


def write_file(path: Path, content: str | bytes, **access: Any) -> None:
    """Write a file at once or not at all; ``access`` is that of :func:`textveil.storage.atomic.writing`."""
    with writing(path, **access) as stream:
        stream.write(content if isinstance(content, bytes) else content.encode(errors="replace"))


def print_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Container[str] = (),
    title: str | None = None,
    lines: bool = False,
) -> None:
    """Print a table whose cells are shown as they are.

    Args:
        heads: The titles of columns.
        rows: The cells of each row.
        right: The columns that are aligned to the right.
        title: The line above the table.
        lines: Whether lines separate the rows.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=None if title is None else Text(title), title_justify="left", show_lines=lines)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", overflow="fold")
    for cells in rows:
        table.add_row(*map(Text, cells))
    Console().print(table)


@contextmanager
def showing_progress(
    quiet: bool, unit: str = "documents", units: Mapping[str, str] | None = None
) -> Iterator[Progress]:
    """A progress bar on a terminal, and a line a minute elsewhere, such as in a log; nothing if ``quiet``.

    Args:
        quiet: Show nothing.
        unit: What progress counts.
        units: What it counts instead, by the first word of a stage.
    """

    def find_unit(stage: str) -> str:
        return (units or {}).get(stage.rpartition(": ")[2].partition(" ")[0], unit)

    if quiet or not sys.stderr.isatty():
        yield ignore_progress if quiet else _printing_lines(find_unit)
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID, TextColumn

    columns = (*Bar.get_default_columns(), TextColumn("left  {task.fields[amount]:,} {task.fields[unit]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def advance(stage: str, amount: int, fraction: float | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, amount=0, unit=find_unit(stage))
            total = None if fraction is None else 1.0
            bar.update(tasks[stage], total=total, completed=fraction or 0.0, amount=amount)

        yield advance


def _printing_lines(find_unit: Callable[[str], str]) -> Progress:
    """Progress as a line on standard error now and then."""
    due = time.monotonic() + SECONDS_BETWEEN_LINES

    def advance(stage: str, amount: int, fraction: float | None) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + SECONDS_BETWEEN_LINES
            share = "" if fraction is None else f" ({fraction:.0%})"
            report(f"{stage}: {amount:,} {find_unit(stage)}{share}")

    return advance


def list_warnings(certificate: Certificate) -> list[str]:
    """What a user must know even without a summary, with flags for parameters."""
    from textveil import summary

    return [spell_parameters(warning, _spell_flag) for warning in summary.list_warnings(certificate)]


def _spell_flag(name: str, value: str | None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {value.strip(QUOTES)}"


def spell_flag(command: Callable[..., Any], name: str, value: str | None) -> str:
    """A parameter of the library as a command spells it; one that the command does not have stands as it is.

    Args:
        command: The function of the command.
        name: The parameter, such as ``min_count``.
        value: Its value as Python writes it, if the message has one.
    """
    hints = get_type_hints(command, include_extras=True)
    held = next((known for known in (name, *_OTHER_NAMES.get(name, ())) if known in hints), name)
    kind, info, *_ = (*get_args(hints.get(held)), None, None)
    if isinstance(info, ArgumentInfo):
        return info.metavar or name.upper()
    if not isinstance(info, OptionInfo):
        return name if value is None else f"{name}={value}"
    # Typer takes the first flag in an annotation for a default until it builds the command.
    declared = [flag for flag in (info.default, *(info.param_decls or ())) if str(flag).startswith("--")]
    flag = declared[0] if declared else f"--{held.replace('_', '-')}"
    return flag if value is None or kind is bool else f"{flag} {value.strip(QUOTES)}"


def spell_message(command: Callable[..., Any], message: str) -> str:
    """A message of the library with the flags of a command for parameters."""
    return spell_parameters(message, functools.partial(spell_flag, command))


_OTHER_NAMES = {
    "bytes": ("size",),
    "column": ("text",),
    "config": ("subset",),
    "format": ("format_name",),
    "key_path": ("ledger_key", "key"),
    "model": ("encoder",),
    "obfuscations": ("certificate",),
    "source": ("input_file",),
}
"""Parameters that a command holds under another name than the library does."""
QUOTES = "'\""


def _prepare_output() -> None:
    """Check that there is a standard output, and let it write characters that its encoding lacks as question marks."""
    if sys.stdout is None:
        raise ParameterError("Standard output is closed. Open it, or send it to a file.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@contextmanager
def _reporting_warnings(command: Callable[..., Any]) -> Iterator[None]:
    """Write warnings of textveil as lines to standard error, with flags for parameters."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, TextveilWarning):
            report(f"Warning: {spell_message(command, str(message))}")
        else:
            shown(message, category, *place)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TextveilWarning)
        shown = warnings.showwarning
        warnings.showwarning = show  # type: ignore[assignment] # its other arguments are passed on
        yield


def end(error: Exception | KeyboardInterrupt, command: Callable[..., Any]) -> int:
    """Write a line about an exception of a command; the exit code.

    For an unexpected exception, only its place is shown: its message may quote a document.
    """
    if isinstance(error, KeyboardInterrupt):
        report("Interrupted. Long work is saved: run the same command to resume it (obfuscate: with --resume).")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    elif isinstance(error, TextveilError):
        report(f"Error: {spell_message(command, str(error))}")
        return USAGE if isinstance(error, ParameterError) else FAILURE
    elif isinstance(error, OSError):
        report(f"Error: the system says: {error.strerror or type(error).__name__}. Check paths and free space.")
    elif os.environ.get("TEXTVEIL_DEBUG"):
        raise error
    else:
        report(f"Error: {describe_bug(error)}: this is a bug in textveil. TEXTVEIL_DEBUG=1 shows more, also text.")
    return FAILURE


def reporting_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn an exception of a command into a message and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _prepare_output()
            with _reporting_warnings(command):
                return command(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            raise typer.Exit(end(error, command)) from error

    return run
