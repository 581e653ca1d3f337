"""Copying of a resource from a local folder or archive."""

from __future__ import annotations

from pathlib import Path

from textveil.errors import ResourceError
from textveil.progress import Progress
from textveil.resources.archives import take, write_stream
from textveil.resources.catalog import LocalCopy, Resource
from textveil.resources.lookup import missing_files


def fetch(source: LocalCopy, resource: Resource, into: Path, _work: Path, progress: Progress) -> None:
    """Copy the files of a resource, and only those.

    Raises:
        ResourceError: A file is missing or cannot be read.
    """
    folder = source.path
    if folder.is_file() and resource.nltk_path is not None:
        take(folder, f"{resource.nltk_path.rpartition('/')[2]}/", resource, into)
        return
    if not folder.is_dir():
        raise ResourceError(f"{str(folder)!r} is not a folder")
    missing = missing_files(resource, folder)
    if missing:
        raise ResourceError(f"{str(folder)!r} lacks {missing[0]!r}")
    present = [path for path in resource.hashes if (folder / path).is_file()]
    for number, path in enumerate(present, start=1):
        try:
            stream = (folder / path).open("rb")
        except OSError as error:
            raise ResourceError(f"{str(folder / path)!r} cannot be read ({error.strerror})") from error
        with stream:
            write_stream(stream, into / path)
        progress(f"copying {resource.name}", number, number / len(present))
