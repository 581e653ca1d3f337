"""The state of a study: what every cell has, what it lacks, and what failed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil.errors import InputError, TextveilError
from textveil.lab.study.cell_runner import TEXTS_KEY, CellRunner
from textveil.lab.study.datasets import DatasetInfo, find_dataset
from textveil.lab.study.grid import Cell, Environment, expand
from textveil.lab.study.store import OBFUSCATION, CellTexts, Failure, Store, Value
from textveil.lab.study.study import Study
from textveil.storage.atomic import writing

SETUP = "setup.json"
_NOT_IN_SETUP = ("draws", "draft_share", "form")
"""Keys of a study that its setup does not depend on. Earlier versions did not have them."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The models, options and versions behind the cells and values of a study."""

    environment: Environment
    keys: Mapping[str, Mapping[str, str]]
    """The keys of stored values: by data set, then by metric."""
    bundle: str
    """The name, the version and the hash of the bundle."""
    distributions: Mapping[str, str]
    """The description of every distribution."""
    metrics: Mapping[str, str]
    """The description of every metric."""


def find_setup(runner: CellRunner, datasets: Mapping[str, DatasetInfo]) -> Setup:
    """The setup on this machine, or the stored one if a model, the bundle or a package is missing here.

    Raises:
        TextveilError: Something is missing, and no setup is stored.
    """
    try:
        return build_setup(runner, datasets)
    except TextveilError:
        stored = _read_setup(runner.store.folder / SETUP, runner.study)
        if stored is None or not set(datasets) <= set(stored.keys):
            raise
        return stored


def build_setup(runner: CellRunner, datasets: Mapping[str, DatasetInfo]) -> Setup:
    """The setup on this machine. It needs the bundle and the models."""
    manifest = runner.bundle.manifest
    return Setup(
        runner.environment,
        {name: runner.find_keys(info) for name, info in datasets.items()},
        f"{manifest.name} {manifest.version} (SHA-256 {runner.bundle.hash[:16]})",
        {name: built.description for name, built in runner.distributors.items()},
        {name: metric.description for name, metric in runner.metrics.items()},
    )


def store_setup(runner: CellRunner, datasets: Mapping[str, DatasetInfo]) -> None:
    """Store the setup in the folder of the study."""
    content = {"study": _hash_study(runner.study), **asdict(build_setup(runner, datasets))}
    with writing(runner.store.folder / SETUP, private=True) as stream:
        stream.write(json.dumps(content, indent=1).encode())


def _read_setup(path: Path, study: Study) -> Setup | None:
    """The stored setup; ``None`` if there is none, or that of another study."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        is_current = content.pop("study") == _hash_study(study)
        return Setup(Environment(**content.pop("environment")), **content) if is_current else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{str(path)!r} is damaged. Remove it, and run the study again.") from error


def _hash_study(study: Study) -> str:
    content = study.model_dump_json(exclude=set(_NOT_IN_SETUP))
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CellState:
    """The state of a cell."""

    cell: Cell
    texts: CellTexts | None
    values: Mapping[str, Value]
    missing: tuple[str, ...]
    """The metrics that were not measured yet, except those that failed."""
    failures: tuple[Failure, ...]

    @property
    def finished(self) -> bool:
        """Whether its texts and all values exist."""
        return self.texts is not None and not self.missing and not self.failures

    @property
    def lacks_texts(self) -> bool:
        """Whether its texts have to be made."""
        return self.texts is None and not any(failure.what == OBFUSCATION for failure in self.failures)

    @property
    def to_do(self) -> bool:
        """Whether there is work left for it, besides what failed."""
        return self.lacks_texts or (self.texts is not None and bool(self.missing))

    @property
    def seconds(self) -> float:
        """The time that it took."""
        return (self.texts.seconds if self.texts else 0.0) + sum(value.seconds for value in self.values.values())

    def retried(self) -> CellState:
        """The same state with failures turned into work."""
        again = [failure.what for failure in self.failures if failure.what != OBFUSCATION]
        return CellState(self.cell, self.texts, self.values, (*self.missing, *again), ())


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of cells by state."""

    cells: int
    finished: int
    to_do: int
    failed: int

    @classmethod
    def of(cls, states: Iterable[CellState]) -> Counts:
        """Count the states. A cell with a failure counts as failed, even if there is work left."""
        found = list(states)
        failed = sum(bool(state.failures) for state in found)
        finished = sum(state.finished for state in found)
        return cls(len(found), finished, len(found) - finished - failed, failed)


def group_failures(states: Iterable[CellState]) -> dict[Failure, list[str]]:
    """The cells of every failure, that is, of a step and a reason."""
    found: dict[Failure, list[str]] = {}
    for state in states:
        for failure in state.failures:
            found.setdefault(failure, []).append(str(state.cell))
    return found


def find_dataset_infos(runner: CellRunner) -> dict[str, DatasetInfo]:
    """The data sets that were read."""
    found = {name: find_dataset(name, source, runner.store.datasets) for name, source in runner.study.datasets.items()}
    return {name: dataset.info for name, dataset in found.items() if dataset is not None}


def find_states(runner: CellRunner, datasets: Mapping[str, DatasetInfo]) -> list[CellState]:
    """The state of every cell whose data set was read. It needs no model if the study was run before."""
    if not datasets:  # models of the metrics need not be installed yet
        return []
    setup = find_setup(runner, datasets)
    cells = expand(runner.study, datasets, setup.environment)
    return [find_state(runner.store, cell, setup.keys[cell.dataset]) for cell in cells]


def find_state(store: Store, cell: Cell, keys: Mapping[str, str]) -> CellState:
    """The state of a cell. The keys are those of the metrics that its data set allows."""
    texts = store.find_texts(cell)
    values = store.find_values(cell, keys, texts)
    tried = [(name, key) for name, key in keys.items() if name not in values]
    if texts is None:
        tried.append((OBFUSCATION, TEXTS_KEY))
    failures = [failure for what, key in tried if (failure := store.find_failure(cell, what, key)) is not None]
    failed = {failure.what for failure in failures}
    missing = tuple(name for name in keys if name not in values and name not in failed)
    return CellState(cell, texts, values, missing, tuple(failures))
