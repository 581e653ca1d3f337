"""Download of an archive from a web server."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.errors import ResourceError
from textveil.progress import Progress
from textveil.resources.archives import take
from textveil.resources.catalog import Resource, WebArchive
from textveil.resources.watching import report_bytes
from textveil.storage.atomic import hash_file

TIMEOUT = 15.0
"""Seconds without data after which a download fails."""


def fetch(source: WebArchive, resource: Resource, into: Path, work: Path, progress: Progress) -> None:
    """Download an archive, check its hash if one is pinned, and extract the files.

    Raises:
        ResourceError: The server does not answer, or the hash of the archive differs.
    """
    archive = work / source.url.rpartition("/")[2]
    _download(source.url, archive, resource, progress)
    if source.sha256 is not None and hash_file(archive) != source.sha256:
        raise ResourceError(f"the hash of {archive.name} differs from the pinned one")
    take(archive, source.prefix, resource, into)


def check_reachable(url: str) -> None:
    """Check that a server answers.

    Raises:
        ResourceError: It does not answer.
    """
    with _reaching(url):
        try:
            urllib.request.urlopen(url, timeout=TIMEOUT).close()  # noqa: S310
        except urllib.error.HTTPError as answer:  # an error status is an answer, too
            answer.close()


def _download(url: str, path: Path, resource: Resource, progress: Progress) -> None:
    request = urllib.request.Request(url)  # noqa: S310 # https, from the catalog
    with _reaching(url):
        answer: Any = urllib.request.urlopen(request, timeout=TIMEOUT)  # noqa: S310
    done = 0
    with answer, path.open("wb") as stream:
        promised = answer.headers.get("Content-Length")
        size = int(promised or resource.size)
        while True:
            with _reaching(url):
                block = answer.read(1 << 18)
            if not block:
                break
            stream.write(block)
            done += len(block)
            report_bytes(progress, resource.name, done, size)
    if promised is not None and done != size:
        raise ResourceError(f"{url} cannot be downloaded (the connection broke after {done:,} of {size:,} bytes)")


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Turn network errors into a ResourceError that names the address."""
    try:
        yield
    except (OSError, ValueError, http.client.HTTPException) as error:  # ValueError: not a valid address
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or error
        raise ResourceError(f"{url} cannot be downloaded ({reason})") from error
