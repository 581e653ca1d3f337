"""``textveil analyze``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import AsJson, Overwrite, build_app, command
from textveil.cli.reporting import report
from textveil.lab.report.findings import Findings, SettingFindings
from textveil.lab.report.findings import analyze as find
from textveil.lab.report.pages import tell
from textveil.lab.report.report import check_folder, write_report
from textveil.lab.report.results import RELATIVE_GAIN, read_results
from textveil.lab.report.tables import ANOVA_HEAD, align, lay_out_anova

app = build_app()


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
    typer.echo(json.dumps(findings.as_dict(), indent=2) if as_json else "\n".join(_tell(findings, pairs)))
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
