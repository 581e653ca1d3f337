"""Obfuscating a file or a stream of rows: aligned, streaming, and resumable where it goes to a file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from textveil.distribution.allocation import check_budget
from textveil.errors import InputError, ParameterError, TextveilError
from textveil.obfuscation import BATCH_SIZE, Obfuscation, Obfuscator, check_batch_size
from textveil.partial import Partial
from textveil.privacy.certificate import Certificate, Tally
from textveil.privacy.outcomes import DocumentOutcome
from textveil.tables import FileSource, Layout, Result, Rows, Source, Table, Writer, detect_format
from textveil.tables.compression import compressing
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
        if (self.epsilon is None) == (self.epsilon_per_word is None):
            raise ParameterError("Give either epsilon or epsilon per word.")
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
class FileJob:
    """Obfuscates one file into another of the same format.

    Args:
        source: The file to read.
        output: The file to write; it gets its name when it is complete.
        budget: The budget of every document.
        layout: Where the texts are, in both files.
        batch_size: Documents worked on at a time.
        resume: Go on with an unfinished run.
        overwrite: Replace an existing output.
        part_seconds: How often finished rows are put on the disk for good.
    """

    source: Path
    output: Path
    budget: Budget
    layout: Layout = field(default_factory=Layout)
    batch_size: int = BATCH_SIZE
    resume: bool = False
    overwrite: bool = False
    part_seconds: float = PART_SECONDS

    def run(self, obfuscator: Obfuscator, progress: Progress = ignore_progress) -> FileReport:
        """Do it, or what is left of it."""
        started = time.monotonic()
        check_batch_size(self.batch_size)
        self._check_paths()
        source = FileSource(self.source)
        table = self.layout.table(source)
        partial = Partial(self.output)
        settings = self._settings(obfuscator, table)

        def derive() -> Mapping[str, Any]:
            texts = read_texts(source, self.layout.table(source), batch_size=self.batch_size, progress=progress)
            return self.budget.resolve(texts)._asdict()

        job = partial.start(settings, derive, resume=self.resume, overwrite=self.overwrite)
        budget = ResolvedBudget(job["epsilon"], job["average_length"])
        with partial.locked():
            if (totals := partial.read_totals()) is not None:
                partial.remove()
                tally = Tally.from_dict(totals)
            else:
                writer = _RowWriter(obfuscator, budget.epsilon)
                tally = self._run_parts(writer, source, table, partial, progress)
        return FileReport(
            tally.documents.total(),
            time.monotonic() - started,
            Certificate(obfuscator.terms, budget.epsilon, tally, budget.average_length),
        )

    def _check_paths(self) -> None:
        if self.source.exists() and self.output.exists() and self.source.samefile(self.output):
            raise ParameterError("Input and output are the same file. Choose another output.")
        if self.layout.format_name is None and detect_format(self.source) != detect_format(self.output):
            raise ParameterError(
                f"The output must have the format of the input: {detect_format(self.source)}. "
                f"Got {detect_format(self.output)} instead."
            )
        if not self.output.parent.is_dir():
            raise ParameterError(f"There is no folder {str(self.output.parent)!r} for the output. Make it first.")

    def _settings(self, obfuscator: Obfuscator, table: Table) -> dict[str, Any]:
        """What must be the same when a run is resumed."""
        terms = obfuscator.terms
        return {
            "textveil": terms.versions["textveil"],
            "format": table.name,
            "column": self.layout.column,
            "outcome column": self.layout.outcome_column,
            "epsilon given": self.budget.epsilon,
            "epsilon per word": self.budget.epsilon_per_word,
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
        marks = partial.read_marks()
        tally = Tally.over(Tally.from_dict(mark["tally"]) for mark in marks)
        history = _History()
        batches = _UntilError(history.skip(source.read(table, batch_size=self.batch_size), marks, source.label))
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

        partial.finish(parts, merge, tally.as_dict(), overwrite=self.overwrite)
        return tally


def obfuscate_stream(
    obfuscator: Obfuscator,
    source: Source,
    table: Table,
    target: BinaryIO,
    *,
    budget: ResolvedBudget,
    batch_size: int = BATCH_SIZE,
    progress: Progress = ignore_progress,
) -> Certificate:
    """Obfuscate rows straight into a stream, such as standard output; nothing can be resumed."""
    check_batch_size(batch_size)
    tally = Tally()
    rows = _RowWriter(obfuscator, budget.epsilon)
    batches = source.read(table, batch_size=batch_size)
    pending = next(batches, None)  # the writer needs what the first rows tell
    with table.writer(target, head=True) as writer:
        while pending is not None:
            tally.add(rows.write(pending, writer))
            target.flush()
            progress("obfuscating", tally.documents.total(), source.fraction)
            pending = next(batches, None)
    return Certificate(obfuscator.terms, budget.epsilon, tally, budget.average_length)


def read_texts(source: Source, table: Table, *, batch_size: int, progress: Progress) -> Iterator[str | None]:
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

    def __init__(self) -> None:
        self.rows = 0
        self._digest = hashlib.sha256()

    def add(self, rows: Rows) -> None:
        """Count these rows as done."""
        self.rows += len(rows.texts)
        for text in rows.texts:
            content = b"" if text is None else text.encode("utf-8", "surrogatepass")
            self._digest.update(f"{len(content)}:".encode() + content)

    def as_dict(self) -> dict[str, Any]:
        """What a mark records. Four bytes of hash notice a change, and are too few to tell a text."""
        return {"rows": self.rows, "digest": self._digest.hexdigest()[:8]}

    def skip(self, batches: Iterator[Rows], marks: Sequence[Mapping[str, Any]], label: str) -> Iterator[Rows]:
        """The rows behind those that an earlier run has done, which must still be the same."""
        done = marks[-1] if marks else {"rows": 0}
        while self.rows < done["rows"]:
            rows = next(batches, None)
            if rows is None:
                raise InputError(f"{label} has become shorter since the run began. Start over with --overwrite.")
            size = min(len(rows.texts), done["rows"] - self.rows)
            self.add(Rows(rows.texts[:size], None))
            if size < len(rows.texts):
                batches = chain([Rows(rows.texts[size:], rows.carried[size:])], batches)
        if marks and self.as_dict()["digest"] != done["digest"]:
            raise InputError(f"{label} has changed in rows that are done already. Start over with --overwrite.")
        yield from batches
