"""Verification of the files of an installed resource by their hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textveil.errors import ResourceError
from textveil.progress import Progress, ignore_progress
from textveil.resources.catalog import Resource, install_command, resource_named
from textveil.resources.lookup import find, locate
from textveil.storage.atomic import hash_file
from textveil.version import __version__

RECORD = "resource.json"


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
        text = (folder / RECORD).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(folder) from error
    try:
        files = json.loads(text)["files"]
        return {str(path): str(digest) for path, digest in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder) from error


def _damaged(folder: Path) -> ResourceError:
    return ResourceError(
        f"Cannot read {str(folder / RECORD)!r}. "
        f"Install the resource again with: {install_command(folder.name, force=True)}"
    )


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
    for number, (path, (expected, basis)) in enumerate(known.items(), start=1):
        if _hash(resource, folder / path) != expected:
            raise ResourceError(
                f"The file {path!r} of the resource {name!r} in {str(folder)!r} differs from its {basis} hash. {advice}"
            )
        checked.append(CheckedFile(path, basis))
        progress(f"checking {name}", number, number / len(known))
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


def _hash(resource: Resource, path: Path) -> str:
    try:
        return hash_file(path)
    except OSError as error:
        raise ResourceError(
            f"Cannot read {str(path)!r}: {error.strerror or type(error).__name__}. Check its permissions, or install "
            f"it again with: {install_command(resource.name, force=True)}"
        ) from error
