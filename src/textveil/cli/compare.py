"""``textveil compare``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.display import build_table, show, showing_progress
from textveil.cli.evaluate import (
    MetricFlags,
    add_samples,
    list_not_measured,
    report_cache,
    unit_of,
    write_json,
)
from textveil.cli.options import Overwrite, Quiet, build_app, command
from textveil.cli.reporting import report
from textveil.extras import require
from textveil.jobs import check_free
from textveil.lab.compare.comparison import Comparison, Contender, read_files, split_name
from textveil.lab.compare.comparison import compare as measure
from textveil.lab.compare.curves import Frontier, choose_against, compare_frontiers, show_value
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity, Reading, Side
from textveil.lab.report.comparison_page import list_marks, tell_findings, write_comparison, write_head
from textveil.lab.report.figures import render_png, render_svg
from textveil.lab.report.frontier_figure import draw_frontiers
from textveil.storage.atomic import writing

app = build_app()

_NAME_WIDTH, _COLUMN_WIDTH = 22, 16
"""The width of the names and of a column of values in the terminal. What does not fit becomes another table."""


@command(app, "compare")
def compare(
    originals: Annotated[Path, typer.Argument(metavar="ORIGINALS")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...")],
    *,
    names: Annotated[list[str] | None, typer.Option("--name", "-n")] = None,
    label: str | None = None,
    flags: MetricFlags,
    samples: Annotated[list[str] | None, typer.Option("--sample", metavar="METRIC=TEXTS")] = None,
    html: Path | None = None,
    as_json: Annotated[Path | None, typer.Option("--json")] = None,
    figures: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    against: str | None = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Compare obfuscations of the same texts, from any tool.

    Shows their privacy and utility side by side with those of the originals and of chance, with 95 % intervals. Shows
    which obfuscations are on the Pareto front of attack and utility, as far as the intervals support it.

    Args:
        label: {textveil.cli.evaluate:LABEL_HELP}.
        originals: The file with the originals: csv, tsv, jsonl, parquet or txt.
        files: Files with obfuscated texts, from any tool, in the same rows.
        names: The name of a file (repeatable, one per file). Default: its file name.
        samples: Measure a metric on at most this number of texts, such as perplexity=50 (repeatable).
        html: Write a page with tables and curves to this file.
        as_json: Write all values as JSON to this file.
        figures: Write the curves to this folder: curves.svg and curves.png.
        against: The setting with which curves are compared. Default: the one named madlib, or the first.

    Examples:
      textveil compare reviews.csv ours.csv theirs.csv --label sentiment --attribute author --html comparison.html
      textveil compare reviews.csv a.csv b.csv --name madlib@10 --name madlib@20 --attribute author --label sentiment
      textveil compare reviews.jsonl out.jsonl --obfuscated-text hidden --metrics similarity --json comparison.json

    Names such as madlib@10 and madlib@20 are levels of one setting. A curve connects them.
    """
    drawings, outputs = _claim_outputs(html, as_json, figures, overwrite=overwrite)
    options = add_samples(flags.choose_options(), samples)
    columns = {"label": label, "attribute": flags.attribute, "format_name": flags.format_name}
    rows = read_files(originals, files, names=names, text=flags.text, obfuscated_text=flags.obfuscated_text, **columns)
    against = choose_against([split_name(name)[0] for name in rows.obfuscations], against)
    folder = flags.find_folder(originals)
    dataset = Dataset(rows.originals, label=rows.label, attribute=rows.attribute, folder=folder)
    with showing_progress(quiet, unit_of=lambda stage: unit_of(stage.rpartition(": ")[2])) as progress:
        comparison = measure(dataset, rows.obfuscations, flags.wanted, options, progress)
    frontiers = compare_frontiers(comparison, against)
    if html is not None:
        _write(html, write_comparison(comparison, frontiers=frontiers).encode(errors="replace"), originals)
    if as_json is not None:
        found = {**comparison.as_dict(), "fronts": [frontier.as_dict() for frontier in frontiers]}
        _write(as_json, write_json(found).encode(errors="replace"), originals)
    if drawings and frontiers:
        figure = draw_frontiers(frontiers)
        for path, content in zip(drawings, (render_svg(figure).encode(), render_png(figure)), strict=True):
            _write(path, content, originals)
    elif drawings:
        outputs = [path for path in outputs if path not in drawings]
        report("Nothing to draw: no attack and utility were both measured.")
    _show(comparison, frontiers)
    if not quiet:
        for path in outputs:
            report(f"Written: {path}")
        report_cache(folder)


def _claim_outputs(
    html: Path | None, as_json: Path | None, figures: Path | None, *, overwrite: bool
) -> tuple[list[Path], list[Path]]:
    """The files of curves, and all files that will be written. What cannot be written is refused at once."""
    drawings = [] if figures is None else [figures / f"curves.{kind}" for kind in ("svg", "png")]
    outputs = [*(path for path in (html, as_json) if path is not None), *drawings]
    if html is not None or drawings:
        require("matplotlib", extra="analyze")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    for path in outputs:
        check_free(path, overwrite=overwrite)
    return drawings, outputs


def _write(path: Path, content: bytes, like: Path) -> None:
    with writing(path, like=like) as stream:
        stream.write(content)


def _show(comparison: Comparison, frontiers: Sequence[Frontier]) -> None:
    """Print a table per side, the findings, and the metrics that were not measured."""
    from rich.console import Console

    fitting = max(1, (Console().width - _NAME_WIDTH) // _COLUMN_WIDTH)
    for side, found in groupby(comparison.quantities, key=lambda quantity: quantity.side):
        quantities = list(found)
        for start in range(0, len(quantities), fitting):
            _show_table(comparison, side, quantities[start : start + fitting])
    typer.echo("95 % intervals. best: clearly better than another one; worse: clearly worse than the best.")
    for line in tell_findings(comparison, frontiers):
        typer.echo(f"- {line}")
    for line in list_not_measured(comparison.not_measured, compare):
        typer.echo(line)


def _show_table(comparison: Comparison, side: Side, quantities: list[Quantity]) -> None:
    from rich.text import Text

    rows: list[list[str | Text]] = []
    for reference in Reference:
        readings = [comparison.read_reference(quantity, reference) for quantity in quantities]
        if any(readings):
            shown = [_write_reading(*pair) for pair in zip(quantities, readings, strict=True)]
            rows.append([Text(reference.value, style="italic"), *shown])
    for contender in comparison.contenders:
        cells = [_write_cell(comparison, contender, quantity) for quantity in quantities]
        rows.append([Text(contender.name, style="bold"), *cells])
    heads = [write_head(quantity) for quantity in quantities]
    title = f"{side.value}, {comparison.texts:,} texts"
    table = build_table(["", *heads], rows, right=heads, title=title, title_justify="left", show_lines=True)
    table.columns[0].overflow = "fold"
    show(table)


def _write_reading(quantity: Quantity, reading: Reading | None) -> str:
    return "\n".join(filter(None, show_value(quantity, reading)))


def _write_cell(comparison: Comparison, contender: Contender, quantity: Quantity) -> str:
    reading = contender.read(quantity)
    if reading is None:
        return ""
    marks = list_marks(comparison, contender, quantity)
    return "\n".join([_write_reading(quantity, reading), *marks])
