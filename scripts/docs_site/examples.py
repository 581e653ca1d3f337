"""Run the shell examples of pages, as a reader would: block after block, in one folder.

    python -m scripts.docs_site.examples docs/quickstart.md    # write what the commands print into the page

A block of the language ``console`` has commands after ``$`` and what they print, errors included. In it, ``...`` stands
for anything. A block with a caption is a file, and is written before the next command.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^```(?:\{code-block\} \w+\n:caption: (?P<name>\S+)\n|console\n)\n*(?P<text>.*?)^```$", re.M | re.S
)
_PROGRESS = re.compile(r"[a-z ]+: [\d,]+ .*\(\d+%\)$")
"""A line that long work writes once a minute; whether it does depends on the machine."""
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)


def read_examples(page: str) -> list[str]:
    """The blocks of commands of a page."""
    return [found["text"] for found in _BLOCK.finditer(page) if not found["name"]]


def run_examples(page: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Every block of commands, with the block that it should be: the commands, and what they print now."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "docs").symlink_to(ROOT / "docs")
    for found in _BLOCK.finditer(page):
        if found["name"]:
            (folder / found["name"]).write_text(found["text"], encoding="utf-8")
        else:
            commands = _COMMAND.findall(found["text"])
            yield found["text"], "".join(f"$ {command}\n{_run(command, folder)}" for command in commands)


def _run(command: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**environment, "PYTHONUNBUFFERED": "1", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in run.stdout.splitlines() if not _PROGRESS.match(line))


def main() -> None:
    """Write what commands print into the given pages, except where they have ``...``."""
    for name in sys.argv[1:]:
        path = Path(name)
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for old, new in run_examples(page, Path(folder)):
                if "\n...\n" not in old:
                    page = page.replace(f"```console\n{old}```", f"```console\n{new}```")
                print(new)
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
