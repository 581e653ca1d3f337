"""The report of a study: the findings of the analysis, and a description of what was run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from textveil.analysis import Findings, analyze, write_report
from textveil.experiments.datasets import DatasetInfo
from textveil.experiments.experiment import Experiment
from textveil.experiments.records import gather_results, write_results
from textveil.experiments.status import CellState, Counts, find_dataset_infos
from textveil.experiments.study import Options
from textveil.version import __version__

FOLDER = "report"


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written."""

    findings: Findings
    folder: Path
    left_out: tuple[str, ...]
    """Excluded parts of the study, with reasons."""


def report_study(
    experiment: Experiment, *, response: str, folder: Path | None = None, overwrite: bool = False
) -> Report:
    """Write the results and the report of a study. The study need not be finished.

    Args:
        experiment: The study.
        response: The metric to explain.
        folder: The folder of the report; by default ``report`` in the study's folder, which is replaced.
        overwrite: Replace an earlier report in ``folder``.

    Raises:
        InputError: No data set is finished at any level.
    """
    states = experiment.find_states()
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
    if unfinished := experiment.study.size - counts.finished:
        lines.append(
            f"{unfinished:,} of {experiment.study.size:,} cells are not finished, {counts.failed:,} of them failed"
        )
    lines += [f"{group}: not every combination is finished" for group in findings.results.left_out]
    lines += [f"{name}: the data set has no {findings.response.title}" for name in without]
    return lines


def _tell_about(experiment: Experiment, states: Sequence[CellState], left_out: Sequence[str]) -> dict[str, str]:
    """More lines for "What was run": everything that the numbers depend on."""
    runner, study = experiment.runner, experiment.study
    about = {"study": f"{study.name} ({experiment.file.path.name}, SHA-256 {experiment.file.sha256[:16]})"}
    for info in find_dataset_infos(runner).values():
        about[f"texts of {info.name}"] = _tell_dataset(info)
    about["bundle"] = (
        f"{runner.bundle.manifest.name} {runner.bundle.manifest.version} (SHA-256 {runner.bundle.hash[:16]})"
    )
    for name, options in (study.decompositions | study.mechanisms).items():
        if options:
            about[f"options of {name}"] = ", ".join(_list_options(options))
    for name in study.distributions:
        about[f"scores of {name}"] = runner.distributor(name).description
    for metric in runner.metrics.values():
        about[f"metric {metric.name}"] = metric.description
    about["noise"] = (
        "from the operating system" if study.seed is None else f"seed {study.seed}, different for every cell"
    )
    about["computing time"] = f"{sum(state.seconds for state in states) / 3600:.1f} hours"
    about["software"] = ", ".join(f"{name} {version}" for name, version in sorted(_find_versions(states).items()))
    if left_out:
        about["excluded"] = "; ".join(left_out)
    return about


def _list_options(options: Options) -> list[str]:
    return [f"{name} {_write(value)}" for name, value in options.items()]


def _write(value: Any) -> str:
    """A value of the study file as one line of YAML."""
    return (
        str(yaml.safe_dump(value, default_flow_style=True, width=math.inf, sort_keys=False))
        .removesuffix("...\n")
        .strip()
    )


def _tell_dataset(dataset: DatasetInfo) -> str:
    dropped = ", ".join(f"{count:,} ({reason})" for reason, count in dataset.dropped.items())
    taken = ", ".join(_list_options(dataset.settings))
    return (
        f"{dataset.texts:,} of {dataset.source}, {dataset.average_length:.1f} words on average"
        + (f" ({taken})" if taken else "")
        + (f"; dropped: {dropped}" if dropped else "")
    )


def _find_versions(states: Sequence[CellState]) -> dict[str, str]:
    found = {"textveil": __version__}
    for state in states:
        if state.texts is not None:
            found |= state.texts.certificate.terms.versions
        for value in state.values.values():
            found |= value.measurement.versions
    return found
