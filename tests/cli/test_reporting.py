from pathlib import Path
from typing import Annotated

import pytest
import typer

from textveil.cli.reporting import reporting_errors, spell_flag
from textveil.errors import BudgetError, InputError, TextveilError


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
