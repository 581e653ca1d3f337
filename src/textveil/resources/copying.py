"""Taking a resource from a folder that the user names."""

from __future__ import annotations

from pathlib import Path

from textveil.errors import ResourceError
from textveil.progress import Progress
from textveil.resources.archives import write_stream
from textveil.resources.places import missing_files
from textveil.resources.resource import LocalFolder, Resource


def fetch(source: LocalFolder, resource: Resource, into: Path, _work: Path, progress: Progress) -> None:
    """Copy the files of a resource, and nothing else of the folder.

    Raises:
        ResourceError: The folder lacks a file, or one cannot be read.
    """
    folder = source.path
    if not folder.is_dir():
        raise ResourceError(f"{str(folder)!r} is not a folder")
    missing = missing_files(resource, folder)
    if missing:
        raise ResourceError(f"{str(folder)!r} lacks {missing[0]!r}")
    there = [path for path in resource.hashes if (folder / path).is_file()]
    for number, path in enumerate(there, start=1):
        try:
            stream = (folder / path).open("rb")
        except OSError as error:
            raise ResourceError(f"{str(folder / path)!r} cannot be read ({error.strerror})") from error
        with stream:
            write_stream(stream, into / path)
        progress(f"copying {resource.name}", number, number / len(there))
