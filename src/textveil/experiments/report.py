"""The report of a study: what the analysis finds in its results, and what was run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from textveil.analysis import Findings, analyze, write_report
from textveil.experiments.cell_runner import IN_LABEL
from textveil.experiments.datasets import Description
from textveil.experiments.experiment import Experiment
from textveil.experiments.records import gather_results, write_results
from textveil.experiments.status import CellState, Counts, find_descriptions
from textveil.experiments.study import Options
from textveil.version import __version__

FOLDER = "report"


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written."""

    findings: Findings
    folder: Path
    left_out: tuple[str, ...]
    """What is not in it, and why."""


def report_study(
    experiment: Experiment, *, response: str, folder: Path | None = None, overwrite: bool = False
) -> Report:
    """Write the results of a study, and what they say, as far as it is finished.

    Args:
        experiment: The study.
        response: What is explained.
        folder: Where the report is written; by default into the study's folder, in the place of an earlier one.
        overwrite: Replace an earlier report elsewhere.

    Raises:
        InputError: No data set and level is finished.
    """
    states = experiment.look()
    write_results(experiment.file, experiment.store, states)
    results, without = gather_results(experiment.file, states, response)
    findings = analyze(results, response=response)
    target = folder or experiment.store.folder / FOLDER
    left_out = tuple(_list_left_out(experiment, findings, states, without))
    write_report(
        findings,
        target,
        overwrite=overwrite or folder is None,
        title=f"{experiment.study.name}: decomposition, distribution and their trade-off",
        about=_tell_about(experiment, states, left_out),
    )
    return Report(findings, target, left_out)


def _list_left_out(
    experiment: Experiment, findings: Findings, states: Sequence[CellState], without: Sequence[str]
) -> list[str]:
    lines = []
    counts = Counts.of(states)
    if open_cells := experiment.study.size - counts.finished:
        lines.append(
            f"{open_cells:,} of {experiment.study.size:,} cells are not finished, {counts.failed:,} of them failed"
        )
    lines += [f"{group}: not every combination is finished" for group in findings.results.left_out]
    lines += [f"{name}: it has no {findings.response.title}" for name in without]
    return lines


def _tell_about(experiment: Experiment, states: Sequence[CellState], left_out: Sequence[str]) -> dict[str, str]:
    """More lines for "What was run": everything that the numbers depend on."""
    runner, study = experiment.runner, experiment.study
    about = {"study": f"{study.name} ({experiment.file.path.name}, SHA-256 {experiment.file.sha256[:16]})"}
    for description in find_descriptions(runner).values():
        about[f"texts of {description.name}"] = _tell_dataset(description)
    about["bundle"] = (
        f"{runner.bundle.manifest.name} {runner.bundle.manifest.version} (SHA-256 {runner.bundle.hash[:16]})"
    )
    for name in study.distributions:
        about[f"scores of {name}"] = runner.distributor(name).description
    for metric in runner.metrics.values():
        about[f"metric {metric.name}"] = ", ".join([metric.description, *_list_options(study.metrics[metric.name])])
    about["noise"] = "from the operating system" if study.seed is None else f"seed {study.seed}, other for every cell"
    about["working time"] = f"{sum(state.seconds for state in states) / 3600:.1f} hours"
    about["software"] = ", ".join(f"{name} {version}" for name, version in sorted(_find_versions(states).items()))
    if left_out:
        about["not in it"] = "; ".join(left_out)
    return about


def _list_options(options: Options) -> list[str]:
    """Options that the label of a metric does not have."""
    return [f"{name} {_write(value)}" for name, value in options.items() if name not in IN_LABEL]


def _write(value: Any) -> str:
    """A value of the study file, as YAML has it in a line."""
    return (
        str(yaml.safe_dump(value, default_flow_style=True, width=math.inf, sort_keys=False))
        .removesuffix("...\n")
        .strip()
    )


def _tell_dataset(dataset: Description) -> str:
    dropped = ", ".join(f"{count:,} ({reason})" for reason, count in dataset.dropped.items())
    taken = ", ".join(f"{name} {_write(value)}" for name, value in dataset.settings.items())
    return (
        f"{dataset.texts:,} of {dataset.source}, {dataset.average_length:.1f} words on average"
        + (f" ({taken})" if taken else "")
        + (f"; left out: {dropped}" if dropped else "")
    )


def _find_versions(states: Sequence[CellState]) -> dict[str, str]:
    found = {"textveil": __version__}
    for state in states:
        if state.texts is not None:
            found |= state.texts.certificate.terms.versions
        for value in state.values.values():
            found |= value.measurement.versions
    return found
