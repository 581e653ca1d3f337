"""``textveil ledger``."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import AsJson, Column, build_app, command
from textveil.cli.reporting import FAILURE, print_json, report
from textveil.errors import InputError, ParameterError
from textveil.ledger import Ledger
from textveil.tables import TEXT_COLUMN, FileSource, Layout

app = build_app("Show, verify and merge ledgers of spent budgets.")

LedgerPath = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of the ledger.")]
KeyPath = Annotated[Path | None, typer.Option("--key", help="The key file of the ledger. By default LEDGER.key.")]
_SHOWN = 10


def _open(path: Path, key: Path | None) -> Ledger:
    return Ledger(path, key_path=key, create=False)


@command(app, "show", no_args_is_help=False)
def show(
    ledger: LedgerPath, key: KeyPath = None, text: Annotated[str | None, typer.Option()] = None, as_json: AsJson = False
) -> None:
    """Show the budgets that documents have spent.

    Shows the total and the documents that spent most, or the releases of a single document.

    A document is shown by the first digits of its keyed hash.

    Args:
        text: Show the releases of this document, given by its exact text.
    """
    opened = _open(ledger, key)
    if text is not None:
        _show_document(opened, text, as_json=as_json)
        return
    summary, largest = opened.summarize(), opened.list_largest(_SHOWN)
    if as_json:
        named = [dict(zip(("document", "releases", "spent"), row, strict=True)) for row in largest]
        print_json({**asdict(summary), "largest": named})
        return
    typer.echo(f"{summary.releases:,} releases of {summary.documents:,} documents")
    if summary.releases:
        typer.echo(f"from {summary.first} to {summary.last}")
        typer.echo(f"spent {summary.spent:.6g} in all, and at most {summary.largest_spent:.6g} by a document")
        typer.echo(f"\n{'document':<14}{'releases':>8}  spent")
    for document, releases, spent in largest:
        typer.echo(f"{document:<14}{releases:>8,}  {spent:.6g}")


def _show_document(ledger: Ledger, text: str, *, as_json: bool) -> None:
    entries = list(ledger.describe_entries(ledger.find(text)))
    if as_json:
        print_json(entries)
        return
    spent = math.fsum(entry["epsilon"] for entry in entries)
    typer.echo(f"{len(entries):,} releases, {spent:.6g} spent")
    for entry in entries:
        used = entry["settings"]
        axes = ", ".join(used[axis]["name"] for axis in ("decomposition", "distribution", "mechanism"))
        noise = f"{entry['noise']} noise"
        typer.echo(f"{entry['released']}  {entry['epsilon']:<8.6g}  {used['profile']}, {axes}, {noise}")


@command(app, "verify", no_args_is_help=False)
def verify(
    ledger: LedgerPath,
    key: KeyPath = None,
    original: Annotated[Path | None, typer.Option()] = None,
    obfuscated: Annotated[Path | None, typer.Option()] = None,
    column: Column = TEXT_COLUMN,
) -> None:
    """Check that nothing in a ledger was changed or removed.

    A ledger that was replaced by an older copy of itself looks intact. To detect that, also check a released file.

    Args:
        original: Also check that the ledger has every release of a text of this file in --obfuscated.
        obfuscated: The released file, with the rows of --original.
    """
    if (original is None) != (obfuscated is None):
        raise ParameterError("--original and --obfuscated go together.")
    opened = _open(ledger, key)
    problems = opened.verify()
    if original is not None and obfuscated is not None:
        problems += _list_unrecorded(opened, _read_texts(original, column), _read_texts(obfuscated, column))
    for problem in problems:
        report(f"Error: {problem}")
    if problems:
        raise typer.Exit(FAILURE)
    typer.echo(f"intact: {opened.summarize().releases:,} releases")


def _read_texts(path: Path, column: str) -> list[str | None]:
    source = FileSource(path)
    table = Layout(column).table(source)
    return [text for rows in source.read(table, batch_size=1000) for text in rows.texts]


def _list_unrecorded(ledger: Ledger, originals: list[str | None], released: list[str | None]) -> list[str]:
    """The rows that were released and are not in the ledger. An empty text is one that was missing or refused."""
    if len(originals) != len(released):
        raise InputError(f"The files have {len(originals):,} and {len(released):,} texts. They need the same rows.")
    pairs = enumerate(zip(originals, released, strict=True), start=1)
    return [
        f"row {row:,} was released, and the ledger does not have it"
        for row, (text, answer) in pairs
        if text is not None and answer and not ledger.has(text, answer)
    ]


@command(app, "merge", no_args_is_help=False)
def merge(
    ledger: LedgerPath, others: Annotated[list[Path], typer.Argument(metavar="OTHERS...")], key: KeyPath = None
) -> None:
    """Add the releases of other ledgers with the same key.

    This joins, for example, the ledgers of two computers.

    A release that is in both is counted once, so merging again changes nothing.

    Args:
        others: The ledgers to add. They stay as they are.
    """
    opened = _open(ledger, key)
    for path in others:
        added = opened.merge(_open(path, key or opened.key_path))
        typer.echo(f"{path}: {added:,} releases added")
