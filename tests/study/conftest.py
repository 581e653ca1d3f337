"""Tiny real studies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from textveil.bundles.bundle import Bundle
from textveil.execution.local import LocalExecutor
from textveil.lab.study import Experiment, load_study

StudyMaker = Callable[..., Experiment]


def write_reviews(path: Path, rows: int = 48) -> Path:
    """Short texts whose words tell their stars and who wrote them."""
    praise = {1: "bad", 2: "bad plot", 3: "story", 4: "good", 5: "good music"}
    with path.open("w", encoding="utf-8") as lines:
        for number in range(rows):
            stars, author = number % 5 + 1, ("ann", "bob")[number // 5 % 2]
            place = {"ann": "gamma delta", "bob": "omicron theta"}[author]
            text = f"The film of {place} was {praise[stars]}, alpha beta {number}!"
            lines.write(json.dumps({"text": text, "stars": stars, "author": author, "language": "en"}) + "\n")
    return path


def list_values(bundle: Bundle) -> dict[str, Any]:
    """A study of eight cells, as YAML holds it."""
    return {
        "name": "tiny",
        "seed": 5,
        "draws": 1,
        "bundle": str(bundle.folder),
        "datasets": {
            "reviews": {
                "path": "reviews.jsonl",
                "label": {"column": "stars", "map": {1: "bad", 2: "bad", 4: "good", 5: "good"}},
                "attribute": "author",
            }
        },
        "levels": {"high": 1, "low": 20},
        "decompositions": ["words"],
        "distributions": ["uniform", "yake"],
        "profiles": ["strict", "paper"],
        "metrics": {"downstream": {}, "clear_text": {}},
        "seeds": [42],
    }


def open_study(beside: Path, values: dict[str, Any], folder: Path | None = None) -> Experiment:
    """Write a study beside its data, and open it."""
    path = beside / "study.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    return Experiment(load_study(path), folder)


@pytest.fixture
def values(tiny: Bundle) -> dict[str, Any]:
    """The values of the study, which a test may change."""
    return list_values(tiny)


@pytest.fixture
def make_study(tmp_path: Path, values: dict[str, Any]) -> StudyMaker:
    """Writes a study with some values changed, beside its data, and opens it."""
    write_reviews(tmp_path / "reviews.jsonl")

    def make(folder: Path | None = None, **changes: Any) -> Experiment:
        return open_study(tmp_path, {**values, **changes}, folder)

    return make


@pytest.fixture(scope="session")
def finished_study(tiny: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the unchanged study, which was run once."""
    beside = tmp_path_factory.mktemp("study")
    write_reviews(beside / "reviews.jsonl")
    experiment = open_study(beside, list_values(tiny))
    experiment.run(LocalExecutor())
    return experiment.store.folder


@pytest.fixture
def finished(make_study: StudyMaker, finished_study: Path) -> Experiment:
    """The unchanged study after its run. A test may change its folder."""
    experiment = make_study()
    shutil.copytree(finished_study, experiment.store.folder)
    return experiment


@pytest.fixture
def local() -> LocalExecutor:
    return LocalExecutor()
