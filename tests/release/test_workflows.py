"""The workflows for GitHub: valid, with few permissions, and in line with the Makefile and the metadata."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ["3.11", "3.12", "3.13"]


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", [])


def tasks(workflow: dict[str, Any]) -> list[str]:
    """The targets of make that a workflow builds."""
    commands = (step.get("run", "") for step in steps(workflow))
    return [
        word for run in commands for found in re.findall(r"^make (.+)$", run, re.MULTILINE) for word in found.split()
    ]


def test_there_is_a_workflow_for_each_purpose() -> None:
    assert set(WORKFLOWS) == {"test", "docs", "release"}


@pytest.mark.parametrize("name", list(WORKFLOWS))
def test_every_task_exists(name: str) -> None:
    called = tasks(WORKFLOWS[name])
    assert called
    for task in called:
        assert re.search(rf"^{re.escape(task)}:.*##", MAKEFILE, re.MULTILINE), f"make {task} does not exist."
        subprocess.run(["make", "--dry-run", task], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize("name", list(WORKFLOWS))
def test_permissions_are_minimal(name: str) -> None:
    assert WORKFLOWS[name]["permissions"] == {"contents": "read"}
    extra = {
        job: content["permissions"] for job, content in WORKFLOWS[name]["jobs"].items() if "permissions" in content
    }
    assert extra == ({"publish": {"id-token": "write"}} if name == "release" else {})
    for step in steps(WORKFLOWS[name]):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", list(WORKFLOWS))
def test_actions_have_a_major_version(name: str) -> None:
    used = [step["uses"] for step in steps(WORKFLOWS[name]) if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@(?:release/)?v\d+", action)] == []


@pytest.mark.parametrize("name", list(WORKFLOWS))
def test_jobs_end_and_packages_are_cached(name: str) -> None:
    for job in WORKFLOWS[name]["jobs"].values():
        assert "timeout-minutes" in job or "uses" in job
    setups = [step for step in steps(WORKFLOWS[name]) if step.get("uses", "").startswith("actions/setup-python@")]
    assert setups
    for setup in setups:
        assert setup["with"]["cache"] == "pip"
        files = setup["with"]["cache-dependency-path"].split()
        assert files
        assert all((ROOT / file).exists() for file in files)


def test_a_release_is_tested_built_and_trusted() -> None:
    release = WORKFLOWS["release"]
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key "on" as true
    assert release["jobs"]["test"]["uses"] == "./.github/workflows/test.yml"
    publish = release["jobs"]["publish"]
    assert publish["needs"] == ["test", "build"]
    assert publish["environment"] == "pypi"
    assert "workflow_call" in WORKFLOWS["test"][True]
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "password" not in text.partition("steps:")[2].replace("so no password is stored", "")


def test_the_tag_of_a_release_is_its_version(tmp_path: Path) -> None:
    (check,) = (step["run"] for step in steps(WORKFLOWS["release"]) if "GITHUB_REF_NAME" in step.get("run", ""))
    from textveil import __version__

    for tag, code in ((f"v{__version__}", 0), ("v0.0.1", 1)):
        assert subprocess.run(["sh", "-c", check], cwd=ROOT, env={"GITHUB_REF_NAME": tag}).returncode == code


def test_all_places_name_the_same_versions_of_python() -> None:
    assert WORKFLOWS["test"]["jobs"]["test"]["strategy"]["matrix"]["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    prefix = "Programming Language :: Python :: "
    assert [line.removeprefix(prefix) for line in PROJECT["classifiers"] if line.startswith(prefix)] == PYTHONS
    sentence = f"Python {', '.join(PYTHONS[:-1])} or {PYTHONS[-1]}"
    assert sentence in MAKEFILE
    assert sentence in (ROOT / "README.md").read_text(encoding="utf-8")
