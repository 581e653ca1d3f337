"""Checking the files of an installed resource against their hashes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textveil.errors import ResourceError
from textveil.progress import Progress, ignore_progress
from textveil.resources.catalogue import resource_named
from textveil.resources.lookup import find, locate
from textveil.resources.records import recorded_hashes
from textveil.resources.resource import Resource
from textveil.storage.hashing import hash_file


@dataclass(frozen=True)
class CheckedFile:
    """A file that is what it should be.

    Attributes:
        path: Its path in the resource's folder.
        basis: Whether its hash is pinned in textveil, or was recorded when the resource was installed. A recorded hash
            shows damage since then, not that the right file was fetched.
    """

    path: str
    basis: Literal["pinned", "recorded"]


def verify(name: str, *, progress: Progress = ignore_progress) -> list[CheckedFile]:
    """Check every file of a resource whose hash is known.

    Raises:
        ResourceError: The resource is not installed, or a file is missing or has another hash.
    """
    resource, folder = resource_named(name), find(name)
    location = locate(name)
    chosen = location is not None and location.by_variable
    again = f"Install it again with: textveil resources install {name} --force"
    mend = f"Correct {resource.variable}, or unset it." if chosen else again
    known = _known_hashes(resource, folder)
    checked = []
    for number, (path, (expected, basis)) in enumerate(known.items(), start=1):
        if _hash(resource, folder / path) != expected:
            raise ResourceError(
                f"The file {path!r} of the resource {name!r} in {str(folder)!r} is not what it was when its hash was "
                f"{basis}. {mend}"
            )
        checked.append(CheckedFile(path, basis))
        progress(f"checking {name}", number, number / len(known))
    return checked


def _known_hashes(resource: Resource, folder: Path) -> dict[str, tuple[str, Literal["pinned", "recorded"]]]:
    """What a file's hash must be: the pinned one, else the recorded one. Companions count where they are there."""
    known: dict[str, tuple[str, Literal["pinned", "recorded"]]] = {}
    for path, digest in recorded_hashes(folder).items():
        if path in resource.hashes:  # a record has no say in which files are read
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
            f"it again with: textveil resources install {resource.name} --force"
        ) from error
