"""List the oldest versions that ``pyproject.toml`` allows, as requirements.

    python -m scripts.release.oldest parquet serve

Lists the dependencies of every installation, and those of the named extras, but not what they depend on.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?(?P<range>.*)")
LOWER_BOUND = re.compile(r">=\s*([\w.]+)")


def list_oldest(project: dict[str, Any], extras: Sequence[str]) -> list[str]:
    """The oldest versions that the metadata of a project allows.

    Args:
        project: The table ``project`` of ``pyproject.toml``.
        extras: The extras to include.

    Raises:
        ValueError: A dependency has no lower bound, or two different ones.
        KeyError: There is no such extra.
    """
    oldest: dict[str, str] = {}
    for name, version in _read(project, project["dependencies"], extras):
        if oldest.setdefault(name, version) != version:
            raise ValueError(f"{name} has two lower bounds: {oldest[name]} and {version}. Give it one.")
    return [f"{name}=={version}" for name, version in sorted(oldest.items())]


def _read(project: dict[str, Any], listed: Sequence[str], extras: Sequence[str]) -> Iterator[tuple[str, str]]:
    for requirement in listed:
        match = REQUIREMENT.fullmatch(requirement)
        bound = LOWER_BOUND.search(requirement)
        if match is not None and match["name"] == project["name"]:
            yield from _read(project, [], match["extras"].split(","))
        elif match is None or bound is None:
            raise ValueError(f"{requirement!r} has no lower bound. Write NAME>=VERSION.")
        else:
            yield match["name"], bound[1]
    for extra in extras:
        yield from _read(project, project["optional-dependencies"][extra], [])


def main() -> None:
    """Print one requirement per line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print("\n".join(list_oldest(project, parser.parse_args().extras)))


if __name__ == "__main__":
    main()
