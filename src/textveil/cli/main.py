"""The command ``textveil``: every command is imported when it is first asked for."""

from __future__ import annotations

import difflib
import importlib
import os
import signal
import sys
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperGroup

from textveil.cli.options import build_app, keep_lines
from textveil.cli.reporting import INTERRUPTED, USAGE, report
from textveil.version import __version__

COMMANDS = (
    *("obfuscate", "decompose", "distribute", "evaluate", "calibrate", "compare", "audit", "deniability", "serve"),
    *("methods", "analyze", "experiment", "ledger", "bundle", "prepare", "resources"),
)
MODULES = {"decompose": "methods", "distribute": "methods", "deniability": "methods", "analyze": "compare"}
"""The modules of commands, if they do not have the same name."""
EXAMPLES = """Examples:
  textveil obfuscate "The soup was cold and the waiter rude."
  textveil obfuscate "The soup was cold." --level high --explain
  textveil obfuscate --input reviews.csv --column text --output out.csv --profile proven
  textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --attribute author
  textveil compare reviews.csv ours.csv theirs.csv --label sentiment --attribute author --html comparison.html
  textveil calibrate --target unchanged-content=0.2
  textveil audit --epsilon-per-word 10 --profile proven
  textveil prepare corpus.txt.xz --output my-english --min-count 40
  textveil experiment run study.yaml

Epsilon is the privacy budget of a document. A smaller epsilon is more private and keeps less of the meaning."""


class _Commands(TyperGroup):
    """Imports a command when it is asked for, and reports an unknown one without quoting it: it may be a text."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = importlib.import_module(f"textveil.cli.{MODULES.get(cmd_name, cmd_name)}")
            found = typer.main.get_command(module.app)
            # A module with several commands has a group of them, unless the group itself is the command.
            self.commands[cmd_name] = getattr(found, "commands", {}).get(cmd_name, found)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else 'For a text: textveil obfuscate "TEXT" --epsilon 60'
            ctx.fail(f"There is no such command. {hint}")
        return super().resolve_command(ctx, args)


app = build_app(
    "Obfuscate English documents under differential privacy.",
    name="textveil",
    cls=_Commands,
    epilog=keep_lines(EXAMPLES),
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textveil {__version__}")
        raise typer.Exit


@app.callback()
def textveil(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Obfuscate English documents under differential privacy."""


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _stop)
    # Arrow's own allocator keeps freed memory, which would grow with a Parquet file.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if problem := _find_problem(sys.argv[1:]):
        report(f"Error: {problem}")
        sys.exit(USAGE)
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun, which handles it
        sys.exit(INTERRUPTED)


def _stop(*_: object) -> None:
    """SIGTERM, as batch systems send it, is handled as Ctrl-C."""
    raise KeyboardInterrupt


def _find_problem(arguments: list[str]) -> str | None:
    """The problem with arguments that the parser would quote, or that Python could not decode."""
    for argument in takewhile("--".__ne__, arguments):
        if argument.startswith("-") and any(map(str.isspace, argument.partition("=")[0])):
            return "put a text that begins with - at the end, after --: textveil obfuscate --epsilon 60 -- TEXT"
    for number, argument in enumerate(arguments, start=1):
        if any("\udc80" <= character <= "\udcff" for character in argument):
            return f"argument {number} is not valid {sys.getfilesystemencoding()}. Convert it, or use --input."
    return None


if __name__ == "__main__":
    main()
