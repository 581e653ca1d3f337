"""Resumable runs: the folder of an unfinished output, the settings of its run, and a lock against other runs."""

from __future__ import annotations

import json
import os
import re
import reprlib
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from textveil.errors import InputError, OutputExistsError, ParameterError
from textveil.storage.atomic import make_folder, output_error, strip_unfinished, writing

try:
    import fcntl
except ImportError:  # Windows has no such lock; two runs at the same time are not detected there
    fcntl = None  # type: ignore[assignment]

SETTINGS = "job.json"
"""The settings of the run. A run writes this file before anything else."""
_REMOVAL = "removal.json"
"""The settings of a run that is being removed: proof, after an interruption, that the rest may be removed, too."""
_COMPLETE = "complete.json"
"""The settings and the outcome of a run whose output is complete. It is written before the folder is removed."""


class ResumableRun:
    """The folder ``OUTPUT.partial``, from which an interrupted run resumes. Only the user may enter it.

    Args:
        output: The file or folder that the run writes.
    """

    our_names: ClassVar[re.Pattern[str]] = re.compile(re.escape(SETTINGS))
    """The names of the files and folders that the run writes into its folder. Nothing else is ever removed."""
    makes_folders: ClassVar[bool] = True
    """Whether any of them is a folder."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.folder = output.with_name(output.name + ".partial")

    def exists(self) -> bool:
        """Whether there is a run to resume. If its output is complete, only its folder is left to remove."""
        if (self.folder / _COMPLETE).exists():  # parts are gone, so the settings alone do not suffice
            return self.is_complete()
        return (self.folder / SETTINGS).exists()

    def is_complete(self) -> bool:
        """Whether the output is complete, and the run was interrupted while it removed its folder."""
        return (self.folder / _COMPLETE).exists() and self.output.exists()

    def owns(self, name: str) -> bool:
        """Whether the run writes a file or folder of this name into its folder."""
        name = strip_unfinished(name)
        return name in (SETTINGS, _REMOVAL, _COMPLETE) or self.our_names.fullmatch(name) is not None

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Refuse to start where something would be lost.

        Args:
            resume: Resume an unfinished run, if there is one.
            overwrite: Replace an output, and remove an unfinished run if ``resume`` is not set.

        Raises:
            OutputExistsError: The output, an unfinished run, or a folder that is not from a run is in the way.
        """
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if self.owns(path.name) and not self._may_remove(path):
                raise OutputExistsError(f"{str(path)!r} is not from an unfinished run. Move it away first.")
        if self.exists() and resume:
            return
        if self.output.exists() and not overwrite:
            with suppress(OSError):
                self.folder.rmdir()  # an empty folder: the very end of a removal was interrupted
            finished = " There is nothing to resume: it may be finished." if resume else ""
            raise OutputExistsError(
                f"{str(self.output)!r} exists.{finished} Choose another name, or set `overwrite=True` to replace it."
            )
        if self.exists() and not overwrite:
            raise OutputExistsError(
                f"An earlier run to {str(self.output)!r} is unfinished. Set `resume=True` to resume it, or "
                "`overwrite=True` to start over."
            )
        if self.folder.exists() and not self._may_be_removed():
            raise OutputExistsError(f"{str(self.folder)!r} is not from an unfinished run. Move it away first.")

    def start(
        self, settings: Mapping[str, Any], derive: Callable[[], Mapping[str, Any]], *, resume: bool, overwrite: bool
    ) -> dict[str, Any]:
        """Start a run, or resume one.

        Args:
            settings: The settings that must not change between a run and its resumption.
            derive: Computes, for a new run, values that a resumption uses unchanged.
            resume: Resume an unfinished run, if there is one.
            overwrite: Replace an output, and remove an unfinished run if ``resume`` is not set.

        Returns:
            The settings and the derived values.

        Raises:
            OutputExistsError: See :meth:`check`.
            ParameterError: The unfinished run had other settings.
        """
        self.check(resume=resume, overwrite=overwrite)
        if self.exists() and resume:
            return self._resume(settings)
        job = {**settings, **derive()}
        self.remove()
        make_folder(self.folder, private=True)
        self.write_json(SETTINGS, job)
        return job

    def matches(self, settings: Mapping[str, Any]) -> bool:
        """Whether there is an unfinished run with exactly these settings."""
        try:
            return self.exists() and not _list_changes(self.read_job(), settings)
        except InputError:  # damaged, so there is nothing to resume
            return False

    def _may_be_removed(self) -> bool:
        """Whether the folder is from a run: unfinished, being removed, or interrupted before it wrote its settings.

        Without settings, a subfolder is not the run's: it writes them before it makes any.
        """
        if any((self.folder / name).exists() for name in (SETTINGS, _REMOVAL, _COMPLETE)):
            return True
        return self.folder.is_dir() and all(self.owns(path.name) and path.is_file() for path in self.folder.iterdir())

    def _may_remove(self, path: Path) -> bool:
        """Whether something with a name of ours is of a kind that the run makes."""
        return self.makes_folders or path.is_symlink() or not path.is_dir()

    def _resume(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        job = self.read_job()
        if changes := _list_changes(job, settings):
            raise ParameterError(
                f"The unfinished run to {str(self.output)!r} had other settings: {', '.join(changes)}. "
                "Resume with the same ones, or set `overwrite=True` to start over."
            )
        return job

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs away from the output. The system releases the lock when this process ends for any reason."""
        path = self.output.with_name(f".{self.output.name}.lock")
        lock = self._lock(path)
        try:
            yield
        finally:
            if _is_same_file(path, lock) and path.lstat().st_size == 0:  # otherwise it is the user's file
                path.unlink()
            lock.close()

    def _lock(self, path: Path) -> BinaryIO:
        while True:
            try:
                lock = _open_lock(path)
            except OSError as error:
                raise output_error(self.output, error) from error
            if fcntl is None:
                return lock
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.close()
                raise OutputExistsError(f"Another run is writing {str(self.output)!r} now. Wait for it.") from error
            if _is_same_file(path, lock):
                return lock
            lock.close()  # its owner has just removed it

    def complete(self, outcome: Mapping[str, Any] | None = None) -> None:
        """Remove the folder of a run whose output is complete.

        If this is interrupted, the run can be resumed, and :meth:`read_outcome` has its outcome.

        Args:
            outcome: The values that a resumption needs to report on the run.
        """
        if not self.is_complete():
            self.write_json(_COMPLETE, {"settings": self.read_json(SETTINGS), "outcome": dict(outcome or {})})
        self._remove_all(last=_COMPLETE)

    def remove(self) -> None:
        """Remove the unfinished run: first its settings, so that it cannot be resumed, then everything it owns.

        Files of other origin stay, and so does the folder if there are any.
        """
        if not self.folder.is_dir():
            return
        try:
            for name in (SETTINGS, _COMPLETE):
                if (self.folder / name).exists():
                    (self.folder / name).replace(self.folder / _REMOVAL)
        except OSError as error:
            raise output_error(self.folder, error) from error
        self._remove_all(last=_REMOVAL)

    def _remove_all(self, *, last: str) -> None:
        """Remove everything that the run owns; last the file that says what the rest is from."""
        owned = [
            path
            for path in self.folder.iterdir()
            if self.owns(path.name) and path.name != last and self._may_remove(path)
        ]
        for path in owned:
            _remove(path)
        with suppress(OSError):  # what the system did not let go is removed when the next run starts
            if not any(map(os.path.lexists, owned)):
                (self.folder / last).unlink(missing_ok=True)
            self.folder.rmdir()

    def read_job(self) -> dict[str, Any]:
        """The settings and the derived values of the run to resume."""
        return self._read_complete("settings") if self.is_complete() else self.read_json(SETTINGS)

    def read_outcome(self) -> dict[str, Any] | None:
        """The outcome of a run whose output is complete; ``None`` if there is no such run."""
        return self._read_complete("outcome") if self.is_complete() else None

    def _read_complete(self, member: str) -> dict[str, Any]:
        values = self.read_json(_COMPLETE).get(member)
        if not isinstance(values, dict):
            raise damaged_file(self.folder / _COMPLETE)
        return values

    def read_json(self, name: str) -> dict[str, Any]:
        """Read the values that :meth:`write_json` wrote."""
        try:
            values: dict[str, Any] = dict(json.loads((self.folder / name).read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise damaged_file(self.folder / name) from error
        return values

    def write_json(self, name: str, values: Mapping[str, Any]) -> None:
        """Write values to a file of the folder, all or nothing."""
        with writing(self.folder / name, private=True) as stream:
            stream.write(json.dumps(values, indent=1).encode())


def damaged_file(path: Path) -> InputError:
    """The error for a file of an unfinished run that cannot be read."""
    return InputError(
        f"{str(path)!r}, a part of an unfinished run, cannot be read. Set `overwrite=True` to start over."
    )


def _open_lock(path: Path) -> BinaryIO:
    """Open a lock file, or create it. Links are not followed, and a FIFO or a device is neither awaited nor used.

    Raises:
        OutputExistsError: Something else than a regular file has its name.
    """
    with suppress(FileNotFoundError):
        _check_lock(path, path.lstat())
    # The flags and the second check are for a file that is replaced in between.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        _check_lock(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "ab")
    except BaseException:
        os.close(descriptor)
        raise


def _check_lock(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OutputExistsError(
            f"{str(path)!r} cannot be used as a lock, because it is not a regular file. Remove it, or choose another "
            "output."
        )


def _is_same_file(path: Path, stream: BinaryIO) -> bool:
    """Whether a path, without following links, leads to an open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _list_changes(job: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """The settings that differ from those of a job, each with both values."""
    return [
        f"{name} (was {reprlib.repr(job.get(name))}, now {reprlib.repr(value)})"
        for name, value in _as_read(settings).items()
        if job.get(name) != value
    ]


def _as_read(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON gives them back, with lists for tuples."""
    values: dict[str, Any] = json.loads(json.dumps(dict(settings)))
    return values
