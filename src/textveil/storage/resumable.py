"""The folder of an unfinished output: the settings of the run, and a lock that keeps other runs away."""

from __future__ import annotations

import json
import os
import re
import reprlib
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.storage.atomic import output_error, writing

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps a second run away
    fcntl = None  # type: ignore[assignment]

_JOB = "job.json"


class ResumableRun:
    """The folder ``OUTPUT.partial``, from which a killed run goes on.

    Args:
        output: The file or folder that the run is to write.
    """

    our_names: ClassVar[re.Pattern[str]] = re.compile(r"job\.json|\..*\.unfinished")
    """What a run puts into the folder; a folder with anything else in it is not removed."""
    how_to_resume: ClassVar[str] = "with --resume"

    def __init__(self, output: Path) -> None:
        self.output = output
        self.folder = output.with_name(output.name + ".partial")

    def exists(self) -> bool:
        """Whether an earlier run left something to go on from."""
        return (self.folder / _JOB).exists()

    def start(
        self, settings: Mapping[str, Any], derive: Callable[[], Mapping[str, Any]], *, resume: bool, overwrite: bool
    ) -> dict[str, Any]:
        """Begin a run, or go on with one; its settings, and what was derived from them when it began.

        Args:
            settings: What must not change between a run and its resumption.
            derive: Works out, for a new run, what a resumption is to use unchanged.
            resume: Go on with an unfinished run, if there is one.
            overwrite: Replace an output, and forget an unfinished run unless ``resume`` is set.

        Raises:
            OutputExistsError: The output exists, or an unfinished run of it, and neither flag allows to go on.
        """
        if self.exists() and resume:
            return self._go_on(settings)
        if self.output.exists() and not overwrite:
            finished = " There is nothing to resume: it may be finished." if resume else ""
            raise OutputExistsError(
                f"{str(self.output)!r} exists.{finished} Choose another name, or replace it with --overwrite."
            )
        if self.exists() and not overwrite:
            raise OutputExistsError(
                f"An earlier run to {str(self.output)!r} is unfinished. Go on {self.how_to_resume}, or start over with "
                "--overwrite."
            )
        if self.folder.exists() and not self._is_ours():
            raise OutputExistsError(f"{str(self.folder)!r} is not from an unfinished run. Move it away first.")
        job = {**settings, **derive()}
        self.remove()
        for left in self.folder.parent.glob(f".{self.folder.name}.*.removed"):  # by a run that was killed meanwhile
            shutil.rmtree(left, ignore_errors=True)
        try:
            self.folder.mkdir()
        except OSError as error:
            raise output_error(self.folder, error) from error
        self.write_json(_JOB, job)
        return job

    def matches(self, settings: Mapping[str, Any]) -> bool:
        """Whether an earlier run with the very same settings left something to go on from."""
        if not self.exists():
            return False
        job = self.read_json(_JOB)
        return all(job.get(name) == value for name, value in _as_read(settings).items())

    def _is_ours(self) -> bool:
        """Whether the folder holds nothing but what a run puts there, and so may be removed."""
        return self.folder.is_dir() and all(self.our_names.fullmatch(path.name) for path in self.folder.iterdir())

    def _go_on(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        job = self.read_json(_JOB)
        changed = [
            f"{name} (was {reprlib.repr(job.get(name))}, now {reprlib.repr(value)})"
            for name, value in _as_read(settings).items()
            if job.get(name) != value
        ]
        if changed:
            raise ParameterError(
                f"The unfinished run to {str(self.output)!r} had other settings: {', '.join(changed)}. "
                "Resume with the same ones, or start over with --overwrite."
            )
        return job

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs away from the output; the system lifts the lock when this one ends, however it ends."""
        path = self.output.with_name(f".{self.output.name}.lock")
        lock = self._lock(path)
        try:
            yield
        finally:
            if path.exists() and path.stat().st_size == 0:  # otherwise it is a file of the user's
                path.unlink()
            lock.close()

    def _lock(self, path: Path) -> BinaryIO:
        while True:
            try:
                lock = path.open("ab")
            except OSError as error:
                raise output_error(self.output, error) from error
            if fcntl is None:
                return lock
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.close()
                raise OutputExistsError(f"Another run is writing {str(self.output)!r} now. Wait for it.") from error
            if path.exists() and path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                return lock
            lock.close()  # its owner has just removed it

    def remove(self) -> None:
        """Forget the unfinished run: at once by name, then file by file."""
        if self.folder.exists():
            removed = self.folder.with_name(f".{self.folder.name}.{secrets.token_hex(4)}.removed")
            try:
                self.folder.rename(removed)
            except OSError as error:
                raise output_error(self.folder, error) from error
            shutil.rmtree(removed, ignore_errors=True)

    def read_json(self, name: str) -> dict[str, Any]:
        """What an earlier :meth:`write_json` wrote."""
        try:
            values: dict[str, Any] = dict(json.loads((self.folder / name).read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"The unfinished run in {str(self.folder)!r} cannot be read. Start over with --overwrite."
            ) from error
        return values

    def write_json(self, name: str, values: Mapping[str, Any]) -> None:
        """Put values on the disk, all or nothing."""
        with writing(self.folder / name) as stream:
            stream.write(json.dumps(values, indent=1).encode())


def _as_read(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they would be read again, with lists for tuples."""
    values: dict[str, Any] = json.loads(json.dumps(dict(settings)))
    return values
