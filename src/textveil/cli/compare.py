"""``textveil compare``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.display import showing_progress
from textveil.cli.options import (
    Attacker,
    AttackerModel,
    Attribute,
    Encoders,
    Epochs,
    FormatName,
    Kinds,
    Label,
    LanguageModel,
    LearningRate,
    MetricNames,
    ObfuscatedText,
    Samples,
    Seeds,
    Text,
    Truncate,
    add_samples,
    choose_classifier,
    choose_encoders,
    drop_missing,
    split_list,
    unit_of,
)
from textveil.cli.reporting import report, reporting_errors, spell_flag
from textveil.errors import TextveilError
from textveil.extras import require
from textveil.jobs import check_free
from textveil.lab.compare.comparison import Comparison, Contender, read_files, split_name
from textveil.lab.compare.comparison import compare as measure
from textveil.lab.compare.curves import Frontier, choose_against, compare_frontiers, show_value
from textveil.lab.metrics import METRICS, Dataset
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading, Side
from textveil.lab.report.comparison_page import list_marks, tell_findings, write_comparison, write_head
from textveil.lab.report.figures import render_png, render_svg
from textveil.lab.report.frontier_figure import draw_frontiers
from textveil.storage.atomic import writing
from textveil.tables import TEXT_COLUMN

EXAMPLES = """
\b
Examples:
  textveil compare reviews.csv ours.csv theirs.csv --label sentiment --attribute author --html comparison.html
  textveil compare reviews.csv a.csv b.csv --name madlib@10 --name madlib@20 --attribute author --label sentiment
  textveil compare reviews.jsonl out.jsonl --obfuscated-text hidden --metrics similarity --json comparison.json

\b
Names such as madlib@10 and madlib@20 are levels of one setting. A curve connects them.
"""

_NAME_WIDTH, _COLUMN_WIDTH = 22, 16
"""The width of the names and of a column of values in the terminal. What does not fit becomes another table."""


@reporting_errors
def compare(
    originals: Annotated[
        Path, typer.Argument(metavar="ORIGINALS", help="The file with the originals: csv, tsv, jsonl, parquet or txt.")
    ],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files with obfuscated texts, from any tool, in the same rows."),
    ],
    *,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", "-n", help="The name of a file (repeatable, one per file). Default: its file name."),
    ] = None,
    text: Text = TEXT_COLUMN,
    obfuscated_text: ObfuscatedText = None,
    label: Label = None,
    attribute: Attribute = None,
    metrics: MetricNames = None,
    attacker: Attacker = None,
    attacker_model: AttackerModel = None,
    epochs: Epochs = None,
    learning_rate: LearningRate = None,
    seeds: Seeds = None,
    kinds: Kinds = None,
    encoders: Encoders = None,
    truncate: Truncate = None,
    language_model: LanguageModel = None,
    samples: Samples = None,
    format_name: FormatName = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with tables and curves to this file.")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write all values as JSON to this file.")] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the curves to this folder: curves.svg and curves.png.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="The setting with which curves are compared. Default: the one named madlib, or the first."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="The folder of cached scores, from which a run resumes. Default: ORIGINALS.scores."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Cache scores in memory only.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing outputs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar and no notes.")] = False,
) -> None:
    """Compare obfuscations of the same texts, from any tool.

    Shows their privacy and utility side by side with those of the originals and of chance, with 95 % intervals. Shows
    which obfuscations are on the Pareto front of attack and utility, as far as the intervals support it.
    """
    drawings = [] if figures is None else [figures / f"curves.{kind}" for kind in ("svg", "png")]
    outputs = [*(path for path in (html, as_json) if path is not None), *drawings]
    if html is not None or figures is not None:
        require("matplotlib", extra="analyze")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    for path in outputs:
        check_free(path, overwrite=overwrite)
    wanted = None if metrics is None else [METRICS.load(name).name for name in split_list(metrics, "--metrics")]
    encoded = choose_encoders(encoders, wanted)
    training = {"model": attacker_model, "epochs": epochs, "learning_rate": learning_rate}
    options = drop_missing(
        {
            **choose_classifier(attacker, training, seeds, wanted),
            "identifiers": {"kinds": kinds},
            **encoded,
            "similarity": {**encoded.get("similarity", {}), "truncate": truncate},
            "perplexity": {"model": language_model},
        }
    )
    options = add_samples(options, samples)
    columns = {"label": label, "attribute": attribute, "format_name": format_name}
    rows = read_files(originals, files, names=names, text=text, obfuscated_text=obfuscated_text, **columns)
    against = choose_against([split_name(name)[0] for name in rows.obfuscations], against)
    folder = None if no_cache else cache or originals.with_name(f"{originals.name}.scores")
    dataset = Dataset(rows.originals, label=rows.label, attribute=rows.attribute, folder=folder)
    with showing_progress(quiet, unit_of=lambda stage: unit_of(stage.rpartition(": ")[2])) as progress:
        comparison = measure(dataset, rows.obfuscations, wanted, options, progress)
    frontiers = compare_frontiers(comparison, against)
    if html is not None:
        _write(html, write_comparison(comparison, frontiers=frontiers).encode(errors="replace"), originals)
    if as_json is not None:
        found = {**comparison.as_dict(), "fronts": [frontier.as_dict() for frontier in frontiers]}
        content = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        _write(as_json, content.encode(errors="replace"), originals)
    if figures is not None:
        outputs = [path for path in outputs if frontiers or path not in drawings]
        _draw(drawings, frontiers, originals)
    _show(comparison, frontiers)
    if not quiet:
        _add_notes(outputs, folder)


def _write(path: Path, content: bytes, like: Path) -> None:
    with writing(path, like=like) as stream:
        stream.write(content)


def _draw(paths: Sequence[Path], frontiers: Sequence[Frontier], like: Path) -> None:
    """Write the figure of all curves as SVG and as PNG."""
    if not frontiers:
        report("Nothing to draw: no attack and utility were both measured.")
        return
    figure = draw_frontiers(frontiers)
    for path, content in zip(paths, (render_svg(figure).encode(), render_png(figure)), strict=True):
        _write(path, content, like)


def _add_notes(outputs: Iterable[Path], folder: Path | None) -> None:
    for path in outputs:
        report(f"Written: {path}")
    if folder is not None:
        report(
            f"Scores are cached in {str(folder)!r}. They contain information about the originals: protect them in the "
            "same way, or delete them."
        )


def _show(comparison: Comparison, frontiers: Sequence[Frontier]) -> None:
    """Print a table per side, the findings, and the metrics that were not measured."""
    from rich.console import Console

    console = Console()
    fitting = max(1, (console.width - _NAME_WIDTH) // _COLUMN_WIDTH)
    for side, found in groupby(comparison.quantities, key=lambda quantity: quantity.side):
        quantities = list(found)
        for start in range(0, len(quantities), fitting):
            console.print(_build_table(comparison, side, quantities[start : start + fitting]))
    typer.echo("95 % intervals. best: clearly better than another one; worse: clearly worse than the best.")
    for line in tell_findings(comparison, frontiers):
        typer.echo(f"- {line}")
    for name, reason in comparison.not_measured.items():
        typer.echo(f"Not measured: {name}. {TextveilError(reason).spell(_spell)}")


def _spell(name: str, value: str | None) -> str:
    """A parameter of the library as a flag."""
    return spell_flag(compare, name, value)


def _build_table(comparison: Comparison, side: Side, quantities: list[Quantity]) -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{side.value}, {comparison.texts:,} texts", title_justify="left", show_lines=True)
    table.add_column("", overflow="fold")
    for quantity in quantities:
        table.add_column(write_head(quantity), justify="right")
    for reference in Reference:
        readings = [comparison.read_reference(quantity, reference) for quantity in quantities]
        if any(readings):
            shown = [_write_reading(*pair) for pair in zip(quantities, readings, strict=True)]
            table.add_row(Text(reference.value, style="italic"), *map(Text, shown))
    for contender in comparison.contenders:
        cells = [_write_cell(comparison, contender, quantity) for quantity in quantities]
        table.add_row(Text(contender.name, style="bold"), *map(Text, cells))
    return table


def _write_reading(quantity: Quantity, reading: Reading | None) -> str:
    return "\n".join(filter(None, show_value(quantity, reading)))


def _write_cell(comparison: Comparison, contender: Contender, quantity: Quantity) -> str:
    reading = contender.read(quantity)
    if reading is None:
        return ""
    marks = list_marks(comparison, contender, quantity)
    return "\n".join([_write_reading(quantity, reading), *marks])
