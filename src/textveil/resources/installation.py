"""Installing a resource: the first source that works, checked, and under its name only when it is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import MissingExtraError, OutputError, ParameterError, ResourceError
from textveil.progress import Progress, ignore_progress
from textveil.registry import Registry
from textveil.resources.catalogue import resource_named
from textveil.resources.lookup import (
    OWN_FOLDER,
    Location,
    broken_error,
    expand,
    find_archives,
    locate,
    missing_files,
    own_folder,
)
from textveil.resources.records import write_record
from textveil.resources.resource import LocalCopy, Resource, Source
from textveil.storage.atomic import output_error, writing_folder
from textveil.storage.hashing import hash_file

KINDS = ("official", "pypi")

_FETCHERS: Registry[Callable[[Source, Resource, Path, Path, Progress], None]] = Registry("kind of source")
_FETCHERS.register("WebArchive", "textveil.resources.web:fetch")
_FETCHERS.register("HubModel", "textveil.resources.hub:fetch")
_FETCHERS.register("PyPIPackages", "textveil.resources.pypi:fetch")
_FETCHERS.register("LocalCopy", "textveil.resources.copying:fetch")


@dataclass(frozen=True)
class Installation:
    """What installing a resource came to.

    Attributes:
        location: Where the resource is now.
        source: Where it came from; None if it was there already.
        failures: Why the sources that were tried before did not work.
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
    """Install a resource, unless it is there with all its files.

    Args:
        name: The resource.
        source: ``"official"``, ``"pypi"`` or a folder with the files; by default, what NLTK has left on the machine as
            an archive, then all sources of the resource in order.
        folder: The folder to install it in, below its name; textveil's own by default.
        progress: Is told how far it is, perhaps from another thread.
        replace: Install it even if it is there.

    Raises:
        ParameterError: The resource's variable names another folder, and would hide what is installed again.
        ResourceError: No source worked; the message has the reason for each.
        OutputError: The folder cannot be written.
    """
    resource = resource_named(name)
    sources = _sources(resource, source)
    if replace and folder is None and os.environ.get(resource.variable):
        raise ParameterError(
            f"{resource.variable} names another folder, so what is installed would not be used. Unset it."
        )
    there = _there(resource, folder)
    if there is not None and not replace:
        return Installation(there, None)
    target = (folder if folder is not None else own_folder()) / name
    failures: list[str] = []
    for chosen in sources:
        try:
            _install_from(chosen, resource, target, progress, replace=replace)
        except (ResourceError, MissingExtraError) as error:
            failures.append(str(error).rstrip("."))
        else:
            place = OWN_FOLDER if folder is None else "the folder asked for"
            return Installation(Location(target, place), str(chosen), tuple(failures))
    advice = (
        "Check that folder" if isinstance(sources[-1], LocalCopy) else "Check the network, or fetch its files yourself"
    )
    raise ResourceError(
        f"The resource {name!r} cannot be installed: {'; '.join(failures)}. {advice}, and run: "
        f"textveil resources install {name} --from FOLDER"
    )


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


def _there(resource: Resource, folder: Path | None) -> Location | None:
    """Where the resource is with all its files: in the folder asked for, or else in any place."""
    if folder is not None:
        target = folder / resource.name
        return None if missing_files(resource, target) else Location(target, "the folder asked for")
    location = locate(resource.name)
    if location is None or not location.missing:
        return location
    if location.by_variable:  # what we install would not be looked at
        raise broken_error(resource.name, location)
    return None


def _install_from(source: Source, resource: Resource, target: Path, progress: Progress, *, replace: bool) -> None:
    """Fetch, check and record into a folder without a name, then give it its name."""
    fetch = _FETCHERS.load(type(source).__name__)
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
        # Another process was faster, and its resource is whole.


def _checked_hashes(resource: Resource, folder: Path, progress: Progress) -> dict[str, str]:
    """The hashes of all files, once none differs from a pinned one."""
    hashes = {}
    there = [path for path in resource.hashes if (folder / path).is_file()]
    for number, path in enumerate(there, start=1):
        hashes[path] = hash_file(folder / path)
        if resource.hashes[path] not in (None, hashes[path]):
            raise ResourceError(
                f"the file {path!r} has another hash than the pinned one (to use it all the same, set "
                f"{resource.variable} to its folder)"
            )
        progress(f"checking {resource.name}", number, number / len(there))
    return hashes


def _settle(folder: Path) -> None:
    """Let nobody else write, as NLTK refuses what others may have changed, and get it on the disk."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_file():
            with path.open("r+b") as stream:
                os.fsync(stream.fileno())
