"""``textveil experiment``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textveil.analysis import METRIC_COLUMNS
from textveil.analysis.columns import RELATIVE_GAIN
from textveil.cli.corpus_options import Address, Workers
from textveil.cli.reporting import FAILURE, report, reporting_errors
from textveil.errors import InputError
from textveil.execution import EXECUTORS
from textveil.extras import require
from textveil.jobs import check_free

if TYPE_CHECKING:
    from textveil.experiments import Experiment
    from textveil.experiments.status import CellState

EXTRA = "experiment"
INIT_EXAMPLES = """
\b
Examples:
  textveil experiment init study.yaml
  textveil experiment init paper.yaml --preset paper
"""
RUN_EXAMPLES = """
\b
Examples:
  textveil experiment run study.yaml --dry-run
  textveil experiment run study.yaml
  textveil experiment run study.yaml --workers 8 --retry-failed
  textveil experiment run paper.yaml --executor ray --address auto --gpus-per-task 1

\b
Killed, it goes on where it was when the same command is given again. A metric,
a level or a method that is added to the file later uses what is there.
The exit code is 1 if anything failed.
"""
STATUS_EXAMPLES = """
\b
Examples:
  textveil experiment status study.yaml
  textveil experiment status study.yaml --cells
  textveil experiment status study.yaml --json | jq .failures
"""
REPORT_EXAMPLES = """
\b
Examples:
  textveil experiment report study.yaml
  textveil experiment report study.yaml --response utility_f1 --output utility-report
"""

app = typer.Typer(
    help="Run a whole study: every combination of methods on data sets, measured, kept and reported.",
    epilog="""
\b
Examples:
  textveil experiment init study.yaml
  textveil experiment run study.yaml --dry-run
  textveil experiment run study.yaml
  textveil experiment status study.yaml
  textveil experiment report study.yaml
""",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", "-f", help="Where results are kept; by default STUDY-results, beside the file."),
]


def _open(study: Path, folder: Path | None) -> Experiment:
    for package in ("pydantic", "yaml"):
        require(package, extra=EXTRA)
    from textveil.experiments import Experiment, load_study

    return Experiment(load_study(study), folder)


def _open_existing(study: Path, folder: Path | None) -> Experiment:
    if folder is not None and not folder.is_dir():
        raise InputError(f"There are no results in {str(folder)!r}. Check --folder, or run the study first.")
    return _open(study, folder)


@app.command("init", epilog=INIT_EXAMPLES, no_args_is_help=True)
@reporting_errors
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write.", show_default=False)],
    *,
    preset: Annotated[
        str, typer.Option(help="What it is made from: laptop (small models), or paper (the paper's own study).")
    ] = "laptop",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
) -> None:
    """Write a study file with comments, to be changed."""
    from textveil.experiments.presets import write_preset

    check_free(file, overwrite=overwrite)
    write_preset(preset, file)
    report(f"Written: {file}. Name your data sets in it, then: textveil experiment run {file} --dry-run")


@app.command("run", epilog=RUN_EXAMPLES, no_args_is_help=True)
@reporting_errors
def run(
    study: StudyPath,
    *,
    folder: Folder = None,
    executor: Annotated[str, typer.Option(help=f"Where cells are worked on: {', '.join(EXECUTORS)}.")] = "processes",
    workers: Workers = None,
    address: Address = None,
    gpus_per_task: Annotated[
        float, typer.Option(help="For --executor ray: how much of a GPU every worker has to itself.")
    ] = 0.0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try again what failed before.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells, and say how long they will take; run none.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Run what is left of a study.

    Data sets are read, scores of every distribution and numbers of the originals are worked out once, then every cell
    is obfuscated and measured. Everything is kept as soon as it is there. A cell that fails is listed with its reason,
    and the others go on.
    """
    experiment = _open(study, folder)
    from textveil.cli.experiment_display import watching

    with EXECUTORS.load(executor)(workers, address, gpus_per_task) as chosen:
        if dry_run:
            _show_plan(experiment, chosen, retry_failed)
            return
        with watching(quiet) as watcher:
            states = experiment.run(chosen, retry_failed=retry_failed, watcher=watcher)
    _summarise(experiment, states)


def _show_plan(experiment: Experiment, executor: Any, retry_failed: bool) -> None:
    """Print every cell with its state, and how long the run would take."""
    from textveil.cli.experiment_display import write_time
    from textveil.experiments.estimate import estimate

    with experiment.store.locked():
        plan = experiment.plan(executor, retry_failed=retry_failed)
        for state in plan.states:
            typer.echo(f"{state.cell.id}  {_name_state(state):<8}  {state.cell}")
        _count(experiment, plan.states)
        if not plan.cells:
            typer.echo("Nothing is left to do.")
            return
        found = estimate(experiment.runner, plan, executor.workers)
    typer.echo(
        f"About {write_time(found.seconds)} with {executor.workers} at a time, worked out from {found.basis}; loading "
        "models not counted."
    )


def _name_state(state: CellState) -> str:
    return "finished" if state.finished else "failed" if state.failures else "to do"


def _count(experiment: Experiment, states: Any) -> None:
    from textveil.experiments.status import Counts

    counts = Counts.of(states)
    unread = experiment.study.size - counts.cells
    typer.echo(
        f"{experiment.study.size:,} cells: {counts.finished:,} finished, {counts.to_do + unread:,} to do, "
        f"{counts.failed:,} failed"
    )


def _summarise(experiment: Experiment, states: list[CellState]) -> None:
    """Say how the study stands; the exit code tells whether something failed."""
    from textveil.cli.experiment_display import list_failures
    from textveil.experiments.records import RESULTS

    for line in list_failures(states):
        report(line)
    _count(experiment, states)
    if any(state.texts for state in states):
        typer.echo(f"Results: {experiment.store.folder / f'{RESULTS}.csv'} and {RESULTS}.parquet")
    if any(state.failures for state in states):
        report("What failed is tried again with --retry-failed.")
        raise typer.Exit(FAILURE)


@app.command("status", epilog=STATUS_EXAMPLES, no_args_is_help=True)
@reporting_errors
def status(
    study: StudyPath,
    *,
    folder: Folder = None,
    cells: Annotated[bool, typer.Option("--cells", help="List every cell.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say how far a study is, and what failed. It may run meanwhile."""
    experiment = _open_existing(study, folder)
    states = experiment.look()
    if as_json:
        typer.echo(json.dumps(_describe(experiment, states), indent=2))
        return
    from rich.console import Console

    from textveil.cli.experiment_display import count_by_dataset, list_failures, make_table, write_time

    if cells:
        for state in states:
            typer.echo(f"{state.cell.id}  {_name_state(state):<8}  {state.cell}")
    if states:
        Console().print(make_table(count_by_dataset(states)))
    for name in experiment.study.datasets:
        if not any(state.cell.dataset == name for state in states):
            typer.echo(f"The data set {name} was not read yet.")
    _count(experiment, states)
    typer.echo(f"Working time: {write_time(sum(state.seconds for state in states))}")
    for line in list_failures(states):
        typer.echo(line)


def _describe(experiment: Experiment, states: list[CellState]) -> dict[str, Any]:
    return {
        "study": experiment.study.name,
        "folder": str(experiment.store.folder),
        "cells": experiment.study.size,
        "finished": sum(state.finished for state in states),
        "failed": sum(bool(state.failures) for state in states),
        "seconds": sum(state.seconds for state in states),
        "failures": [
            {"cell": state.cell.id, "name": str(state.cell), "what": failure.what, "reason": failure.reason}
            for state in states
            for failure in state.failures
        ],
        "missing": {state.cell.id: list(state.missing) for state in states if state.missing},
    }


@app.command("report", epilog=REPORT_EXAMPLES, no_args_is_help=True)
@reporting_errors
def report_results(
    study: StudyPath,
    *,
    folder: Folder = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the report is written; by default FOLDER/report.")
    ] = None,
    response: Annotated[
        str, typer.Option(help=f"The metric to explain: {', '.join(METRIC_COLUMNS)}.")
    ] = RELATIVE_GAIN.name,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report at --output.")] = False,
) -> None:
    """Write what the results say: one HTML page, figures, tables.

    It can be written before the study is finished; what is missing is said, there and here.
    """
    experiment = _open_existing(study, folder)
    from textveil.experiments.report import report_study

    written = report_study(experiment, response=response, folder=output, overwrite=overwrite)
    for line in written.left_out:
        report(f"Not in the report: {line}.")
    for setting in written.findings.settings:
        for recommendation in setting.recommendations:
            typer.echo(f"{setting.prefix}{recommendation.sentence}")
    typer.echo(f"Written: {written.folder / 'report.html'}")
