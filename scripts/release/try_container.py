"""Do the steps of the Dockerfile without an engine: in an empty environment of a temporary folder.

    python -m scripts.release.try_container

The steps are read from the Dockerfile. Its absolute paths lead into the temporary folder. Only an engine can check the
rest: the base image, the limits of compose.yaml, and the user if other users cannot run this Python.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scripts.release.try_wheel import list_heavy

ROOT = Path(__file__).parents[2]
SECONDS = 180
_STEP = re.compile(r"^([A-Z]+)\s+(.+)$")
_PATH = re.compile(r"(?<![\w./:-])/(?=(?:source|opt|run|tmp)\b)")


def read_steps(dockerfile: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with their arguments.

    Raises:
        ValueError: A line is neither a comment nor an instruction on one line.
    """
    steps = []
    for line in dockerfile.splitlines():
        if line.strip() and not line.startswith("#"):
            found = _STEP.match(line)
            if found is None or line.endswith("\\"):
                raise ValueError(f"Not an instruction on one line: {line!r}")
            steps.append((found[1], found[2]))
    return steps


@dataclass
class Container:
    """A folder in which the steps of a Dockerfile are done.

    Args:
        folder: The folder.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    work: Path = Path()
    user: int | None = None
    health: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def take(self, instruction: str, text: str) -> None:
        """Do a step."""
        take = getattr(self, f"_take_{instruction.lower()}", None)
        if take is None:
            raise ValueError(f"This script cannot do {instruction}.")
        take(_PATH.sub(f"{self.folder}/", text))

    def _take_from(self, _: str) -> None:
        # Nothing of this checkout, of the user or of another environment may help.
        python = self.folder / "bin" / "python"
        if not python.exists():
            python.parent.mkdir()
            python.symlink_to(sys.executable)
        path = f"{python.parent}{os.pathsep}{os.defpath}"
        self.environment = {"PATH": path, "LANG": "C.UTF-8", "HOME": "/nonexistent"}
        self.work = self.folder / "work"

    def _take_workdir(self, path: str) -> None:
        self.work = Path(path)
        self.work.mkdir(parents=True)

    def _take_copy(self, text: str) -> None:
        *sources, target = text.split()
        if sources[0].startswith("--from="):
            return  # all stages have the same folder
        for source in sources:
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, self.work / target, ignore=ignored)
            else:
                shutil.copy(ROOT / source, self.work / target)

    def _take_run(self, command: str) -> None:
        subprocess.run(["sh", "-c", command], cwd=self.work, env=self.environment, check=True)

    def _take_env(self, text: str) -> None:
        name, _, value = text.partition("=")
        self.environment[name] = value.replace("$PATH", self.environment["PATH"])

    def _take_user(self, user: str) -> None:
        self.user = int(user)

    def _take_expose(self, _: str) -> None:
        pass

    def _take_healthcheck(self, text: str) -> None:
        self.health = json.loads(text.partition("CMD ")[2])

    def _take_cmd(self, text: str) -> None:
        self.command = json.loads(text)

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """Start a command as the container would."""
        program = shutil.which(command[0], path=self.environment["PATH"]) or command[0]
        user = self.user if os.geteuid() == 0 and self._is_readable() else None
        return subprocess.Popen(
            [program, *command[1:]], cwd=self.work, env=self.environment, user=user, group=user, stderr=subprocess.PIPE
        )

    def _is_readable(self) -> bool:
        """Whether other users than this one can run this Python."""
        return all(folder.stat().st_mode & 1 for folder in Path(sys.executable).resolve().parents)

    def is_healthy(self) -> bool:
        """Whether the health check succeeds."""
        with self.start(self.health) as check:
            check.communicate()
        return check.returncode == 0

    def list_written(self) -> set[tuple[Path, int]]:
        """All files outside of /tmp with the times of their last change."""
        found = (path for path in self.folder.rglob("*") if self.folder / "tmp" not in path.parents)
        return {(path, path.lstat().st_mtime_ns) for path in found if not path.is_dir()}


def try_container(dockerfile: str) -> Iterator[str]:
    """What is wrong with a container that is made by the steps of a Dockerfile."""
    with tempfile.TemporaryDirectory(prefix="textveil-container-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        for below, mode in (("work", 0o555), ("tmp", 0o777), ("run", 0o755), ("run/secrets", 0o755)):
            (folder / below).mkdir()
            (folder / below).chmod(mode)
        container = Container(folder)
        for step in read_steps(dockerfile):
            container.take(*step)
        for package in list_heavy(folder / "opt" / "textveil"):
            yield f"The container has {package}, which belongs to another extra."
        token = folder / "run" / "secrets" / "textveil-token"
        token.write_text(secrets.token_urlsafe())
        token.chmod(0o444)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = container.environment["TEXTVEIL_SERVE_PORT"] = str(free.getsockname()[1])
        if container.is_healthy():
            yield "The health check succeeds although nothing runs."
        before = container.list_written()
        yield from _try_service(container, f"http://127.0.0.1:{port}", token.read_text())
        for path, _ in container.list_written() - before:
            yield f"The service wrote {path.relative_to(folder)}, which is read-only in a container."


def _try_service(container: Container, address: str, token: str) -> Iterator[str]:
    service = container.start(container.command)
    try:
        end = time.monotonic() + SECONDS
        while not container.is_healthy() and service.poll() is None and time.monotonic() < end:
            time.sleep(1)
        if not container.is_healthy():
            yield "The service does not become healthy."
            return
        for given, expected in ((None, 401), (token, 200)):
            status = _obfuscate(address, given)
            if status != expected:
                yield f"A request {'without' if given is None else 'with'} the token was answered with {status}."
    finally:
        service.terminate()
        _, log = service.communicate(timeout=SECONDS)
        if service.returncode != 0:
            print(log.decode(), file=sys.stderr)
    if service.returncode != 0:
        yield f"The service ended with the code {service.returncode}."


def _obfuscate(address: str, token: str | None) -> int:
    headers = {"Content-Type": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    request = urllib.request.Request(  # noqa: S310 # our own address
        f"{address}/obfuscate", b'{"text": "The soup was cold."}', headers
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 # see above
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def main() -> None:
    """Print what is wrong, or that nothing is."""
    problems = list(try_container((ROOT / "Dockerfile").read_text(encoding="utf-8")))
    if problems:
        sys.exit("\n".join(problems))
    print("The steps of the Dockerfile give a service that is healthy, needs its token, and writes nothing")


if __name__ == "__main__":
    main()
