"""The command ``textveil``."""

from __future__ import annotations

import difflib
import os
import signal
import sys
from itertools import takewhile
from typing import Any

try:
    import typer
    from typer.core import TyperGroup

    from textveil.cli import (
        analyze,
        audit,
        bundle,
        calibrate,
        compare,
        decompose,
        deniability,
        distribute,
        evaluate,
        experiment,
        ledger,
        methods,
        obfuscate,
        prepare,
        resources,
        serve,
    )
    from textveil.cli import prepare as bundle_making
    from textveil.cli.methods import MethodCommand
    from textveil.cli.reporting import INTERRUPTED, USAGE, report
    from textveil.version import __version__
except KeyboardInterrupt:  # the imports take a second, in which there is nothing to save
    sys.exit(130)

EXAMPLES = f"""{obfuscate.EXAMPLES}  textveil decompose "People all over the world don't live in New York City."
  textveil distribute "The soup was cold and the waiter rude." --epsilon 14
  textveil evaluate --original reviews.csv --obfuscated out.csv --label sentiment --attribute author
  textveil compare reviews.csv ours.csv theirs.csv --label sentiment --attribute author --html comparison.html
  textveil calibrate --target unchanged-content=0.2
  textveil ledger show spent.db
  textveil audit --epsilon-per-word 10 --profile proven
  textveil deniability tea coffee --epsilon-per-word 10
  textveil serve
  textveil methods
  textveil bundle info
  textveil prepare corpus.txt.xz --output my-english --min-count 40
  textveil resources list
  textveil experiment run study.yaml
  textveil analyze results.csv --output analysis

Epsilon is the privacy budget of a document. A smaller epsilon is more private and keeps less of the meaning.
"""


class _Commands(TyperGroup):
    """Reports an unknown command without quoting it: it may be a text."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else 'For a text: textveil obfuscate "TEXT" --epsilon 60'
            ctx.fail(f"There is no such command. {hint}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="textveil",
    cls=_Commands,
    help="Obfuscate English documents under differential privacy.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("obfuscate", cls=MethodCommand, epilog=obfuscate.EXAMPLES, no_args_is_help=True)(obfuscate.obfuscate)
app.command("decompose", cls=MethodCommand, epilog=decompose.EXAMPLES, no_args_is_help=True)(decompose.decompose)
app.command("distribute", cls=MethodCommand, epilog=distribute.EXAMPLES, no_args_is_help=True)(distribute.distribute)
app.command("evaluate", cls=MethodCommand, epilog=evaluate.EXAMPLES, no_args_is_help=True)(evaluate.evaluate)
app.command("calibrate", cls=MethodCommand, epilog=calibrate.EXAMPLES, no_args_is_help=True)(calibrate.calibrate)
app.command("compare", cls=MethodCommand, epilog=compare.EXAMPLES, no_args_is_help=True)(compare.compare)
app.command("audit", cls=MethodCommand, epilog=audit.EXAMPLES, no_args_is_help=True)(audit.audit)
app.command("deniability", cls=MethodCommand, epilog=deniability.EXAMPLES, no_args_is_help=True)(
    deniability.deniability
)
app.command("serve", cls=MethodCommand, epilog=serve.EXAMPLES)(serve.serve)
app.command("methods", epilog=methods.EXAMPLES)(methods.methods)
app.command("analyze", epilog=analyze.EXAMPLES, no_args_is_help=True)(analyze.analyze)
app.add_typer(experiment.app, name="experiment")
app.add_typer(ledger.app, name="ledger")
app.add_typer(bundle.app, name="bundle")
prepare.app.command("train", epilog=bundle_making.TRAIN_EXAMPLES, no_args_is_help=True)(bundle_making.train)
prepare.app.command("prior", epilog=bundle_making.PRIOR_EXAMPLES, no_args_is_help=True)(bundle_making.prior)
prepare.app.command("bundle", epilog=bundle_making.BUNDLE_EXAMPLES, no_args_is_help=True)(bundle_making.make_bundle)
app.add_typer(prepare.app, name="prepare")
app.add_typer(resources.app, name="resources")


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
    if any(_is_dashed_text(argument) for argument in takewhile("--".__ne__, sys.argv[1:])):
        # The parser would take it for an option, and quote it.
        report("Error: put a text that begins with - at the end, after --: textveil obfuscate --epsilon 60 -- TEXT")
        sys.exit(USAGE)
    for number, argument in enumerate(sys.argv[1:], start=1):
        if _is_undecodable(argument):
            report(f"Error: argument {number} is not valid {sys.getfilesystemencoding()}. Convert it, or use --input.")
            sys.exit(USAGE)
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun, which handles it
        sys.exit(INTERRUPTED)


def _stop(*_: object) -> None:
    """SIGTERM, as batch systems send it, is handled as Ctrl-C."""
    raise KeyboardInterrupt


def _is_dashed_text(argument: str) -> bool:
    return argument.startswith("-") and any(map(str.isspace, argument.partition("=")[0]))


def _is_undecodable(argument: str) -> bool:
    """Whether Python stands for bytes of an argument with surrogates, because it could not decode them."""
    return any("\udc80" <= character <= "\udcff" for character in argument)


if __name__ == "__main__":
    main()
