"""The setup of a study: everything that its cells and values depend on, stored so that it is known without models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil.errors import InputError, TextveilError
from textveil.experiments.cell_runner import CellRunner
from textveil.experiments.datasets import DatasetInfo
from textveil.experiments.grid import Environment
from textveil.experiments.study import Study
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
        {name: runner.distributor(name).description for name in runner.study.distributions},
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
        if content.pop("study") != _hash_study(study):
            return None
        return Setup(Environment(**content.pop("environment")), **content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{str(path)!r} is damaged. Remove it, and run the study again.") from error


def _hash_study(study: Study) -> str:
    content = study.model_dump_json(exclude=set(_NOT_IN_SETUP))
    return hashlib.sha256(content.encode()).hexdigest()
