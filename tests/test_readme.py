"""The README's commands are run, and print what it says they print."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def examples() -> list[str]:
    return re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("example", examples())
def test_commands_print_what_the_readme_says(example, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    shown = ""
    for command in re.findall(r"^\$ (.*)$", example, flags=re.MULTILINE):
        result = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        shown += f"$ {command}\n{result.stdout}"
        assert result.stderr == ""
    assert shown == example


def test_the_examples_are_found():
    assert len(examples()) >= 2


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_make_help_lists_every_task():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for task in ("help", "demo", "test", "test-all", "check", "packages", "docs", "bench"):
        assert re.search(rf"^{task}\s+\w", listed, flags=re.MULTILINE), task
