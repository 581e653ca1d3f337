"""``textveil experiment``: studies, their progress and their results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from textveil.cli.options import AsJson, ExecutorFlags, Overwrite, Quiet, build_app, command, keep_lines
from textveil.cli.reporting import FAILURE, print_json, report, spell_message
from textveil.errors import InputError, ParameterError
from textveil.extras import require
from textveil.jobs import check_free
from textveil.lab.report.results import RELATIVE_GAIN

if TYPE_CHECKING:
    from textveil.lab.study import Experiment
    from textveil.lab.study.cell_runner import CellDone
    from textveil.lab.study.conversion import Conversion
    from textveil.lab.study.experiment import Plan, SharedDone, Watcher
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
    Path | None, typer.Option("--folder", "-f", help="Folder for results. Default: STUDY-results beside the file.")
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
    _require_study()
    from textveil.lab.study.study import fill_preset, write_preset

    check_free(file, overwrite=overwrite)
    fill_preset(preset, scale=scale)  # an error comes before files are converted
    given = {name: path for name, path in (("trustpilot", trustpilot), ("yelp", yelp)) if path is not None}
    if given and preset != PAPER:
        raise ParameterError(f"--{next(iter(given))} goes with --preset {PAPER}.")
    converted = _convert(given, file.parent, overwrite=overwrite)
    write_preset(preset, file, scale=scale, samples={name: done.texts for name, done in converted.items()})
    report(f"Written: {file}. Edit it, then run: textveil experiment run {file} --dry-run")
    from textveil.lab.study import load_study
    from textveil.lab.study.experiment import describe_missing, find_missing

    if missing := find_missing(load_study(file).study):
        report(describe_missing(missing))


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
    if dry_run:
        with experiment.preview() as preview:
            preview.check()
            with place.start(gpus_per_task) as chosen:
                _show_plan(preview, chosen, retry_failed)
        return
    experiment.check()  # before an executor, such as a cluster, is started
    if not quiet:
        report(f"The originals are copied to {str(experiment.store.folder)!r}. Protect this folder like the originals.")
    with place.start(gpus_per_task) as chosen:
        states = experiment.run(chosen, retry_failed=retry_failed, watcher=None if quiet else cast("Watcher", _Log()))
    _summarize(experiment, states)


def _show_plan(experiment: Experiment, executor: Any, retry_failed: bool) -> None:
    """Print every cell with its state, and the estimated time."""
    from textveil.lab.study.estimate import estimate

    plan = experiment.plan(executor, retry_failed=retry_failed)
    _list_cells(plan.states)
    typer.echo(_write_counts(plan.states, experiment.study.size))
    if not plan.cells:
        typer.echo("There is nothing left to do.")
        return
    found = estimate(experiment.runner, plan, executor.workers)
    low, mean, high = map(write_time, (found.low, found.seconds, found.high))
    typer.echo(f"Estimated time with --workers {executor.workers}: {mean} ({low} to {high}), based on {found.basis}.")


class _Log:
    """Writes a line for every finished task, and for every problem."""

    def __init__(self) -> None:
        self._shared = self._shared_tasks = self._cells = self._cell_tasks = 0
        self._since = time.monotonic()

    def begin(self, plan: Plan) -> None:
        """Show the number of cells."""
        self._shared_tasks, self._cell_tasks = len(plan.shared), len(plan.cells)
        report(_write_counts(plan.states))

    def shared_done(self, done: SharedDone) -> None:
        """Show a shared task, with its time or its failure."""
        self._shared += 1
        self._since = time.monotonic()
        for warning in done.warnings:
            report(f"Warning: {done.task}: {spell_message(run, warning)}")
        ended = f"{done.seconds:.1f} s" if done.reason is None else f"failed: {spell_message(run, done.reason)}"
        report(f"[{self._shared}/{self._shared_tasks}] {done.task}, {ended}")

    def cell_done(self, done: CellDone) -> None:
        """Show a cell with its time, its failures, and the time left at the rate of the finished ones."""
        self._cells += 1
        for failure in done.failures:
            report(f"Failed: {failure.what} of {done.cell}: {spell_message(run, failure.reason)}")
        left = write_time((time.monotonic() - self._since) / self._cells * (self._cell_tasks - self._cells))
        report(f"[{self._cells}/{self._cell_tasks}] {done.cell}, {done.seconds:.1f} s, about {left} left")


def write_time(seconds: float) -> str:
    """A duration in words.

    >>> write_time(8.2), write_time(95), write_time(7380)
    ('8 s', '2 min', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _list_cells(states: Iterable[CellState]) -> None:
    for state in states:
        name = "finished" if state.finished else "failed" if state.failures else "to do"
        typer.echo(f"{state.cell.id}  {name:<8}  {state.cell}")


def _write_counts(states: Iterable[CellState], size: int = 0) -> str:
    """The number of cells by state. Of ``size`` cells, those without a state are to do."""
    from textveil.lab.study.status import Counts

    counts = Counts.of(states)
    cells = max(size, counts.cells)
    left = cells - counts.finished - counts.failed
    return f"{cells:,} cells: {counts.finished:,} finished, {left:,} to do, {counts.failed:,} failed"


def _summarize(experiment: Experiment, states: list[CellState]) -> None:
    """Print the state of the study. The exit code is 1 if anything failed."""
    from textveil.lab.study.records import RESULTS

    for line in _list_failures(states):
        report(line)
    typer.echo(_write_counts(states, experiment.study.size))
    if any(state.texts for state in states):
        typer.echo(f"Results: {experiment.store.folder / f'{RESULTS}.csv'} and {RESULTS}.parquet")
    if any(state.failures for state in states):
        report("Retry the failures with --retry-failed.")
        raise typer.Exit(FAILURE)


@command(app, "status")
def status(study: StudyPath, *, folder: Folder = None, cells: bool = False, as_json: AsJson = False) -> None:
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
        print_json(_describe(experiment, states))
        return
    if cells:
        _list_cells(states)
    for name in experiment.study.datasets:
        own = [state for state in states if state.cell.dataset == name]
        typer.echo(f"{name}: {_write_counts(own) if own else 'not read yet'}")
    typer.echo(_write_counts(states, experiment.study.size))
    typer.echo(f"Computing time: {write_time(sum(state.seconds for state in states))}")
    for line in _list_failures(states):
        typer.echo(line)


def _list_failures(states: Iterable[CellState]) -> Iterator[str]:
    """One line for every reason of a failure, with the first cell that has it."""
    from textveil.lab.study.status import group_failures

    for failure, cells in group_failures(states).items():
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        yield f"Failed: {failure.what} of {cells[0]}{more}: {spell_message(run, failure.reason)}"


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
        report(spell_message(report_results, written.obstacle))
    for line in written.sentences:
        typer.echo(line)
    typer.echo(f"Written: {written.folder / 'report.html'}")
