import io
from pathlib import Path
from typing import Annotated

import pytest
import typer
from rich.console import Console

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally
from textveil.cli.reporting import list_warnings, reporting_errors, showing_progress, spell_flag
from textveil.errors import BudgetError, InputError, TextveilError
from textveil.obfuscator import Obfuscator
from textveil.progress import ignore_progress


def command(
    texts: Annotated[list[str] | None, typer.Argument(metavar="TEXT")] = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    format_name: Annotated[str | None, typer.Option("--format")] = None,
    min_count: Annotated[int, typer.Option(help="A number.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite")] = False,
) -> None:
    """A command with every kind of parameter."""


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Set `overwrite=True` to replace it.", "Set --overwrite to replace it."),
        ("Try `min_count=40`.", "Try --min-count 40."),
        ("Give `format='csv'`.", "Give --format csv."),
        ("Choose another `output`.", "Choose another --output."),
        ("Shorten `texts`.", "Shorten TEXT."),
        ("Pass `device='cpu'`, or leave `device` out.", "Pass device='cpu', or leave device out."),
    ],
)
def test_parameters_become_flags_of_the_command(message, shown):
    assert TextveilError(message).spell(lambda name, value: spell_flag(command, name, value)) == shown


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (BudgetError("Set `min_count`."), 2, "Error: Set --min-count.\n"),
        (InputError("It cannot be read."), 1, "Error: It cannot be read.\n"),
        (ZeroDivisionError("a text of the user's"), 1, "Error: a ZeroDivisionError in test_reporting.py"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(capsys, error, code, shown):
    @reporting_errors
    def fail(min_count: Annotated[int, typer.Option()] = 1) -> None:
        raise error

    with pytest.raises(typer.Exit) as stopped:
        fail()
    assert stopped.value.exit_code == code
    printed = capsys.readouterr().err
    assert printed.startswith(shown)
    assert "a text of the user's" not in printed


def test_an_interruption_has_its_own_exit_code(capsys):
    @reporting_errors
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as stopped:
        stop()
    assert stopped.value.exit_code == 130
    assert "--resume" in capsys.readouterr().err


def test_warnings_have_flags_for_parameters(tiny):
    terms = Obfuscator(tiny, largest_share=2.5).terms
    average = Budget(epsilon_per_word=1.0, length="average", average_length=2.0)
    capped, averaged = list_warnings(Certificate(terms, average, Tally(capped=3)))
    assert capped.endswith("To lift the limit: --largest-share inf")
    assert "Use --length own, unless" in averaged


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""

    class Clock:
        now = 1000.0

    monkeypatch.setattr("textveil.cli.reporting.time.monotonic", lambda: Clock.now)
    return Clock


def test_in_a_pipe_a_long_run_writes_a_line_a_minute(clock, capsys):
    with showing_progress(quiet=False) as progress:
        for second in range(1, 151):
            clock.now = 1000.0 + second
            progress("counting words", second * 100, second / 200)
        clock.now = 1185.0
        progress("obfuscating", 7, None)
    assert capsys.readouterr().err.splitlines() == [
        "counting words: 6,000 documents (30%)",
        "counting words: 12,000 documents (60%)",
        "obfuscating: 7 documents",
    ]


def test_a_short_run_and_a_quiet_one_write_nothing(clock, capsys):
    with showing_progress(quiet=False) as progress:
        clock.now = 1059.0
        progress("obfuscating", 7, 0.5)
    with showing_progress(quiet=True) as progress:
        assert progress is ignore_progress
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_progress_is_shown(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=shown, force_terminal=True, width=120))
    with showing_progress(quiet=False, unit="texts", units={"obfuscating": "rows"}) as progress:
        progress("obfuscating", 50, 0.5)
        progress("obfuscating", 70, 0.7)
    assert "obfuscating" in shown.getvalue()
    assert "70 rows" in shown.getvalue()
