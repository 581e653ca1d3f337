"""Errors on the command line: one line to standard error, and the right exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from textveil.errors import ParameterError, TextveilError, describe_bug

FAILURE = 1
USAGE = 2
INTERRUPTED = 130

P = ParamSpec("P")
R = TypeVar("R")


def report(message: str) -> None:
    """Write a line to standard error."""
    typer.echo(message, err=True)


def reporting_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what a command raises into a message and an exit code.

    An unexpected exception shows where it happened but not what it says, which may be a document's text.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except TextveilError as error:
            report(f"Error: {error}")
            raise typer.Exit(USAGE if isinstance(error, ParameterError) else FAILURE) from error
        except BrokenPipeError as error:  # whoever reads our output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILURE) from error
        except OSError as error:
            report(f"Error: the system says: {error.strerror or type(error).__name__}. Check paths and free space.")
            raise typer.Exit(FAILURE) from error
        except KeyboardInterrupt as error:
            report("Stopped. What is finished is kept: the same command goes on (obfuscate: with --resume).")
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
