"""``textveil experiment``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textveil.cli.display import show
from textveil.cli.options import AsJson, ExecutorFlags, Overwrite, Quiet, build_app, command, keep_lines
from textveil.cli.reporting import FAILURE, report, spell_flag
from textveil.errors import InputError, ParameterError, spell_parameters
from textveil.extras import require
from textveil.jobs import check_free
from textveil.lab.report.results import RELATIVE_GAIN

if TYPE_CHECKING:
    from textveil.lab.study import Experiment
    from textveil.lab.study.conversion import Conversion
    from textveil.lab.study.status import CellState

PAPER = "paper"
"""The preset whose data sets can be converted."""
app = build_app(
    "Run a study of methods, and report its results.",
    epilog=keep_lines("""Examples:
  textveil experiment init study.yaml
  textveil experiment run study.yaml --dry-run
  textveil experiment run study.yaml
  textveil experiment status study.yaml
  textveil experiment report study.yaml"""),
)

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", "-f", help="Folder for results. Default: STUDY-results beside the file."),
]


def _open(study: Path, folder: Path | None, *, existing: bool = False) -> Experiment:
    if existing and folder is not None and not folder.is_dir():
        raise InputError(f"{str(folder)!r} has no results. Check --folder, or run the study first.")
    _require_study()
    from textveil.lab.study import Experiment, load_study

    return Experiment(load_study(study), folder)


def _require_study() -> None:
    for package in ("pydantic", "yaml"):
        require(package, extra="experiment")


@command(app, "init")
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    *,
    preset: str = "laptop",
    trustpilot: Path | None = None,
    yelp: Path | None = None,
    scale: float = 1.0,
    overwrite: Overwrite = False,
) -> None:
    """Write a study file with comments, for you to edit.

    Downloads of the paper's data sets are converted to files beside the study. Then missing models are listed.

    Args:
        file: The study file to write.
        preset: Preset to start from: laptop (small models) or paper (the study of the paper).
        trustpilot: For --preset paper: the download of the Trustpilot corpus, to be converted.
        yelp: For --preset paper: the download of Yelp reviews, to be converted.
        scale: The share of every sample to use. With 0.01 the study is a miniature.

    Examples:
      textveil experiment init study.yaml
      textveil experiment init paper.yaml --preset paper
      textveil experiment init paper.yaml --preset paper --trustpilot us.jsonl --yelp reviews.json
      textveil experiment init trial.yaml --preset paper --trustpilot us.jsonl --yelp reviews.json --scale 0.01
    """
    from textveil.lab.study.presets import fill_preset, write_preset

    check_free(file, overwrite=overwrite)
    fill_preset(preset, scale=scale)  # an error comes before files are converted
    given = {name: path for name, path in (("trustpilot", trustpilot), ("yelp", yelp)) if path is not None}
    if given and preset != PAPER:
        raise ParameterError(f"--{next(iter(given))} goes with --preset {PAPER}.")
    converted = _convert(given, file.parent, overwrite=overwrite)
    samples = {name: done.texts for name, done in converted.items()}
    write_preset(preset, file, scale=scale, samples=samples)
    _report_missing(file)
    step = "Run" if len(converted) == 2 else "Enter your data sets, then run"
    report(f"Written: {file}. {step}: textveil experiment run {file} --dry-run")


def _convert(given: Mapping[str, Path], folder: Path, *, overwrite: bool) -> dict[str, Conversion]:
    """Convert downloads to data sets beside the study, and report the used columns and the dropped rows."""
    from textveil.lab.study.conversion import convert_trustpilot, convert_yelp

    converters = {"trustpilot": convert_trustpilot, "yelp": convert_yelp}
    targets = {name: folder / f"{name}.jsonl" for name in given}
    for target in targets.values():
        check_free(target, overwrite=overwrite)
    found = {}
    for name, source in given.items():
        done = found[name] = converters[name](source, targets[name])
        columns = ", ".join(f"{column} from {original!r}" for column, original in done.columns.items())
        report(f"Converted: {done.path}, {done.texts:,} reviews ({columns}).")
        for reason, rows in done.dropped.items():
            report(f"  Not used: {rows:,} reviews with {reason}.")
    if found:
        report("The converted files hold the original texts. Protect them like the downloads.")
    return found


def _report_missing(file: Path) -> None:
    """Report the models that a study lacks."""
    _require_study()
    from textveil.lab.study import load_study
    from textveil.lab.study.requirements import describe_missing, find_missing

    if missing := find_missing(load_study(file).study):
        report(describe_missing(missing))


@command(app, "run")
def run(
    study: StudyPath,
    *,
    folder: Folder = None,
    place: ExecutorFlags,
    gpus_per_task: float = 0.0,
    retry_failed: bool = False,
    dry_run: bool = False,
    quiet: Quiet = False,
) -> None:
    """Run a study, or resume it.

    Shared work comes first: data sets are read, texts are scored by every distribution, and originals are measured.
    Then the texts of every cell are obfuscated and measured. Every result is stored as soon as it is computed. If a
    cell fails, it is listed with the reason, and the other cells continue.

    Args:
        gpus_per_task: For --executor ray: number of GPUs per worker, such as 0.5.
        retry_failed: Retry what failed before.
        dry_run: List the cells and estimate the time. Nothing is run or written.

    Examples:
      textveil experiment run study.yaml --dry-run
      textveil experiment run study.yaml
      textveil experiment run study.yaml --workers 8 --retry-failed
      textveil experiment run paper.yaml --executor ray --address auto --gpus-per-task 1

    After an interruption, the same command resumes the run. If you add a metric, a
    level or a method to the file later, existing results are reused.
    The exit code is 1 if anything failed.
    """
    experiment = _open(study, folder)
    from textveil.cli.experiment_display import watching

    if dry_run:
        with experiment.preview() as preview:
            preview.check()
            with place.start(gpus_per_task) as chosen:
                _show_plan(preview, chosen, retry_failed)
        return
    experiment.check()  # before an executor, such as a cluster, is started
    if not quiet:
        report(
            f"The originals are copied to {str(experiment.store.folder)!r}. Protect this folder like the originals, or "
            "delete it when you are done."
        )
    with place.start(gpus_per_task) as chosen, watching(quiet) as watcher:
        states = experiment.run(chosen, retry_failed=retry_failed, watcher=watcher)
    _summarize(experiment, states)


def _show_plan(experiment: Experiment, executor: Any, retry_failed: bool) -> None:
    """Print every cell with its state, and the estimated time."""
    from textveil.cli.experiment_display import write_time
    from textveil.lab.study.estimate import estimate

    plan = experiment.plan(executor, retry_failed=retry_failed)
    _list_cells(plan.states)
    _count(experiment, plan.states)
    if not plan.cells:
        typer.echo("There is nothing left to do.")
        return
    found = estimate(experiment.runner, plan, executor.workers)
    low, mean, high = map(write_time, (found.low, found.seconds, found.high))
    typer.echo(
        f"Estimated time with --workers {executor.workers}: {mean} ({low} to {high}), based on {found.basis}, without "
        "the time to load models."
    )


def _list_cells(states: Iterable[CellState]) -> None:
    for state in states:
        name = "finished" if state.finished else "failed" if state.failures else "to do"
        typer.echo(f"{state.cell.id}  {name:<8}  {state.cell}")


def _count(experiment: Experiment, states: Any) -> None:
    from textveil.lab.study.status import Counts

    counts = Counts.of(states)
    unread = experiment.study.size - counts.cells
    typer.echo(
        f"{experiment.study.size:,} cells: {counts.finished:,} finished, {counts.to_do + unread:,} to do, "
        f"{counts.failed:,} failed"
    )


def _summarize(experiment: Experiment, states: list[CellState]) -> None:
    """Print the state of the study. The exit code is 1 if anything failed."""
    from textveil.cli.experiment_display import list_failures
    from textveil.lab.study.records import RESULTS

    for line in list_failures(states):
        report(line)
    _count(experiment, states)
    if any(state.texts for state in states):
        typer.echo(f"Results: {experiment.store.folder / f'{RESULTS}.csv'} and {RESULTS}.parquet")
    if any(state.failures for state in states):
        report("Retry the failures with --retry-failed.")
        raise typer.Exit(FAILURE)


@command(app, "status")
def status(
    study: StudyPath,
    *,
    folder: Folder = None,
    cells: bool = False,
    as_json: AsJson = False,
) -> None:
    """Show the progress and the failures of a study. The study may be running.

    Args:
        cells: List every cell.

    Examples:
      textveil experiment status study.yaml
      textveil experiment status study.yaml --cells
      textveil experiment status study.yaml --json | jq .failures
    """
    experiment = _open(study, folder, existing=True)
    states = experiment.find_states()
    if as_json:
        typer.echo(json.dumps(_describe(experiment, states), indent=2))
        return
    from textveil.cli.experiment_display import count_by_dataset, list_failures, make_table, write_time

    if cells:
        _list_cells(states)
    if states:
        show(make_table(count_by_dataset(states)))
    for name in experiment.study.datasets:
        if not any(state.cell.dataset == name for state in states):
            typer.echo(f"The data set {name} has not been read yet.")
    _count(experiment, states)
    typer.echo(f"Computing time: {write_time(sum(state.seconds for state in states))}")
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


@command(app, "report")
def report_results(
    study: StudyPath,
    *,
    folder: Folder = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    response: str = RELATIVE_GAIN.name,
    overwrite: Overwrite = False,
) -> None:
    """Write a report of the results: one HTML page, figures and tables.

    The study need not be finished. The report lists what is missing.

    Args:
        response: The metric to explain: {textveil.lab.report.results:RESPONSES}.
        output: Folder for the report. Default: FOLDER/report.

    Examples:
      textveil experiment report study.yaml
      textveil experiment report study.yaml --response utility_f1 --output utility-report
    """
    experiment = _open(study, folder, existing=True)
    from textveil.lab.study.report import report_study

    written = report_study(experiment, response=response, folder=output, overwrite=overwrite)
    for line in written.left_out:
        report(f"Excluded from the report: {line}.")
    if written.obstacle:
        report(spell_parameters(written.obstacle, partial(spell_flag, report_results)))
    for line in written.sentences:
        typer.echo(line)
    typer.echo(f"Written: {written.folder / 'report.html'}")
