"""The command ``textveil`` and what its parts have in common."""

from __future__ import annotations

import typer

from textveil.cli import bundle, obfuscate
from textveil.version import __version__

EXAMPLES = """
\b
Examples:
  textveil obfuscate "The soup was cold and the waiter rude." --epsilon 60
  textveil obfuscate "The soup was cold." --epsilon 60 --explain
  textveil obfuscate --input reviews.csv --column text --output out.csv --epsilon 52
  textveil obfuscate --input reviews.csv --output out.csv --epsilon-per-word 1 --certificate out.json
  cat notes.txt | textveil obfuscate - --epsilon 200
  textveil bundle info

Epsilon is the budget of one document. Smaller is more private and less faithful.
"""

app = typer.Typer(
    name="textveil",
    help="Obfuscate English documents under differential privacy.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("obfuscate", epilog=obfuscate.EXAMPLES, no_args_is_help=True)(obfuscate.obfuscate)
app.add_typer(bundle.app, name="bundle")


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
    app()


if __name__ == "__main__":
    main()
