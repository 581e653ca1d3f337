"""Resumable work on a corpus: tasks that are done once, and runs that know their corpus by the SHA-256 of its files."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textveil.errors import InputError, TextveilError
from textveil.execution import Executor
from textveil.lab.corpus.inputs import Block, Corpus, InputFile
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import make_folder, put_folder, writing, writing_folder
from textveil.storage.resumable import SETTINGS, ResumableRun, damaged_file
from textveil.tables.compression import strip_suffix
from textveil.version import __version__

_HASHES = "hashes"
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


@contextmanager
def loading(path: Path) -> Iterator[None]:
    """Refuse a file of an unfinished run that cannot be read."""
    try:
        yield
    except (OSError, ValueError, EOFError, KeyError, TypeError, AttributeError) as error:
        raise damaged_file(path) from error


def save_json(path: Path, values: Any) -> None:
    """Write values to a file of an unfinished run."""
    with writing(path) as stream:
        stream.write(json.dumps(values).encode())


def load_json(path: Path) -> Any:
    """Read the values that :func:`save_json` wrote."""
    with loading(path):
        return json.loads(path.read_bytes())


def save_arrays(folder: Path, arrays: Mapping[str, npt.NDArray[Any]], description: Any = None) -> None:
    """Write arrays to a folder, which appears when it is complete."""
    with writing_folder(folder) as unfinished:
        (unfinished / "description.json").write_text(json.dumps(description), encoding="utf-8")
        for name, array in arrays.items():
            np.save(unfinished / f"{name}.npy", array, allow_pickle=False)


def load_arrays(folder: Path) -> tuple[dict[str, npt.NDArray[Any]], Any]:
    """The arrays, memory-mapped, and the description that :func:`save_arrays` wrote."""
    with loading(folder):
        paths = sorted(folder.glob("*.npy"))
        arrays = {path.stem: np.load(path, mmap_mode="r", allow_pickle=False) for path in paths}
        return arrays, json.loads((folder / "description.json").read_bytes())


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work that any worker can do. If it is done twice, it writes the same files again.

    Args:
        output: The file that completes the task. It is written last.
        size: The share of the task in the work, for progress.
        work: Writes the output; the amount of what was done, as progress counts it, or ``None`` if that is the size.
    """

    output: Path
    size: int
    work: Callable[[Path], int | None]


def do_task(task: Task) -> tuple[int, int]:
    """Run a task on any worker, and then release its memory; its size and the amount of what was done."""
    if not task.output.parent.is_dir():
        raise InputError(f"A worker cannot see {str(task.output.parent)!r}. Put `output` where all machines see it.")
    try:
        amount = task.work(task.output)
        return task.size, task.size if amount is None else amount
    finally:
        release_memory()


def release_memory() -> None:
    """Return freed memory to the system. By default, the C library and Arrow would keep it."""
    pa.default_memory_pool().release_unused()
    if _TRIM is not None:
        _TRIM(0)


@dataclass(frozen=True, slots=True)
class Reading:
    """A corpus, the workers that read it, and the function that is told about their progress.

    Args:
        corpus: The corpus.
        executor: Where the work runs.
        progress: Is told about the progress.
        workers: The number of workers for which the corpus is divided into blocks; by default, those of the executor.
    """

    corpus: Corpus
    executor: Executor
    progress: Progress = ignore_progress
    workers: int | None = None

    def run(
        self, stage: str, tasks: Iterable[Task], total: int, recall: Callable[[Path], int] | None = None
    ) -> list[Path]:
        """Do the tasks that are not finished, and report progress.

        Args:
            stage: The name of the stage for progress.
            tasks: All tasks.
            total: The sum of their sizes; 0 if it is not known.
            recall: The amount of a task that was finished earlier, from its output; by default, the size.

        Returns:
            The outputs of all tasks, in order.
        """
        outputs: list[Path] = []
        done = amount = 0

        def list_missing() -> Iterator[Task]:
            nonlocal done, amount
            for task in tasks:
                outputs.append(task.output)
                if task.output.exists():  # progress resumes where it was
                    done, amount = done + task.size, amount + (recall(task.output) if recall else task.size)
                else:
                    yield task

        for size, found in self.executor.map(do_task, list_missing()):
            done, amount = done + size, amount + found
            self.progress(stage, amount, min(1.0, done / total) if total else None)
        return outputs

    def run_blocks(
        self,
        stage: str,
        folder: Path,
        work: Callable[[Block, Path], int | None],
        *,
        suffix: str = ".json",
        recall: Callable[[Path], int] | None = None,
    ) -> list[Path]:
        """Do a task for every block of the corpus, as far as they are not finished.

        Args:
            stage: The name of the stage for progress.
            folder: The folder of the outputs, which have the names of blocks.
            work: Writes an output from a block.
            suffix: The suffix of an output.
            recall: See :meth:`run`.

        Returns:
            The outputs of all blocks, in order.
        """
        make_folder(folder)
        blocks = self.corpus.blocks(self.workers or self.executor.workers)
        tasks = (Task(folder / (name + suffix), block.size, partial(work, block)) for name, block in blocks)
        return self.run(stage, tasks, self.corpus.size, recall)


def write_hash(file: InputFile, output: Path) -> int:
    """Write the SHA-256 of a file of the corpus. Progress counts files."""
    save_json(output, file.hash())
    return 1


class CorpusRun(ResumableRun):
    """The folder of an unfinished run that reads a corpus.

    All files are hashed before anything else is done with them::

        hashes/000000.json      the SHA-256 of the first file

    A run resumes if paths, sizes and modification times are as before. Where a path or a time differs, the SHA-256
    decides.
    """

    def owns(self, name: str) -> bool:
        """Whether the run writes a file or folder of this name into its folder."""
        return name == _HASHES or super().owns(name)

    def write(
        self,
        reading: Reading,
        settings: Mapping[str, Any],
        build: Callable[[Reading, dict[str, Any]], Path],
        *,
        overwrite: bool,
        derive: Callable[[], Mapping[str, Any]] = dict,
        is_worth_keeping: Callable[[TextveilError], bool] = lambda _: True,
    ) -> None:
        """Write the output, or resume an unfinished run; see :meth:`begin`.

        Args:
            reading: The corpus, and how to read it.
            settings: The other settings that must not change between a run and its resumption.
            build: Builds the output in the folder of the run, from the corpus with its hashes and from all settings.
                The corpus is divided for as many workers as at the start of the run.
            overwrite: Replace an output, and start over if settings or corpus differ.
            derive: Computes, for a new run, further values that a resumption uses unchanged.
            is_worth_keeping: Whether a resumption would save work after an error.
        """
        with self.locked():
            settings = {"textveil": __version__, **settings}
            workers = {"workers": reading.executor.workers}
            job = self.begin(reading, settings, lambda: {**workers, **derive()}, overwrite=overwrite)
            if not self.is_complete():
                try:
                    corpus = self.hash_files(reading)
                    finished = build(replace(reading, corpus=corpus, workers=int({**workers, **job}["workers"])), job)
                except TextveilError as error:
                    if not is_worth_keeping(error):
                        self.remove()
                    raise
                put_folder(finished, self.output)
            self.complete()

    def begin(
        self,
        reading: Reading,
        settings: Mapping[str, Any],
        derive: Callable[[], Mapping[str, Any]],
        *,
        overwrite: bool,
    ) -> dict[str, Any]:
        """Start a run, or resume an unfinished one that had the same settings and the same corpus.

        Returns:
            The settings and the derived values.
        """
        described = reading.corpus.describe()
        known = {**settings, **described, "files": self._recognize(reading, described["files"])}
        resume = not overwrite or self.matches(known)
        job = self.start(known, derive, resume=resume, overwrite=overwrite)
        if job["files"] != described["files"] and not self.is_complete():
            # so that the next resumption need not hash them
            job = {**job, "files": described["files"]}
            self.write_json(SETTINGS, job)
        return job

    def hash_files(self, reading: Reading) -> Corpus:
        """The corpus with the SHA-256 of every file; only those that are not known yet are computed."""
        files = reading.corpus.files
        if all(file.sha256 for file in files):
            return reading.corpus
        make_folder(self.folder / _HASHES)
        reading.progress("hashing files", 0, 0.0)
        tasks = (Task(self._find_hash(n), file.size, partial(write_hash, file)) for n, file in enumerate(files))
        hashes = reading.run("hashing files", tasks, reading.corpus.size, lambda _: 1)
        return reading.corpus.add_hashes(list(map(load_json, hashes)))

    def _recognize(self, reading: Reading, files: list[list[Any]]) -> list[list[Any]]:
        """The descriptions of files; those that the run knows by another path or time are described as they were."""
        try:
            recorded = self.read_job().get("files") if self.exists() else None
        except InputError:  # whoever resumes the run will say so
            recorded = None
        if not isinstance(recorded, list) or len(recorded) != len(files):
            return files
        moved = {
            number: before[3]
            for number, (before, now) in enumerate(zip(recorded, files, strict=True))
            if before != now and _may_be_same(before, now)
        }
        same = self._compare_hashes(reading, moved)
        return [recorded[number] if number in same else file for number, file in enumerate(files)]

    def _compare_hashes(self, reading: Reading, recorded: Mapping[int, str | None]) -> set[int]:
        """The numbers of files whose SHA-256 is as recorded, in the settings or by this run.

        A file without a recorded SHA-256 has not been read, so it counts as the same.
        """
        same: set[int] = set()
        for done, (number, sha256) in enumerate(recorded.items(), start=1):
            place = self._find_hash(number)
            expected = sha256 or (load_json(place) if place.exists() else None)
            if expected is None or reading.corpus.files[number].hash() == expected:
                same.add(number)
            reading.progress("hashing files", done, done / len(recorded))
        return same

    def _find_hash(self, number: int) -> Path:
        return self.folder / _HASHES / f"{number:06}.json"


def _may_be_same(before: Sequence[Any], now: Sequence[Any]) -> bool:
    """Whether two descriptions may be of the same file: with the same size, format and compression."""
    if len(before) != len(now):  # from another version
        return False
    return bool(before[1] == now[1]) and _find_suffixes(before[0]) == _find_suffixes(now[0])


def _find_suffixes(path: str) -> tuple[str, str]:
    """The suffixes that tell the format and the compression."""
    return strip_suffix(Path(path)).suffix.lower(), Path(path).suffix.lower()
