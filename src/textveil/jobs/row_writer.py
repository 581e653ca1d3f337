"""Reading the texts of rows, and writing rows with obfuscated texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from textveil.budget import Budget
from textveil.certificate import Tally
from textveil.jobs.options import ObfuscatesTexts
from textveil.outcomes import DocumentOutcome
from textveil.progress import Progress
from textveil.results import Obfuscation
from textveil.tables import Result, Rows, Source, Table, Writer
from textveil.text.batches import LARGEST_BATCH


def read_texts(source: Source, table: Table, batch_size: int, progress: Progress) -> Iterator[str | None]:
    """Stream the texts of a source, to count their words."""
    documents = 0
    for rows in source.read(table, batch_size=batch_size):
        yield from rows.texts
        documents += len(rows.texts)
        progress("counting words", documents, source.fraction)


def write_rows(rows: Rows, done: Sequence[Obfuscation], writer: Writer) -> Tally:
    """Write the rows with obfuscated texts, and tally their outcomes."""
    writer.write(rows, [as_result(obfuscation) for obfuscation in done])
    return Tally.over(obfuscation.certificate.tally for obfuscation in done)


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Obfuscates rows in this process, and passes them to a writer."""

    obfuscator: ObfuscatesTexts
    budget: Budget

    def write(self, rows: Rows, writer: Writer, *, first_document: int | None = None) -> Tally:
        """Obfuscate the rows, write them, and tally their outcomes."""
        return write_rows(rows, self._obfuscate(rows, first_document), writer)

    def obfuscate(self, batches: Iterable[tuple[int, Rows]]) -> Iterator[tuple[Rows, list[Obfuscation]]]:
        """The results of batches of rows, each with the number of its first document."""
        for first_document, rows in batches:
            yield rows, self._obfuscate(rows, first_document)

    def _obfuscate(self, rows: Rows, first_document: int | None) -> list[Obfuscation]:
        return list(
            self.obfuscator.obfuscate_all(
                rows.texts,
                budget=self.budget,
                batch_size=min(len(rows.texts), LARGEST_BATCH),
                first_document=first_document,
            )
        )


def as_result(obfuscation: Obfuscation) -> Result:
    """The row of a result. Where everything must be covered, it does not confirm that a text is the original."""
    outcome = obfuscation.outcome
    absent = outcome in (DocumentOutcome.MISSING, DocumentOutcome.REFUSED)
    if outcome is DocumentOutcome.RETURNED and obfuscation.certificate.terms.profile.public_allocation:
        outcome = DocumentOutcome.OBFUSCATED
    return Result(None if absent else obfuscation.text, outcome.value)
