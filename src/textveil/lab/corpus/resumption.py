"""Resumable runs that read a corpus: every file is hashed once, and files with the same SHA-256 are the same corpus."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.errors import InputError
from textveil.execution import Executor
from textveil.lab.corpus.counting.parts import HashTask, Mark, run_tasks
from textveil.lab.corpus.inputs import Corpus, InputFile
from textveil.progress import Progress, ignore_progress
from textveil.storage.atomic import make_folder
from textveil.storage.resumable import SETTINGS, ResumableRun
from textveil.tables.compression import strip_suffix

_HASHES = "hashes"


@dataclass(frozen=True, slots=True)
class Reading:
    """A corpus, the workers that read it, and the function that is told about their progress."""

    corpus: Corpus
    executor: Executor
    progress: Progress = ignore_progress


class CorpusRun(ResumableRun):
    """The folder of an unfinished run that reads a corpus.

    All files are hashed before anything else is done with them::

        hashes/000000.json      mark of the first file: its SHA-256

    A run resumes if paths, sizes and modification times are as before. Where a path or a time differs, the SHA-256
    decides.
    """

    def owns(self, name: str) -> bool:
        """Whether the run writes a file or folder of this name into its folder."""
        return name == _HASHES or super().owns(name)

    def begin(
        self,
        reading: Reading,
        settings: Mapping[str, Any],
        derive: Callable[[], Mapping[str, Any]],
        *,
        overwrite: bool,
    ) -> dict[str, Any]:
        """Start a run, or resume an unfinished one that had the same settings and the same corpus.

        Args:
            reading: The corpus, and how to hash it if that is needed.
            settings: The other settings that must not change between a run and its resumption.
            derive: Computes, for a new run, values that a resumption uses unchanged.
            overwrite: Replace an output, and start over if settings or corpus differ.

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
        if all(file.sha256 for file in reading.corpus.files):
            return reading.corpus
        marks = [self._find_mark(number) for number in range(len(reading.corpus.files))]
        return reading.corpus.add_hashes(_hash(reading.corpus.files, marks, reading))

    def _recognize(self, reading: Reading, files: list[list[Any]]) -> list[list[Any]]:
        """The descriptions of files; those that the run knows by another path or time are described as they were."""
        try:
            recorded = self.read_job().get("files") if self.exists() else None
        except InputError:  # whoever resumes the run will say so
            recorded = None
        if not isinstance(recorded, list) or len(recorded) != len(files):
            return files
        moved = [
            number
            for number, (before, now) in enumerate(zip(recorded, files, strict=True))
            if before != now and _may_be_same(before, now)
        ]
        same = self._compare_hashes(reading, {number: recorded[number][3] for number in moved})
        return [recorded[number] if number in same else file for number, file in enumerate(files)]

    def _compare_hashes(self, reading: Reading, recorded: Mapping[int, str | None]) -> set[int]:
        """The numbers of files whose SHA-256 is as recorded, in the settings or in a mark.

        A file without a recorded SHA-256 has not been read, so it counts as the same.
        """
        marks = {number: self._find_mark(number) for number in recorded}
        expected = {
            number: sha256 or (Mark.load(marks[number]).digest if marks[number].exists() else None)
            for number, sha256 in recorded.items()
        }
        compared = [number for number, sha256 in expected.items() if sha256]
        folder = self.folder / _HASHES / "again"
        found = _hash(
            [reading.corpus.files[number] for number in compared],
            [folder / marks[number].name for number in compared],
            reading,
        )
        shutil.rmtree(folder, ignore_errors=True)
        different = {number for number, sha256 in zip(compared, found, strict=True) if sha256 != expected[number]}
        return recorded.keys() - different

    def _find_mark(self, number: int) -> Path:
        return self.folder / _HASHES / f"{number:06}.json"


def _hash(files: Sequence[InputFile], marks: Sequence[Path], reading: Reading) -> list[str]:
    """The SHA-256 of every file, which a mark on disk has as soon as it is computed."""
    if not files:
        return []
    make_folder(marks[0].parent)
    size = sum(file.size for file in files)
    read = 0
    reading.progress("hashing files", 0, 0.0)
    tasks = ((mark, HashTask(file, mark)) for file, mark in zip(files, marks, strict=True))
    for done, mark in enumerate(run_tasks(reading.executor, tasks), start=1):
        read += mark.size
        reading.progress("hashing files", done, read / size if size else 1.0)
    return [Mark.load(mark).digest for mark in marks]


def _may_be_same(before: Sequence[Any], now: Sequence[Any]) -> bool:
    """Whether two descriptions may be of the same file: with the same size, format and compression."""
    if len(before) != len(now):  # from another version
        return False
    return bool(before[1] == now[1]) and _find_suffixes(before[0]) == _find_suffixes(now[0])


def _find_suffixes(path: str) -> tuple[str, str]:
    """The suffixes that tell the format and the compression."""
    return strip_suffix(Path(path)).suffix.lower(), Path(path).suffix.lower()
