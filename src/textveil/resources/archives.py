"""Extraction of the files of a resource, and only those, from an archive."""

from __future__ import annotations

import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from textveil.errors import ResourceError
from textveil.resources.catalog import Resource

_UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    gzip.BadGzipFile,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # a compression method that Python lacks
    RuntimeError,  # an encrypted member
)


def take(archive: Path, prefix: str, resource: Resource, into: Path) -> None:
    """Extract the files of a resource from a zip or tar archive, in which their names begin with ``prefix``.

    The names of the written files come from the resource, never from the archive, so no member can escape the folder.

    Raises:
        ResourceError: The archive cannot be read, or lacks a file.
    """
    with reading(archive):
        if zipfile.is_zipfile(archive):
            _take_from_zip(archive, prefix, resource, into)
        else:
            _take_from_tar(archive, prefix, resource, into)
    for path in resource.files:
        if not (into / path).is_file():
            raise ResourceError(f"{archive.name} has no file {prefix + path!r}")


@contextmanager
def reading(archive: Path) -> Iterator[None]:
    """Turn the errors of a damaged archive into a ResourceError that names it."""
    try:
        yield
    except _UNREADABLE as error:
        raise ResourceError(f"{archive.name} cannot be read as an archive ({type(error).__name__})") from error


def join_part(archive: Path, member: str, joined: Path) -> None:
    """Append a member of a zip to a larger file that it is a part of."""
    with reading(archive), zipfile.ZipFile(archive) as opened:
        if member not in opened.namelist():
            raise ResourceError(f"{archive.name} has no file {member!r}")
        with opened.open(member) as stream, joined.open("ab") as whole:
            shutil.copyfileobj(stream, whole, 1 << 20)


def _take_from_zip(archive: Path, prefix: str, resource: Resource, into: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
        for path in resource.hashes:
            if prefix + path in names:
                with opened.open(prefix + path) as stream:
                    write_stream(stream, into / path)


def _take_from_tar(archive: Path, prefix: str, resource: Resource, into: Path) -> None:
    wanted = {prefix + path: path for path in resource.hashes}
    with tarfile.open(archive) as opened:
        for member in opened:  # in file order, so that the archive is decompressed once
            stream = opened.extractfile(member) if member.isfile() and member.name in wanted else None
            if stream is not None:
                write_stream(stream, into / wanted[member.name])


def write_stream(stream: IO[bytes], path: Path) -> None:
    """Write a stream to a new file and create its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
