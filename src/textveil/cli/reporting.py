"""Errors on the command line: one line to standard error, and the right exit code."""

from __future__ import annotations

import functools
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from textveil.errors import ParameterError, TextveilError, TextveilWarning, describe_bug, spell_parameters

FAILURE = 1
USAGE = 2
INTERRUPTED = 130

P = ParamSpec("P")
R = TypeVar("R")


def report(message: str) -> None:
    """Write a line to standard error."""
    typer.echo(message, err=True)


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
def _reporting_warnings(spell_parameter: Callable[[str, str | None], str]) -> Iterator[None]:
    """Write warnings of textveil as lines to standard error, with flags for parameters."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, TextveilWarning):
            report(f"Warning: {spell_parameters(str(message), spell_parameter)}")
        else:
            shown(message, category, *place)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TextveilWarning)
        shown = warnings.showwarning
        warnings.showwarning = show  # type: ignore[assignment] # its other arguments are passed on
        yield


def reporting_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn an exception of a command into a message and an exit code.

    For an unexpected exception, only its place is shown: its message may quote a document.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _prepare_output()
            with _reporting_warnings(functools.partial(spell_flag, command)):
                return command(*args, **kwargs)
        except TextveilError as error:
            report(f"Error: {error.spell(functools.partial(spell_flag, command))}")
            raise typer.Exit(USAGE if isinstance(error, ParameterError) else FAILURE) from error
        except BrokenPipeError as error:  # the reader of our output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILURE) from error
        except OSError as error:
            report(f"Error: the system says: {error.strerror or type(error).__name__}. Check paths and free space.")
            raise typer.Exit(FAILURE) from error
        except KeyboardInterrupt as error:
            report("Interrupted. Long work is saved: run the same command to resume it (obfuscate: with --resume).")
            raise typer.Exit(INTERRUPTED) from error
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if os.environ.get("TEXTVEIL_DEBUG"):
                raise
            report(
                f"Error: {describe_bug(error)}: this is a bug in textveil. "
                "Set TEXTVEIL_DEBUG=1 to see all of it; it may quote your text."
            )
            raise typer.Exit(FAILURE) from error

    return run
