"""Install a wheel into an empty environment and run the README's first example with it.

    python -m scripts.release.try_wheel dist/textveil-1.0.0rc1-py3-none-any.whl

Only the wheel and the dependencies that every installation has are installed, in the versions of ``constraints.txt``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = ("pandas", "pyarrow", "ray", "scipy", "spacy", "torch", "transformers")
"""Packages of extras. None of them may come with the wheel."""


@dataclass(frozen=True)
class Step:
    """A command of an example, and what it prints."""

    command: str
    output: str


def read_first_example(readme: str) -> list[Step]:
    """The commands of the first example of a README, with what they print.

    Raises:
        ValueError: The README has no example.
    """
    example = re.search(r"^```console\n(.*?)^```", readme, flags=re.DOTALL | re.MULTILINE)
    if example is None:
        raise ValueError("The README has no example: a block ```console.")
    steps = re.split(r"^\$ ", example[1], flags=re.MULTILINE)[1:]
    return [Step(*step.split("\n", 1)) for step in steps]


def compare(steps: list[Step], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run commands in a folder. Returns what differs from the example."""
    problems = []
    for step in steps:
        result = subprocess.run(
            ["sh", "-c", step.command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if (result.returncode, result.stdout, result.stderr) != (0, step.output, ""):
            problems.append(
                f"$ {step.command}\nexpected:\n{step.output}printed (code {result.returncode}):\n"
                f"{result.stdout}{result.stderr}"
            )
    return problems


def install(wheel: Path, folder: Path) -> None:
    """Install a wheel, and what it depends on, into a new environment."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip"]
    quiet = ["--quiet", "--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "install", *quiet, str(wheel.resolve())], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)


def list_heavy(folder: Path) -> list[str]:
    """The packages of extras that an environment has."""
    find = f"from importlib.util import find_spec; print(*(name for name in {HEAVY!r} if find_spec(name)))"
    python = str(folder / "bin" / "python")
    return subprocess.run([python, "-I", "-c", find], capture_output=True, text=True, check=True).stdout.split()


def try_wheel(wheel: Path, readme: str) -> list[str]:
    """What is wrong with a wheel that is installed alone."""
    with tempfile.TemporaryDirectory(prefix="textveil-wheel-") as name:
        folder, work = Path(name) / "environment", Path(name) / "work"
        work.mkdir()
        install(wheel, folder)
        problems = [f"The wheel alone installs {package}, which belongs to an extra." for package in list_heavy(folder)]
        # Nothing of this checkout, of the user or of another environment may help.
        environment = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.defpath}", "HOME": str(work), "LANG": "C.UTF-8"}
        steps = [*read_first_example(readme), Step("textveil bundle verify en >/dev/null", "")]
        return problems + compare(steps, work, environment)


def main() -> None:
    """Print what differs, or that nothing does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel
    problems = try_wheel(wheel, (ROOT / "README.md").read_text(encoding="utf-8"))
    if problems:
        sys.exit("\n".join(problems))
    print(f"{wheel.name}: installed alone, prints the README's first example")


if __name__ == "__main__":
    main()
