"""``textveil compare`` and ``textveil analyze``: methods side by side, by their texts or by the results of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.evaluate import UNITS, MetricFlags, add_samples, list_not_measured, report_cache
from textveil.cli.options import AsJson, Overwrite, Quiet, build_app, command
from textveil.cli.reporting import print_json, print_table, report, showing_progress, write_file, write_json
from textveil.extras import require
from textveil.jobs import check_free
from textveil.lab.compare.comparison import Comparison, read_files, split_name
from textveil.lab.compare.comparison import compare as measure
from textveil.lab.compare.curves import Frontier, choose_against, compare_frontiers, show_reading
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.columns import Reference
from textveil.lab.metrics.quantities import Quantity
from textveil.lab.report.comparison_page import list_marks, tell_findings, write_comparison, write_head
from textveil.lab.report.figures import render_png, render_svg
from textveil.lab.report.findings import Findings, SettingFindings
from textveil.lab.report.findings import analyze as find
from textveil.lab.report.frontier_figure import draw_frontiers
from textveil.lab.report.pages import tell
from textveil.lab.report.report import check_folder, write_report
from textveil.lab.report.results import RELATIVE_GAIN, read_results
from textveil.lab.report.tables import ANOVA_HEAD, align, lay_out_anova

app = build_app()


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
    with showing_progress(quiet, "texts", UNITS) as progress:
        comparison = measure(dataset, rows.obfuscations, flags.wanted, options, progress)
    frontiers = compare_frontiers(comparison, against)
    if html is not None:
        write_file(html, write_comparison(comparison, frontiers=frontiers), like=originals)
    if as_json is not None:
        found = {**comparison.as_dict(), "fronts": [frontier.as_dict() for frontier in frontiers]}
        write_file(as_json, write_json(found), like=originals)
    if drawings and frontiers:
        figure = draw_frontiers(frontiers)
        for path, content in zip(drawings, (render_svg(figure).encode(), render_png(figure)), strict=True):
            write_file(path, content, like=originals)
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
    outputs = [*filter(None, (html, as_json)), *drawings]
    if html is not None or drawings:
        require("matplotlib", extra="analyze")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    for path in outputs:
        check_free(path, overwrite=overwrite)
    return drawings, outputs


def _show(comparison: Comparison, frontiers: Sequence[Frontier]) -> None:
    """Print a table per side, the findings, and the metrics that were not measured."""
    for side, quantities in groupby(comparison.quantities, key=lambda quantity: quantity.side):
        rows = [row for quantity in quantities for row in _list_rows(comparison, quantity)]
        heads = ("", "obfuscation", "value (95 % interval)", "")
        print_table(heads, rows, right=heads[2:3], title=f"{side.value}, {comparison.texts:,} texts")
    typer.echo("best: clearly better than another one; worse: clearly worse than the best.")
    for line in tell_findings(comparison, frontiers):
        typer.echo(f"- {line}")
    for line in list_not_measured(comparison.not_measured, compare):
        typer.echo(line)


def _list_rows(comparison: Comparison, quantity: Quantity) -> Iterator[tuple[str, str, str, str]]:
    """The values of a quantity: of the references that have one, and of every obfuscation."""
    head = write_head(quantity)
    for reference in Reference:
        if reading := comparison.read_reference(quantity, reference):
            yield head, reference.value, show_reading(quantity, reading), ""
            head = ""
    for contender in comparison.contenders:
        reading = contender.read(quantity)
        marks = list_marks(comparison, contender, quantity) if reading else ()
        yield head, contender.name, show_reading(quantity, reading), ", ".join(marks)
        head = ""


@command(app, "analyze")
def analyze(
    results: Annotated[Path, typer.Argument(metavar="RESULTS")],
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    response: str = RELATIVE_GAIN.name,
    against: str | None = None,
    pairs: Annotated[int, typer.Option(min=0)] = 10,
    drop_incomplete: bool = False,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
) -> None:
    """Analyze results: find the factors that matter.

    Shows which factors matter, which combinations differ, and which one to choose.

    Analysis of variance with data set and level as controls, and Tukey's HSD over all pairs of combinations.

    The file has one row per cell, with the columns dataset, decomposition, distribution, level or epsilon (or both),
    optionally mechanism and profile, and metrics. Or it has one row per cell and metric, with the columns metric and
    value. Every data set and level must have every combination. The optional columns words_perturbed, words_drawn,
    words_kept_stopword, words_kept_unknown and words_kept_no_share count the words by outcome. The column draw numbers
    repetitions of a cell with other noise.

    Args:
        response: The metric to explain: {textveil.lab.report.results:RESPONSES}.
        results: Results of a study: csv, tsv, jsonl or parquet, may be compressed.
        output: Write the report, figures and tables to this folder.
        against: The setting that curves are compared with. Default: the first with madlib, or the first.
        pairs: Number of significant pairs to print.
        drop_incomplete: Exclude a data set and level that lacks a combination.

    Examples:
      textveil analyze results.csv
      textveil analyze results.csv --output analysis
      textveil analyze results.parquet --response utility_f1 --pairs 30
      textveil analyze results.csv --json > findings.json
    """
    if output is not None:
        check_folder(output, overwrite=overwrite)
    findings = find(read_results(results, drop_incomplete=drop_incomplete), response=response, against=against)
    for group in findings.results.left_out:
        report(f"Excluded, because it lacks a combination: {group}")
    for line in tell("missing", findings.results, findings.response):
        report(line)
    if output is not None:
        write_report(findings, output, overwrite=overwrite)
    if as_json:
        print_json(findings.as_dict())
    else:
        typer.echo("\n".join(_tell(findings, pairs)))
    if output is not None:
        report(f"Written: {output / 'report.html'}")


def _tell(findings: Findings, pairs: int) -> Iterator[str]:
    """The lines of the summary."""
    results = findings.results
    yield f"{len(results.rows)} cells, {len(results.groups)} data sets and levels; response: {findings.response.title}"
    if findings.overall is not None:
        yield "\nAll settings together"
        yield from align(ANOVA_HEAD, lay_out_anova(findings.overall))
    for setting in findings.settings:
        yield ""
        if setting.name:
            yield setting.name.capitalize()
        yield from _tell_setting(setting, pairs)
    yield ""
    if findings.frontiers:
        yield "Attack against utility"
        yield from tell("curves", findings.frontiers)
        yield ""
    yield from tell("gaps", findings)
    yield from tell("draws", results)
    yield from tell("chance", results)
    if results.counts_words:
        yield from tell("clear", findings)
    else:
        yield "The number of words released in clear is unknown: these results do not count them."


def _tell_setting(setting: SettingFindings, pairs: int) -> Iterator[str]:
    yield from align(ANOVA_HEAD, lay_out_anova(setting.anova))
    yield ""
    for name in ("noise", "datasets", "pairs"):
        yield from tell(name, setting)
    for pair in setting.comparisons.significant[:pairs]:
        yield f"  {pair.difference:.4f}  {pair.higher} over {pair.lower} (p = {pair.p_value:.2g})"
    yield ""
    for recommendation in setting.recommendations:
        yield recommendation.sentence
