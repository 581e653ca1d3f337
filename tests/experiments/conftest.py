"""Tiny real studies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from textveil.bundles.bundle import Bundle
from textveil.execution.local import LocalExecutor
from textveil.experiments import Experiment, load_study

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


@pytest.fixture
def values(tiny: Bundle) -> dict[str, Any]:
    """A study of eight cells, as YAML holds it."""
    return {
        "name": "tiny",
        "seed": 5,
        "draws": 1,
        "bundle": str(tiny.folder),
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


@pytest.fixture
def make_study(tmp_path: Path, values: dict[str, Any]) -> StudyMaker:
    """Writes a study with some values changed, beside its data, and opens it."""
    write_reviews(tmp_path / "reviews.jsonl")

    def make(folder: Path | None = None, **changes: Any) -> Experiment:
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump({**values, **changes}, sort_keys=False), encoding="utf-8")
        return Experiment(load_study(path), folder)

    return make


@pytest.fixture
def local() -> LocalExecutor:
    return LocalExecutor()
