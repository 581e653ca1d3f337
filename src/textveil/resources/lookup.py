"""Lookup of a resource on this machine, in a fixed order of locations."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import ResourceError
from textveil.resources.catalog import Resource, install_command, resource_named

FOLDER_VARIABLE = "TEXTVEIL_RESOURCES"
OWN_FOLDER = "textveil's folder"
ENVIRONMENT_FOLDER = "beside the environment"


@dataclass(frozen=True)
class Location:
    """The location of a resource.

    Attributes:
        folder: The folder.
        place: The kind of location, in words.
        missing: The missing files; empty if the resource can be used.
        by_variable: Whether the environment variable of the resource names the folder, which rules out other locations.
    """

    folder: Path
    place: str
    missing: tuple[str, ...] = ()
    by_variable: bool = False


def own_folder() -> Path:
    """The folder in which textveil installs resources."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return expand(chosen)
    import platformdirs

    return Path(platformdirs.user_data_dir("textveil", appauthor=False)) / "resources"


def search_folders() -> dict[Path, str]:
    """The folders of installed resources in the order of their lookup, each with its kind in words."""
    beside = {Path(sys.prefix) / "resources": ENVIRONMENT_FOLDER}
    own = {own_folder(): OWN_FOLDER}
    return own | beside if os.environ.get(FOLDER_VARIABLE) else beside | own


def expand(path: str | Path) -> Path:
    """A path with ``~`` expanded, if there is a home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # unknown user, or no home folder
        return Path(path)


def missing_files(resource: Resource, folder: Path) -> tuple[str, ...]:
    """The files of a resource that are missing in a folder or not accessible."""
    return tuple(path for path in resource.files if not _is_file(folder / path))


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 # unlike the method of a path, it does not raise without permission


def _nltk_folders(path: str) -> Iterator[Path]:
    """The data folders of NLTK, without importing it."""
    yield from (Path(folder) / path for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder)
    yield expand("~/nltk_data") / path
    bases = [Path(sys.prefix), Path(sys.prefix) / "share", Path(sys.prefix) / "lib"]
    if sys.platform == "win32":
        bases += [Path(os.environ.get("APPDATA", "C:\\")), Path("C:\\"), Path("D:\\"), Path("E:\\")]
    else:
        bases += [Path("/usr/share"), Path("/usr/local/share"), Path("/usr/lib"), Path("/usr/local/lib")]
    yield from (base / "nltk_data" / path for base in bases)


def find_archives(resource: Resource) -> list[Path]:
    """Archives of a resource in NLTK's data folders, where its downloader leaves some of them packed."""
    folders = _nltk_folders(resource.nltk_path) if resource.nltk_path is not None else ()
    return [path for folder in folders if _is_file(path := folder.with_name(f"{folder.name}.zip"))]


def _hub_cache() -> Path:
    """The Hugging Face cache, by its environment variables or its default."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if folder := os.environ.get(variable):
            return expand(folder)
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return expand(home) / "hub"


def _hub_folders(name: str) -> Iterator[Path]:
    """The snapshots of a model in the cache: first the latest download of its main branch, then the others."""
    model = _hub_cache() / f"models--{name.replace('/', '--')}"
    try:
        revision = (model / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        revision = ""
    try:
        snapshots = sorted((model / "snapshots").iterdir())
    except OSError:  # missing, or no permission
        snapshots = []
    yield from sorted(snapshots, key=lambda snapshot: snapshot.name != revision)


def _package_folders(package: str) -> Iterator[Path]:
    """The folder with the model in an installed spaCy package, which is not imported."""
    specification = importlib.util.find_spec(package)
    for folder in specification.submodule_search_locations or () if specification else ():
        yield from (config.parent for config in sorted(Path(folder).glob(f"{package}-*/config.cfg")))


def _candidates(resource: Resource) -> Iterator[tuple[Path, str]]:
    yield from ((folder / resource.name, place) for folder, place in search_folders().items())
    if resource.nltk_path is not None:
        yield from ((folder, "NLTK data") for folder in _nltk_folders(resource.nltk_path))
    for name in resource.hub_names:
        yield from ((folder, "Hugging Face cache") for folder in _hub_folders(name))
    for package in resource.python_packages:
        yield from ((folder, f"Python package {package}") for folder in _package_folders(package))


def locate(name: str) -> Location | None:
    """The first complete location of a resource, or else the first incomplete one, or else None.

    The folder in the environment variable of the resource takes precedence, even if it is incomplete. Only the names of
    files are checked, not their hashes.
    """
    resource = resource_named(name)
    if chosen := os.environ.get(resource.variable):
        folder = expand(chosen)
        missing = missing_files(resource, folder)
        return Location(folder, f"the variable {resource.variable}", missing, by_variable=True)
    broken = None
    for folder, place in _candidates(resource):
        missing = missing_files(resource, folder)
        if not missing:
            return Location(folder, place)
        if broken is None and os.path.isdir(folder):  # noqa: PTH112 # see _is_file
            broken = Location(folder, place, missing)
    return broken


def find(name: str) -> Path:
    """The folder of an installed resource.

    Raises:
        ResourceError: It is not installed or not complete. The message has the command that installs it.
    """
    location = locate(name)
    if location is None:
        raise ResourceError(f"The resource {name!r} is not installed. Install it with: {install_command(name)}")
    if location.missing:
        raise broken_error(name, location)
    return location.folder


def broken_error(name: str, location: Location) -> ResourceError:
    """The error for an incomplete resource."""
    first, *others = location.missing
    lacks = f"lacks {first!r}" + (f" and {len(others)} more" if others else "")
    advice = f"Install it with: {install_command(name)}"
    if location.by_variable:
        advice = f"Correct the variable {resource_named(name).variable}, or unset it."
    return ResourceError(
        f"The resource {name!r} in {str(location.folder)!r} ({location.place}) is broken: it {lacks}. {advice}"
    )
