"""The settings that all jobs share, and what a job reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally, Terms
from textveil.errors import BudgetError, OutputExistsError, ParameterError
from textveil.ledger import Account, Ledger
from textveil.profiles import Profile
from textveil.randomness import Randomness
from textveil.results import Obfuscation
from textveil.tables import Layout, Table
from textveil.text.batches import BATCH_SIZE, check_batch_size


class ObfuscatesTexts(Protocol):
    """An obfuscator, as far as jobs know it."""

    profile: Profile
    terms: Terms
    randomness: Randomness
    ledger: Ledger | None

    def for_run(self, key: bytes) -> ObfuscatesTexts:
        """The obfuscator for a run with a secret key of its own, which a resumed run has again."""

    def for_workers(self) -> Callable[[], ObfuscatesTexts]:
        """Builds the same obfuscator in another process, without a ledger."""

    def open_account(self, budget: Budget) -> Account | None:
        """The account of documents with this budget; ``None`` without a ledger."""

    def obfuscate_all(
        self, texts: Iterable[str | None], *, budget: Budget, batch_size: int, first_document: int | None
    ) -> Iterator[Obfuscation]:
        """One result per text, in order."""

    def obfuscate_numbered(
        self, texts: Sequence[str | None], numbers: Sequence[int], budget: Budget
    ) -> Iterator[Obfuscation]:
        """One result per text, in order, with the noise of its number. No ledger is asked."""


@dataclass(frozen=True, slots=True)
class JobReport:
    """The result of a finished job."""

    documents: int
    seconds: float
    certificate: Certificate
    peaks: Mapping[str, int] = field(default_factory=dict)
    """The peak memory of every worker in bytes; empty if there were no workers."""

    @property
    def dropped_metadata(self) -> bool:
        """Whether the input has metadata, which the output did not get."""
        return self.certificate.dropped_metadata


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The settings that all jobs share.

    Args:
        budget: The budget of every document.
        layout: The format of the input, and the columns of texts and outcomes.
        batch_size: The number of documents to work on together.
        overwrite: Replace files that exist.
        certificate: Where to write the certificate.
    """

    budget: Budget
    layout: Layout = field(default_factory=Layout)
    batch_size: int = BATCH_SIZE
    overwrite: bool = False
    certificate: Path | None = None

    def check(self, source: Path | None, output: Path | None, *, certified: bool = False) -> None:
        """Refuse wrong settings before anything is read.

        Args:
            source: The file to read, if it is one.
            output: The file to write, if it is one.
            certified: Whether an interrupted run may have written the certificate.
        """
        check_batch_size(self.batch_size)
        files = [path.resolve() for path in (source, output, self.certificate) if path is not None]
        if len(set(files)) < len(files):
            raise ParameterError("Input, output and certificate must be different files.")
        if output is not None:
            check_place(output)
        if self.certificate is not None:
            check_free(self.certificate, overwrite=self.overwrite or certified)
        if self.budget.length == "average" and (source is None or (source.exists() and not source.is_file())):
            raise BudgetError("`length='average'` needs a file that can be read twice. Use `length='own'` instead.")

    def report(
        self,
        obfuscator: ObfuscatesTexts,
        budget: Budget,
        tally: Tally,
        table: Table,
        started: float,
        *,
        source: Path | None = None,
    ) -> JobReport:
        """Issue the certificate. Its file is never more readable than the ``source``."""
        certificate = Certificate(
            obfuscator.terms,
            budget,
            tally,
            other_columns=table.carries_columns,
            dropped_metadata=table.dropped_metadata,
        )
        if self.certificate is not None:
            certificate.write(self.certificate, like=source)
        return JobReport(tally.documents.total(), time.monotonic() - started, certificate)


def check_place(path: Path) -> None:
    """Refuse a path that cannot become an ordinary file."""
    if not path.parent.is_dir():
        raise ParameterError(f"There is no folder {str(path.parent)!r}. Make it first.")
    if path.exists() and not path.is_file():
        raise ParameterError(f"{str(path)!r} is not an ordinary file. Choose another name.")


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that cannot become an ordinary file, or that has one that may not be replaced."""
    check_place(path)
    if path.exists() and not overwrite:
        raise OutputExistsError(f"{str(path)!r} exists. Choose another name, or set `overwrite=True` to replace it.")
