"""Obfuscating a file or a stream of rows: aligned, streaming, and resumable where it goes to a file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from textveil.atomic import writing
from textveil.distribution.allocation import check_budget
from textveil.errors import BudgetError, InputError, OutputExistsError, ParameterError, TextveilError
from textveil.obfuscation import BATCH_SIZE, Obfuscation, Obfuscator, check_batch_size
from textveil.partial import Partial
from textveil.privacy.certificate import Certificate, Tally
from textveil.privacy.outcomes import DocumentOutcome
from textveil.tables import FORMATS, FileSource, Layout, Result, Rows, Source, Table, Writer, detect_format
from textveil.tables.compression import compressing, strip_suffix
from textveil.text import WORD

PART_SECONDS = 5.0
"""How much work a killed run loses at most, about."""

Progress: TypeAlias = Callable[[str, int, float | None], None]
"""Is told what is being done, how many documents are done, and the fraction of the source that is read."""


def ignore_progress(stage: str, documents: int, fraction: float | None) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget for every document: given, or per word of the average document (as the paper does)."""

    epsilon: float | None = None
    epsilon_per_word: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is None and self.epsilon_per_word is None:
            raise BudgetError("A budget is missing: give --epsilon, for a document, or --epsilon-per-word.")
        if self.epsilon is not None and self.epsilon_per_word is not None:
            raise BudgetError("Give --epsilon or --epsilon-per-word, not both.")
        check_budget(self.epsilon if self.epsilon is not None else self.epsilon_per_word or 0.0)

    def resolve(self, texts: Iterable[str | None]) -> ResolvedBudget:
        """The epsilon of a document; ``texts`` are read only if it depends on their average length."""
        if self.epsilon is not None:
            return ResolvedBudget(check_budget(self.epsilon), None)
        words = documents = 0
        for text in texts:
            if text is not None:
                documents += 1
                words += sum(1 for _ in WORD.finditer(text))
        if not words:
            raise InputError("There is no word in any text, so an epsilon per word gives no budget. Use --epsilon.")
        average = words / documents
        return ResolvedBudget(check_budget((self.epsilon_per_word or 0.0) * average), average)


class ResolvedBudget(NamedTuple):
    """The epsilon of every document, and the average length that it was worked out from, if it was."""

    epsilon: float
    average_length: float | None


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a finished job did."""

    documents: int
    seconds: float
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What every job is told, whatever it reads and writes.

    Args:
        budget: The budget of every document.
        layout: Where the texts are, in input and output.
        batch_size: Documents worked on at a time.
        overwrite: Replace files that exist.
        certificate: Where to write the certificate.
    """

    budget: Budget
    layout: Layout = field(default_factory=Layout)
    batch_size: int = BATCH_SIZE
    overwrite: bool = False
    certificate: Path | None = None

    def check(self, source: Path | None, output: Path | None) -> None:
        """Refuse what cannot end well, before anything is read."""
        check_batch_size(self.batch_size)
        files = [path.resolve() for path in (source, output, self.certificate) if path is not None]
        if len(set(files)) < len(files):
            raise ParameterError("Input, output and certificate must be different files.")
        for path in (output, self.certificate):
            if path is not None:
                check_target(path)
        check_certificate(self.certificate, overwrite=self.overwrite)
        if self.budget.epsilon is None and (source is None or (source.exists() and not source.is_file())):
            raise BudgetError("An epsilon per word needs a file that can be read twice. Use --epsilon instead.")
        if output is not None and self.layout.format_name is not None:
            told = strip_suffix(output).suffix.removeprefix(".").lower()
            if told in FORMATS and FORMATS.load(told) is not FORMATS.load(self.layout.format_name):
                raise ParameterError(f"The output's name says {told}, and --format {self.layout.format_name}.")

    def report(
        self, obfuscator: Obfuscator, budget: ResolvedBudget, tally: Tally, table: Table, started: float
    ) -> FileReport:
        """Certify what was done."""
        certificate = Certificate(
            obfuscator.terms, budget.epsilon, tally, budget.average_length, other_columns=table.has_columns
        )
        if self.certificate is not None:
            certificate.write(self.certificate)
        return FileReport(tally.documents.total(), time.monotonic() - started, certificate)


def check_target(path: Path) -> None:
    """Refuse to write where no ordinary file can be."""
    if not path.parent.is_dir():
        raise ParameterError(f"There is no folder {str(path.parent)!r}. Make it first.")
    if path.exists() and not path.is_file():
        raise ParameterError(f"{str(path)!r} is not an ordinary file. Without --output, rows go to standard output.")


def check_certificate(path: Path | None, *, overwrite: bool) -> None:
    """Refuse a certificate that would replace a file."""
    if path is not None and path.exists() and not overwrite:
        raise OutputExistsError(f"{str(path)!r} exists. Choose another name, or replace it with --overwrite.")


@dataclass(frozen=True, slots=True)
class FileJob:
    """Obfuscates one file into another of the same format.

    Args:
        source: The file to read.
        output: The file to write; it gets its name when it is complete.
        options: What every job is told.
        resume: Go on with an unfinished run.
        part_seconds: How often finished rows are put on the disk for good.
    """

    source: Path
    output: Path
    options: JobOptions
    resume: bool = False
    part_seconds: float = PART_SECONDS

    def run(self, obfuscator: Obfuscator, progress: Progress = ignore_progress) -> FileReport:
        """Do it, or what is left of it."""
        started = time.monotonic()
        self.options.check(self.source, self.output)
        if self.options.layout.format_name is None and detect_format(self.source) != detect_format(self.output):
            raise ParameterError(
                f"The output must have the format of the input: {detect_format(self.source)}. "
                f"Got {detect_format(self.output)} instead."
            )
        source = FileSource(self.source)
        table = self.options.layout.table(source)
        partial = Partial(self.output.resolve())
        settings = self._settings(obfuscator, table)

        def derive() -> Mapping[str, Any]:
            texts = _read_texts(source, self.options.layout.table(source), self.options.batch_size, progress)
            return self.options.budget.resolve(texts)._asdict()

        with partial.locked():
            job = partial.start(settings, derive, resume=self.resume, overwrite=self.options.overwrite)
            budget = ResolvedBudget(job["epsilon"], job["average_length"])
            totals = partial.load_totals()
            if totals is not None:
                tally = Tally.from_dict(totals)
            else:
                tally = self._run_parts(_RowWriter(obfuscator, budget.epsilon), source, table, partial, progress)
            report = self.options.report(obfuscator, budget, tally, table, started)
            partial.remove()
        return report

    def _settings(self, obfuscator: Obfuscator, table: Table) -> dict[str, Any]:
        """What must be the same when a run is resumed."""
        terms = obfuscator.terms
        return {
            "textveil": terms.versions["textveil"],
            "format": table.name,
            "column": self.options.layout.column,
            "outcome column": self.options.layout.outcome_column,
            "epsilon given": self.options.budget.epsilon,
            "epsilon per word": self.options.budget.epsilon_per_word,
            "profile": terms.profile.name,
            "decomposition": terms.decomposition,
            "distribution": terms.distribution,
            "mechanism": terms.mechanism["name"],
            "stopwords": terms.stopwords,
            "bundle": terms.bundle["sha256"],
            "randomness": obfuscator.randomness.fingerprint,
        }

    def _run_parts(
        self,
        rows: _RowWriter,
        source: FileSource,
        table: Table,
        partial: Partial,
        progress: Progress,
    ) -> Tally:
        """Write part after part, then join them."""
        marks = partial.load_marks()
        tally = Tally.over(Tally.from_dict(mark["tally"]) for mark in marks)
        history = _History(table)
        batches = _UntilError(history.skip(source.read(table, batch_size=self.options.batch_size), marks))
        parts = len(marks)
        pending = next(batches, None)
        while pending is not None or (parts == 0 and batches.error is None):
            part = Tally()
            with partial.writing_part(parts) as stream, table.writer(stream, head=parts == 0) as writer:
                ends = time.monotonic() + self.part_seconds
                while pending is not None:
                    part.add(rows.write(pending, writer, first_document=history.rows))
                    history.add(pending)
                    progress("obfuscating", history.rows, source.fraction)
                    pending = next(batches, None)
                    if time.monotonic() >= ends:
                        break
            partial.mark(parts, {**history.as_dict(), "tally": part.as_dict()})
            tally.add(part)
            parts += 1
        if batches.error is not None:
            if parts == 0:
                partial.remove()
            raise batches.error

        def merge(streams: Iterator[BinaryIO], target: BinaryIO) -> None:
            with compressing(target, self.output) as compressed:
                table.merge(streams, compressed)

        partial.finish(parts, merge, tally.as_dict(), overwrite=self.options.overwrite)
        return tally


@dataclass(frozen=True, slots=True)
class StreamJob:
    """Obfuscates a file into a stream, or a stream into a stream or a file; nothing can be resumed.

    Args:
        source: What to read.
        output: The file to write, which gets its name when it is complete; ``None`` writes to the stream.
        options: What every job is told.
    """

    source: Source
    output: Path | None
    options: JobOptions

    def run(self, obfuscator: Obfuscator, stream: BinaryIO, progress: Progress = ignore_progress) -> FileReport:
        """Do it; what is not written to the output goes to ``stream``."""
        started = time.monotonic()
        self.options.check(self.source.path if isinstance(self.source, FileSource) else None, self.output)
        if self.output is not None and self.output.exists() and not self.options.overwrite:
            raise OutputExistsError(f"{str(self.output)!r} exists. Replace it with --overwrite.")
        layout = self.options.layout
        if layout.format_name is None and self.output is not None:
            layout = replace(layout, format_name=detect_format(self.output))
        table = layout.table(self.source)
        texts = _read_texts(self.source, layout.table(self.source), self.options.batch_size, progress)
        budget = self.options.budget.resolve(texts)
        with ExitStack() as stack:
            if self.output is not None:
                stream = stack.enter_context(compressing(stack.enter_context(writing(self.output)), self.output))
            tally = self._copy(_RowWriter(obfuscator, budget.epsilon), table, stream, progress)
        return self.options.report(obfuscator, budget, tally, table, started)

    def _copy(self, rows: _RowWriter, table: Table, stream: BinaryIO, progress: Progress) -> Tally:
        """Write batch after batch."""
        tally = Tally()
        batches = self.source.read(table, batch_size=self.options.batch_size)
        pending = next(batches, None)  # the writer needs what the first rows tell
        with table.writer(stream, head=True) as writer:
            while pending is not None:
                tally.add(rows.write(pending, writer))
                stream.flush()
                progress("obfuscating", tally.documents.total(), self.source.fraction)
                pending = next(batches, None)
        return tally


def _read_texts(source: Source, table: Table, batch_size: int, progress: Progress) -> Iterator[str | None]:
    """Stream the texts of a source alone, to measure them."""
    documents = 0
    for rows in source.read(table, batch_size=batch_size):
        yield from rows.texts
        documents += len(rows.texts)
        progress("counting words", documents, source.fraction)


@dataclass(frozen=True, slots=True)
class _RowWriter:
    """Obfuscates rows on their way from a table to its writer."""

    obfuscator: Obfuscator
    epsilon: float

    def write(self, rows: Rows, writer: Writer, *, first_document: int | None = None) -> Tally:
        """Write the rows with obfuscated texts; what became of them."""
        done = list(
            self.obfuscator.obfuscate_all(
                rows.texts, epsilon=self.epsilon, batch_size=len(rows.texts), first_document=first_document
            )
        )
        writer.write(rows, [_as_result(obfuscation) for obfuscation in done])
        return Tally.over(obfuscation.certificate.tally for obfuscation in done)


def _as_result(obfuscation: Obfuscation) -> Result:
    missing = obfuscation.outcome is DocumentOutcome.MISSING
    return Result(None if missing else obfuscation.text, obfuscation.outcome.value)


class _UntilError(Iterator[Rows]):
    """Ends where the source has an error, and keeps it until the rows before it are safe."""

    def __init__(self, batches: Iterator[Rows]) -> None:
        self._batches = batches
        self.error: TextveilError | None = None

    def __next__(self) -> Rows:
        try:
            return next(self._batches)
        except TextveilError as error:
            self.error = error
            raise StopIteration from error


class _History:
    """The rows done so far: how many, and enough of a hash to notice that they have changed."""

    def __init__(self, table: Table) -> None:
        self.rows = 0
        self._table = table
        self._digest = hashlib.sha256()

    def add(self, rows: Rows) -> None:
        """Count these rows as done."""
        if self.rows == 0:
            self._digest.update(self._table.describe_head().encode("utf-8", "surrogatepass"))
        self.rows += len(rows.texts)
        for row in self._table.describe_rows(rows):
            self._digest.update(f"{len(row)}:{row}".encode("utf-8", "surrogatepass"))

    def as_dict(self) -> dict[str, Any]:
        """What a mark records: a few digits of the hash notice a change."""
        return {"rows": self.rows, "digest": self._digest.hexdigest()[:8]}

    def skip(self, batches: Iterator[Rows], marks: Sequence[Mapping[str, Any]]) -> Iterator[Rows]:
        """The rows behind those that an earlier run has done, which must still be the same."""
        done = marks[-1] if marks else {"rows": 0}
        while self.rows < done["rows"]:
            rows = next(batches, None)
            if rows is None:
                raise InputError(
                    f"{self._table.source} has become shorter since the run began. Start over with --overwrite."
                )
            size = min(len(rows.texts), done["rows"] - self.rows)
            self.add(Rows(rows.texts[:size], rows.carried[:size]))
            if size < len(rows.texts):
                batches = chain([Rows(rows.texts[size:], rows.carried[size:])], batches)
        if marks and self.as_dict()["digest"] != done["digest"]:
            raise InputError(
                f"{self._table.source} has changed in rows that are done already. Start over with --overwrite."
            )
        yield from batches
