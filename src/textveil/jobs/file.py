"""Obfuscating one file into another, in parts, so that an interrupted run resumes."""

from __future__ import annotations

import functools
import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from textveil.budget import Budget
from textveil.certificate import Tally
from textveil.errors import InputError, OutputExistsError, TextveilError
from textveil.execution import Executor
from textveil.jobs.options import JobOptions, JobReport, ObfuscatesTexts
from textveil.jobs.workers import Workers, Workplace, obfuscate_rows, read_texts, write_rows
from textveil.progress import Progress, ignore_progress
from textveil.results import Obfuscation
from textveil.storage.atomic import output_error, sync_folder, writing
from textveil.storage.resumable import ResumableRun
from textveil.tables import FileSource, Rows, Table
from textveil.tables.compression import compressing
from textveil.tables.identifying import pointing_out


class History:
    """The rows done so far: their number, and a keyed hash that detects changes.

    Args:
        table: The table that reads the rows.
        key: The secret key of the run. Without it, a mark cannot confirm a guessed row.
    """

    def __init__(self, table: Table, key: bytes) -> None:
        self.rows = 0
        self.table = table
        self.key = key
        self._digest = hmac.new(key, digestmod="sha256")

    def add(self, rows: Rows) -> None:
        """Count these rows as done."""
        if self.rows == 0:
            self._digest.update(self.table.describe_head().encode("utf-8", "surrogatepass"))
        self.rows += rows.size
        for row in self.table.describe_rows(rows):
            self._digest.update(f"{len(row)}:{row}".encode("utf-8", "surrogatepass"))

    def as_dict(self) -> dict[str, Any]:
        """The number of rows and the first digits of the hash."""
        return {"rows": self.rows, "digest": self._digest.hexdigest()[:8]}

    def skip(self, batches: Iterator[Rows], marks: Sequence[Mapping[str, Any]]) -> Iterator[Rows]:
        """The rows after those that an earlier run has done, which must be unchanged."""
        done = marks[-1] if marks else {"rows": 0}
        while self.rows < done["rows"]:
            rows = next(batches, None)
            if rows is None:
                raise InputError(
                    f"{self.table.source} is shorter than when the run began. Start over with `overwrite=True`."
                )
            known, rest = rows.split(min(rows.size, done["rows"] - self.rows))
            self.add(known)
            if rest.size:
                batches = chain([rest], batches)
        if marks and self.as_dict()["digest"] != done["digest"]:
            raise InputError(
                f"{self.table.source} has changed in rows that are done already. Start over with `overwrite=True`."
            )
        yield from batches


_FINAL = "final"
_FINAL_MARK = "final.json"


class Partial(ResumableRun):
    """The folder of an unfinished file of rows.

    Args:
        output: The file that the run writes.
        source: The file that it reads. The output is never more readable.
    """

    our_names = re.compile(r"job\.json|final(\.json)?|\d{6}\.(part|json)")
    makes_folders = False

    def __init__(self, output: Path, source: Path | None = None) -> None:
        super().__init__(output)
        self._source = source

    def load_marks(self) -> list[dict[str, Any]]:
        """The marks of the finished parts, in order."""
        marks: list[dict[str, Any]] = []
        while (path := self._path(len(marks), "json")).exists():
            marks.append(self.read_json(path.name))
        return marks

    @contextmanager
    def writing_part(self, number: int) -> Iterator[BinaryIO]:
        """Write a part; it counts once :meth:`mark` is called for it."""
        with writing(self._path(number, "part"), private=True) as stream:
            yield stream

    def mark(self, number: int, mark: Mapping[str, Any]) -> None:
        """Record that a part is complete."""
        self.write_json(self._path(number, "json").name, mark)

    def finish(
        self,
        parts: int,
        merge: Callable[[Iterator[BinaryIO], BinaryIO], None],
        totals: Mapping[str, Any],
        *,
        overwrite: bool,
    ) -> None:
        """Join the parts under the name of the output; the totals stay until :meth:`complete`."""
        final = self.folder / _FINAL
        with writing(final, like=self._source) as target:
            merge(self._open_parts(parts), target)
        if self.output.exists() and not overwrite:
            raise OutputExistsError(
                f"{str(self.output)!r} appeared during the run. Move it away and run again with `resume=True`, "
                "or replace it with `resume=True` and `overwrite=True`."
            )
        self.write_json(_FINAL_MARK, totals)
        try:
            final.replace(self.output)
        except OSError as error:
            raise output_error(self.output, error) from error
        sync_folder(self.output.parent)

    def load_totals(self) -> dict[str, Any] | None:
        """The totals of a run that wrote its output and was interrupted only during the clean-up."""
        if (outcome := self.read_outcome()) is not None:
            return outcome
        renamed = (self.folder / _FINAL_MARK).exists() and not (self.folder / _FINAL).exists()
        return self.read_json(_FINAL_MARK) if renamed and self.output.exists() else None

    def _open_parts(self, count: int) -> Iterator[BinaryIO]:
        for number in range(count):
            with self._path(number, "part").open("rb") as stream:
                yield stream

    def _path(self, number: int, suffix: str) -> Path:
        return self.folder / f"{number:06}.{suffix}"


PART_SECONDS = 5.0
"""About how much work an interrupted run loses at most."""
_DIGEST_KEY = "digest key"
"""The setting of a run with its secret key: that of its digests and, with a ledger, of its noise."""


@dataclass(frozen=True, slots=True)
class FileJob:
    """Obfuscates one file into another, of the same format or of the one that the name of the output shows.

    Args:
        source: The file to read.
        output: The file to write; it appears under this name when it is complete.
        options: The settings that all jobs share.
        resume: Resume an unfinished run.
        part_seconds: How often finished rows are saved.
        workplace: Where rows are obfuscated. With a seed, the output does not depend on it.
    """

    source: Path
    output: Path
    options: JobOptions
    resume: bool = False
    part_seconds: float = PART_SECONDS
    workplace: Workplace = field(default_factory=Workplace)

    def run(self, obfuscator: ObfuscatesTexts, progress: Progress = ignore_progress) -> JobReport:
        """Obfuscate the file, or the rest of it."""
        started = time.monotonic()
        partial = Partial(self.output.resolve(), self.source)
        # A run that was interrupted at its very end has written its certificate.
        certified = self.resume and partial.load_totals() is not None
        self.options.check(self.source, self.output, certified=certified)
        with self.workplace.open() as executor:
            return self._run(obfuscator, partial, executor, progress, started)

    def _run(
        self,
        obfuscator: ObfuscatesTexts,
        partial: Partial,
        executor: Executor | None,
        progress: Progress,
        started: float,
    ) -> JobReport:
        """Obfuscate the file, or the rest of it, by an executor or in this process."""
        source = FileSource(self.source)
        table = self.options.layout.convert(source, self.output)
        chosen = obfuscator.profile.choose_budget(self.options.budget)
        settings = self._settings(obfuscator, table, chosen)
        if executor is not None:
            obfuscator.for_workers()  # what workers cannot build is refused before anything is written

        def derive() -> Mapping[str, Any]:
            texts = read_texts(source, self.options.layout.table(source), self.options.batch_size, progress)
            return {"average length": chosen.resolve(texts).average_length, _DIGEST_KEY: secrets.token_hex(32)}

        with partial.locked():
            job = partial.start(settings, derive, resume=self.resume, overwrite=self.options.overwrite)
            budget = replace(chosen, average_length=job["average length"])
            totals = partial.load_totals()
            workers: Workers | None = None
            if totals is not None:
                tally = Tally.from_dict(totals)
                table.dropped_metadata = bool(totals["dropped_metadata"])
            else:
                history = History(table, bytes.fromhex(job[_DIGEST_KEY]))
                own = obfuscator.for_run(history.key)
                if executor is not None and executor.processes > 1:
                    workers = Workers(own, budget, executor)
                obfuscate = functools.partial(obfuscate_rows, own, budget) if workers is None else workers.obfuscate
                tally = self._run_parts(obfuscate, source, history, partial, progress)
            report = self.options.report(obfuscator, budget, tally, table, started, source=self.source)
            partial.complete(partial.load_totals())
        return report if workers is None else replace(report, peaks=workers.peaks)

    def _settings(self, obfuscator: ObfuscatesTexts, table: Table, budget: Budget) -> dict[str, Any]:
        """The settings that must not change when a run resumes."""
        terms, ledger = obfuscator.terms, obfuscator.ledger
        return {
            "textveil": terms.versions["textveil"],
            "format": table.name,
            "column": table.column if len(table.columns) == 1 else list(table.columns),
            "outcome column": self.options.layout.outcome_column,
            "drop columns": table.drop_columns,
            "keep columns": table.keep_columns,
            "budget": budget.as_dict(),
            **terms.describe(),
            "randomness": obfuscator.randomness.fingerprint,
            "ledger": None if ledger is None else [ledger.fingerprint, terms.ledger],
        }

    def _run_parts(
        self,
        obfuscate: Callable[[Iterator[tuple[int, Rows]]], Iterator[tuple[Rows, list[Obfuscation]]]],
        source: FileSource,
        history: History,
        partial: Partial,
        progress: Progress,
    ) -> Tally:
        """Write the parts one by one, then join them."""
        table, marks = history.table, partial.load_marks()
        tally = Tally.over(Tally.from_dict(mark["tally"]) for mark in marks)
        rows_read = pointing_out(table, source.read(table, batch_size=self.options.batch_size))
        errors: list[TextveilError] = []
        results = obfuscate(_number(_until_error(history.skip(rows_read, marks), errors), history))
        parts = len(marks)
        pending = next(results, None)
        while pending is not None or (parts == 0 and not errors):
            part = Tally()
            with partial.writing_part(parts) as stream, table.writer(stream, head=parts == 0) as writer:
                ends = time.monotonic() + self.part_seconds
                while pending is not None:
                    part.add(write_rows(*pending, writer))
                    history.add(pending[0])
                    progress("obfuscating", history.rows * pending[0].width, source.fraction)
                    # The part is saved before anything else can fail.
                    pending = None if time.monotonic() >= ends else next(results, None)
            partial.mark(parts, {**history.as_dict(), "tally": part.as_dict()})
            tally.add(part)
            parts += 1
            pending = next(results, None)
        if errors:
            if parts == 0:
                partial.remove()
            raise errors[0]

        def merge(streams: Iterator[BinaryIO], target: BinaryIO) -> None:
            with compressing(target, self.output) as compressed:
                table.merge(streams, compressed)

        totals = {**tally.as_dict(), "dropped_metadata": table.dropped_metadata}
        partial.finish(parts, merge, totals, overwrite=self.options.overwrite)
        return tally


def _number(batches: Iterator[Rows], history: History) -> Iterator[tuple[int, Rows]]:
    """The batches, each with the number of its first document. Batches may be read ahead of those that are done."""
    rows = next(batches, None)  # skips the rows that are done, which the history then knows
    first = history.rows
    while rows is not None:
        yield first * rows.width, rows
        first += rows.size
        rows = next(batches, None)


def _until_error(batches: Iterator[Rows], errors: list[TextveilError]) -> Iterator[Rows]:
    """The batches up to the first error of the source, which is raised once the rows before it are saved."""
    try:
        yield from batches
    except TextveilError as error:
        errors.append(error)
