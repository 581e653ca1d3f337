"""The report of a study: the findings of the analysis, and a description of what was run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from textveil.errors import InputError
from textveil.lab.metrics import METRIC_COLUMNS
from textveil.lab.report.findings import Findings, analyze
from textveil.lab.report.pages import tell
from textveil.lab.report.report import write_empty_report, write_report
from textveil.lab.report.results import RESPONSES, canonical_column
from textveil.lab.study.datasets import DatasetInfo
from textveil.lab.study.experiment import Experiment
from textveil.lab.study.records import gather_results, write_results
from textveil.lab.study.status import CellState, Counts, Setup, find_dataset_infos, find_setup, group_failures
from textveil.lab.study.study import CalibratedLevel, Options
from textveil.registry import unknown_name
from textveil.version import __version__

FOLDER = "report"


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written."""

    findings: Findings | None
    """The findings; ``None`` if there was nothing to analyze."""
    folder: Path
    left_out: tuple[str, ...]
    """Excluded parts of the study, with reasons."""
    obstacle: str = ""
    """The reason why there was nothing to analyze; empty if there was."""

    @property
    def sentences(self) -> list[str]:
        """The recommendations of all settings, and whether there are too few draws."""
        if self.findings is None:
            return []
        settings = self.findings.settings
        said = [f"{setting.prefix}{found.sentence}" for setting in settings for found in setting.recommendations]
        return [*said, *tell("draws", self.findings.results)]


def report_study(
    experiment: Experiment, *, response: str, folder: Path | None = None, overwrite: bool = False
) -> Report:
    """Write the report of a study. The study need not be finished, and its models are not needed.

    Args:
        experiment: The study.
        response: The metric to explain.
        folder: The folder of the report; by default ``report`` in the study's folder, which is replaced. With another
            folder, nothing is written in that of the study. Otherwise its results are written again, too.
        overwrite: Replace an earlier report in ``folder``.

    Raises:
        InputError: No cell was run, or no cell has the response although nothing failed.
        UnknownNameError: There is no such response.
    """
    response = canonical_column(response)
    if response not in RESPONSES:
        raise unknown_name("response", response, RESPONSES)
    infos = find_dataset_infos(experiment.runner)
    states = experiment.find_states()
    if not any(state.texts or state.failures for state in states):
        raise InputError("No cell has results. Run the study first.")
    if folder is None:
        write_results(experiment.file, experiment.store, states)
    target = folder or experiment.store.folder / FOLDER
    options: dict[str, Any] = {
        "overwrite": overwrite or folder is None,
        "title": f"{experiment.study.name}: methods and their trade-off",
        "failures": {f"{each.what}: {each.reason}": cells for each, cells in group_failures(states).items()},
    }
    about = _tell_about(experiment, infos, find_setup(experiment.runner, infos), states)
    try:
        results, without = gather_results(experiment.file, states, response)
    except InputError as error:
        column = METRIC_COLUMNS.get(response)
        left_out = (*_count_unfinished(experiment, states), *_tell_caveats(states, column.metric if column else None))
        if not left_out:
            raise
        write_empty_report(
            target, f"Nothing could be analyzed. {error}", about=_add_excluded(about, left_out), **options
        )
        return Report(None, target, left_out, str(error))
    findings = analyze(results, response=response)
    left_out = tuple(_list_left_out(experiment, findings, states, without))
    write_report(findings, target, about=_add_excluded(about, left_out), **options)
    return Report(findings, target, left_out)


def _list_left_out(
    experiment: Experiment, findings: Findings, states: Sequence[CellState], without: Sequence[str]
) -> list[str]:
    lines = _count_unfinished(experiment, states)
    lines += [f"{group}: not every combination is finished" for group in findings.results.left_out]
    infos = find_dataset_infos(experiment.runner)
    for name in without:
        reasons = "".join(f" ({problem.rstrip('.')})" for problem in infos[name].problems.values())
        lines.append(f"{name}: the data set has no {findings.response.title}{reasons}")
    return [*lines, *_tell_caveats([state for state in states if state.cell.dataset in without])]


def _count_unfinished(experiment: Experiment, states: Sequence[CellState]) -> list[str]:
    counts = Counts.of(states)
    if unfinished := experiment.study.size - counts.finished:
        return [f"{unfinished:,} of {experiment.study.size:,} cells are not finished, {counts.failed:,} of them failed"]
    return []


def _tell_caveats(states: Sequence[CellState], metric: str | None = None) -> list[str]:
    """The caveats of measurements, once for every data set: of one metric, or of all."""
    found = {
        f"{state.cell.dataset}, {name}: {caveat.rstrip('.')}": None
        for state in states
        for name, value in state.values.items()
        if metric in (None, name)
        for caveat in value.measurement.caveats
    }
    return list(found)


def _add_excluded(about: Mapping[str, str], left_out: Sequence[str]) -> dict[str, str]:
    return {**about, "excluded": "; ".join(left_out)} if left_out else dict(about)


def _tell_about(
    experiment: Experiment, infos: Mapping[str, DatasetInfo], setup: Setup, states: Sequence[CellState]
) -> dict[str, str]:
    """More lines for "What was run": everything that the numbers depend on."""
    study = experiment.study
    about = {"study": f"{study.name} ({experiment.file.path.name}, SHA-256 {experiment.file.sha256[:16]})"}
    about |= {f"texts of {info.name}": _tell_dataset(info) for info in infos.values()}
    about["bundle"] = setup.bundle
    methods = study.decompositions | study.mechanisms
    about |= {f"options of {name}": _tell_options(options) for name, options in methods.items() if options}
    about |= {f"scores of {name}": description for name, description in setup.distributions.items()}
    about |= {f"metric {name}": description for name, description in setup.metrics.items()}
    noise = "from the operating system" if study.seed is None else f"seed {study.seed}, different for every cell"
    about["noise"] = f"{noise}; {study.draws} draws for every combination"
    for name, level in study.levels.items():
        epsilons = [state.cell.epsilon_per_word for state in states if state.cell.level == name]
        if isinstance(level, CalibratedLevel) and epsilons:
            about[f"level {name}"] = f"{level}: epsilon per word {min(epsilons):.4g} to {max(epsilons):.4g}"
    about["computing time"] = f"{sum(state.seconds for state in states) / 3600:.1f} hours"
    about["software"] = ", ".join(f"{name} {version}" for name, version in sorted(_find_versions(states).items()))
    return about


def _tell_options(options: Options) -> str:
    """Options as one line of YAML."""
    written: str = yaml.safe_dump(dict(options), default_flow_style=True, width=math.inf, sort_keys=False)
    return written.strip()[1:-1]


def _tell_dataset(dataset: DatasetInfo) -> str:
    parts = [f"{dataset.texts:,} of {dataset.source}, {dataset.average_length:.1f} words on average"]
    parts += [_tell_options(dataset.settings)] if dataset.settings else []
    parts += [f"dropped: {count:,} ({reason})" for reason, count in dataset.dropped.items()]
    parts += [f"{role} not used: {problem.rstrip('.')}" for role, problem in dataset.problems.items()]
    return "; ".join(parts)


def _find_versions(states: Sequence[CellState]) -> dict[str, str]:
    found = {"textveil": __version__}
    for state in states:
        if state.texts is not None:
            found |= state.texts.certificate.terms.versions
        for value in state.values.values():
            found |= value.measurement.versions
    return found
