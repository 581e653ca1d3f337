"""The oldest allowed versions are read from the metadata of the project."""

import tomllib
from pathlib import Path

import pytest

from scripts.release.oldest import list_oldest

PROJECT = {
    "name": "textveil",
    "dependencies": ["numpy>=1.26,<3", "rich >= 13.7"],
    "optional-dependencies": {
        "parquet": ["pyarrow>=15"],
        "all": ["textveil[parquet,serve]", "numpy>=1.26"],
        "serve": ["uvicorn[standard]>=0.30"],
    },
}


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        ([], ["numpy==1.26", "rich==13.7"]),
        (["parquet"], ["numpy==1.26", "pyarrow==15", "rich==13.7"]),
        (["all"], ["numpy==1.26", "pyarrow==15", "rich==13.7", "uvicorn==0.30"]),
    ],
)
def test_lower_bounds_become_exact_versions(extras: list[str], expected: list[str]) -> None:
    assert [line.replace(" ", "") for line in list_oldest(PROJECT, extras)] == expected


def test_a_dependency_without_a_lower_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="'numpy<3' has no lower bound"):
        list_oldest({**PROJECT, "dependencies": ["numpy<3"]}, [])


def test_two_lower_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="two lower bounds: 1.26 and 2.0"):
        list_oldest({**PROJECT, "dependencies": ["numpy>=1.26", "numpy>=2.0"]}, [])


def test_an_unknown_extra_is_refused() -> None:
    with pytest.raises(KeyError):
        list_oldest(PROJECT, ["nothing"])


def test_every_dependency_of_the_project_has_one_lower_bound() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert len(list_oldest(project, list(project["optional-dependencies"]))) > 30
