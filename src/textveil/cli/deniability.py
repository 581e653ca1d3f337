"""``textveil deniability``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from textveil.budget import LEVEL
from textveil.bundles.bundle import DEFAULT_BUNDLE
from textveil.cli.obfuscate import LEVELS_HELP, MECHANISM_HELP, build_obfuscator
from textveil.cli.options import with_method_options
from textveil.cli.reporting import report, reporting_errors
from textveil.deniability import DRAWS, Estimate
from textveil.lab.attacks.deniability import WordDeniability, measure_deniability
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.mechanisms import MECHANISMS
from textveil.profiles import PROFILES, STRICT
from textveil.settings import DISTRIBUTION

EXAMPLES = """
\b
Examples:
  textveil deniability tea coffee Boston
  textveil deniability "new york" --epsilon-per-word 10 --mechanism exponential --json
  textveil deniability tea --epsilon-per-word 40 --mechanism madlib --draws 20000
"""


@reporting_errors
@with_method_options(DECOMPOSERS, MECHANISMS)
def deniability(
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="Words; one of several words in quotes.")],
    *,
    epsilon_per_word: Annotated[float | None, typer.Option(help="The share of each word.")] = None,
    level: Annotated[
        str | None, typer.Option(help=f"The protection, instead of a number: {LEVELS_HELP}. By default {LEVEL}.")
    ] = None,
    mechanism: Annotated[str | None, typer.Option(help=MECHANISM_HELP)] = None,
    decomposition: Annotated[
        str | None, typer.Option(help=f"Whose vocabulary to use: {', '.join(DECOMPOSERS)}. Default as in obfuscate.")
    ] = None,
    profile: Annotated[str, typer.Option(help=f"The profile: {', '.join(PROFILES)}.")] = STRICT.name,
    largest_share: Annotated[float | None, typer.Option(help="The largest share, as in obfuscate.")] = None,
    bundle: Annotated[str, typer.Option(help="The name or folder of a bundle.")] = DEFAULT_BUNDLE,
    draws: Annotated[
        int, typer.Option(min=1, help="Number of draws for each word, if the mechanism has no closed form.")
    ] = DRAWS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the values as JSON.")] = False,
    method_options: dict[str, Any],
) -> None:
    """Show how deniable words are.

    Shows how likely a word stays unchanged, what else it may become, and how often an attacker guesses it.

    The values are exact for the mechanisms exponential and fluent. For others they come from draws, with 95 %
    intervals. The attacker who guesses knows the mechanism, the share and the frequencies of words.
    """
    obfuscator = build_obfuscator(
        bundle, decomposition, DISTRIBUTION, mechanism, method_options, profile=profile, largest_share=largest_share
    )
    wanted = obfuscator.build_budget(epsilon_per_word=epsilon_per_word, level=level).epsilon_per_word or 0.0
    share = min(wanted, obfuscator.largest_share)
    if share < wanted:
        report(f"The share is limited to {share:.3g}, as in obfuscate. To lift the limit: --largest-share inf")
    found = measure_deniability(obfuscator, words, share=share, draws=draws)
    if as_json:
        method = obfuscator.mechanism.description
        values = {"mechanism": method, "share": share, "words": [word.as_dict() for word in found]}
        typer.echo(json.dumps(values, indent=2, allow_nan=False))
    else:
        _show(found, f"{obfuscator.mechanism.description}, share {share:.4g}")


def _show(found: list[WordDeniability], title: str) -> None:
    """Print a line per word."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    table.add_column("word")
    for column in ("stays", "may become", "guessed"):
        table.add_column(column, justify="right")
    for word in found:
        shown = word.word if word.known else f"{word.word} (unknown)"
        table.add_row(Text(shown), _write_share(word.stays), _write_count(word.others), _write_share(word.guessed))
    Console().print(table)
    typer.echo(
        "stays: the word replaces itself. may become: other words with more than 1% each. guessed: by an attacker."
    )


def _write_share(estimate: Estimate) -> str:
    shown = f"{estimate.value:.2%}"
    return shown if estimate.low == estimate.high else f"{shown} ({estimate.low:.2%} to {estimate.high:.2%})"


def _write_count(estimate: Estimate) -> str:
    shown = f"{estimate.value:.0f}"
    return shown if estimate.low == estimate.high else f"{shown} ({estimate.low:.0f} to {estimate.high:.0f})"
