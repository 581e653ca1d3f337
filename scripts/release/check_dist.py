"""Check the size and the content of a built sdist and wheel.

    python -m scripts.release.check_dist dist

Both must be below 100 MB. The wheel must have the files of ``src/textveil`` that Git tracks, and nothing else; the
sdist those of the whole repository, without what only the servers of the project need. NOTICE must cover all data.
The description must not link to files of the repository.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from scripts.release.notice import find_uncovered, read_notice

ROOT = Path(__file__).parents[2]
MOST_BYTES = 100_000_000
"""PyPI refuses larger files by default."""
PACKAGE = "src/textveil/"
LEFT_OUT = (".ci/", ".github/")
"""What the sdist leaves out: only the servers of the project need it."""
METADATA = frozenset("METADATA RECORD WHEEL entry_points.txt licenses/LICENSE licenses/NOTICE".split())


def list_tracked(root: Path) -> list[str]:
    """The files of a checkout that Git tracks, and that are not deleted."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    return sorted(name for name in listed.split("\0") if name and (root / name).exists())


def list_wheel(path: Path) -> list[str]:
    """The files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return sorted(name for name in archive.namelist() if not name.endswith("/"))


def list_sdist(path: Path) -> list[str]:
    """The files of an sdist, without the name of its folder."""
    with tarfile.open(path) as archive:
        return sorted(member.name.partition("/")[2] for member in archive if not member.isdir())


def check_size(path: Path, most: int = MOST_BYTES) -> list[str]:
    """What is wrong with the size of a file."""
    size = path.stat().st_size
    return [f"{path.name} has {size:,} bytes; the most is {most:,}."] if size > most else []


def check_wheel(found: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """What is wrong with the files of a wheel."""
    plain = {re.sub(r"^[\w.-]+\.dist-info/", "METADATA:", name) for name in found}
    code = {name.removeprefix("src/") for name in tracked if name.startswith(PACKAGE)}
    return _compare("wheel", plain, code | {f"METADATA:{name}" for name in METADATA})


def check_sdist(found: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """What is wrong with the files of an sdist."""
    return _compare("sdist", set(found), {name for name in tracked if not name.startswith(LEFT_OUT)} | {"PKG-INFO"})


def _compare(kind: str, found: set[str], expected: set[str]) -> list[str]:
    missing = [f"The {kind} lacks {name}." for name in sorted(expected - found)]
    return missing + [f"The {kind} has {name}, which does not belong there." for name in sorted(found - expected)]


def check_notice(found: Iterable[str], notice: Path) -> list[str]:
    """The data files of a wheel that NOTICE does not cover."""
    data = [name for name in found if ".dist-info/" not in name]
    return [f"NOTICE does not cover {name}." for name in find_uncovered(data, read_notice(notice))]


def read_description(path: Path) -> str:
    """The description of a wheel, which a package index shows as its page."""
    with zipfile.ZipFile(path) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return archive.read(name).decode().partition("\n\n")[2]


def check_description(description: str) -> list[str]:
    """The links of a description that lead nowhere on a package index: those to files of the repository.

    >>> check_description("See [here](https://example.org) and [there](docs/a.md#b).")
    ['The description links to docs/a.md#b, which a package index does not have.']
    """
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", description)
    return [f"The description links to {link}, which a package index does not have." for link in links]


def check(folder: Path, root: Path = ROOT) -> list[str]:
    """Everything that is wrong with the files in a folder, which must be one sdist and one wheel."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1 or len(list(folder.iterdir())) != 2:
        return [f"{folder} must have one wheel and one sdist, and nothing else."]
    tracked, files = list_tracked(root), list_wheel(wheels[0])
    return [
        *check_size(wheels[0]),
        *check_size(sdists[0]),
        *check_wheel(files, tracked),
        *check_sdist(list_sdist(sdists[0]), tracked),
        *check_notice(files, root / "NOTICE"),
        *check_description(read_description(wheels[0])),
    ]


def main() -> None:
    """Print everything that is wrong, or the sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder with the sdist and the wheel")
    folder = parser.parse_args().folder
    problems = check(folder)
    if problems:
        sys.exit("\n".join(problems))
    for path in sorted(folder.iterdir()):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, complete")


if __name__ == "__main__":
    main()
