"""Obfuscating rows, in this process or by the workers of an executor; this process reads, accounts and writes.

A worker gets texts and their numbers, and returns results. It neither reads nor writes files, and never sees a ledger.
So a killed worker loses nothing but its batch, which another one obfuscates again.
"""

from __future__ import annotations

import os
import platform
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any

from textveil.budget import Budget
from textveil.certificate import Certificate, Tally, Terms
from textveil.errors import ExecutionError, ParameterError
from textveil.execution import EXECUTORS, Executor
from textveil.execution.base import DEFAULT_EXECUTOR, map_in_order, measure_peak
from textveil.jobs.options import ObfuscatesTexts
from textveil.outcomes import DocumentOutcome
from textveil.progress import Progress
from textveil.results import Obfuscation
from textveil.tables import Result, Rows, Source, Table, Writer
from textveil.text.batches import LARGEST_BATCH, batch_texts
from textveil.threads import limit_threads

AHEAD = 4
"""The number of batches per worker that are read ahead of the one that is written next."""


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


def as_result(obfuscation: Obfuscation) -> Result:
    """The row of a result. Where everything must be covered, it does not confirm that a text is the original."""
    outcome = obfuscation.outcome
    absent = outcome in (DocumentOutcome.MISSING, DocumentOutcome.REFUSED)
    if outcome is DocumentOutcome.RETURNED and obfuscation.certificate.terms.profile.public_allocation:
        outcome = DocumentOutcome.OBFUSCATED
    return Result(None if absent else obfuscation.text, outcome.value)


def obfuscate_rows(
    obfuscator: ObfuscatesTexts, budget: Budget, batches: Iterable[tuple[int | None, Rows]]
) -> Iterator[tuple[Rows, list[Obfuscation]]]:
    """The results of batches of rows by this process.

    Args:
        obfuscator: The obfuscator.
        budget: The budget of every document.
        batches: The rows, each batch with the number of its first document; ``None`` numbers documents on.
    """
    for first_document, rows in batches:
        size = min(len(rows.texts), LARGEST_BATCH)
        done = obfuscator.obfuscate_all(rows.texts, budget=budget, batch_size=size, first_document=first_document)
        yield rows, list(done)


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the rows of a file are obfuscated; by default in this process.

    Args:
        executor: The name of an executor, or one that is open. By default ``processes``, if there are ``workers``.
        workers: The number of workers; by default one per core.
        address: The address of a Ray cluster.
    """

    executor: str | Executor | None = None
    workers: int | None = None
    address: str | None = None

    def open(self) -> AbstractContextManager[Executor | None]:
        """The executor; ``None`` if this process does the work alone."""
        if isinstance(self.executor, Executor):
            if self.workers is not None or self.address is not None:
                raise ParameterError("`workers` and `address` go with the name of an executor. This one is open.")
            return nullcontext(self.executor)
        if self.executor is None and self.workers is None and self.address is None:
            return nullcontext(None)
        return EXECUTORS.load(self.executor or DEFAULT_EXECUTOR)(self.workers, self.address)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a worker gets its obfuscator, which it builds once.

    Args:
        run: The name of the run. Recipes of a run are equal.
        build: Builds the obfuscator.
        identity: What must be the same in all processes.
        threads: The number of threads of a worker; ``None`` sets no limit.
    """

    run: str
    build: Callable[[], ObfuscatesTexts] = field(compare=False)
    identity: dict[str, Any] = field(compare=False)
    threads: int | None = field(compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class BatchTask:
    """Obfuscate these texts with the noise of their numbers."""

    recipe: Recipe
    budget: Budget
    texts: list[str | None]
    numbers: list[int]


@dataclass(frozen=True, slots=True, repr=False)
class BatchDone:
    """The results of a batch, and the peak memory of its worker in bytes so far."""

    results: list[tuple[str, DocumentOutcome, Tally]]
    worker: str
    peak: int | None


def do_batch(task: BatchTask) -> BatchDone:
    """Run a task on any worker."""
    obfuscator = _open_obfuscator(task.recipe)
    pairs = zip(task.texts, task.numbers, strict=True)
    results = [
        (result.text, result.outcome, result.certificate.tally)
        for batch in batch_texts(pairs, LARGEST_BATCH, text_of=lambda pair: pair[0])
        for result in obfuscator.obfuscate_numbered(
            [text for text, _ in batch], [number for _, number in batch], task.budget
        )
    ]
    return BatchDone(results, f"{platform.node()} {os.getpid()}", measure_peak())


@lru_cache(maxsize=1)
def _open_obfuscator(recipe: Recipe) -> ObfuscatesTexts:
    """The obfuscator of this worker."""
    if recipe.threads is not None:
        limit_threads(recipe.threads)
    obfuscator = recipe.build()
    found = identify(obfuscator.terms)
    for name, value in recipe.identity.items():
        if found.get(name) != value:
            raise ExecutionError(
                f"On {platform.node()!r}, a worker has another {name} than this process. Results would depend on "
                "the worker. Install the same versions, models and bundles on all machines, then resume the run."
            )
    return obfuscator


def identify(terms: Terms) -> dict[str, Any]:
    """What results depend on, besides texts, noise and budget."""
    versions = {f"version of {name}": version for name, version in terms.versions.items()}
    return {**versions, "bundle": terms.bundle, **terms.describe()}


class Workers:
    """Obfuscates batches of rows by the workers of an executor.

    Args:
        obfuscator: The obfuscator. Each worker builds its own copy.
        budget: The budget of every document.
        executor: Where the workers are.
    """

    def __init__(self, obfuscator: ObfuscatesTexts, budget: Budget, executor: Executor) -> None:
        self._terms = obfuscator.terms
        self._budget = budget
        self._executor = executor
        self._account = obfuscator.open_account(budget)
        self._recipe = Recipe(
            secrets.token_hex(16), obfuscator.for_workers(), identify(obfuscator.terms), executor.threads
        )
        self.peaks: dict[str, int] = {}
        """The peak memory of every worker in bytes."""

    def obfuscate(self, batches: Iterable[tuple[int, Rows]]) -> Iterator[tuple[Rows, list[Obfuscation]]]:
        """The results of batches of rows in order, each with the number of its first document."""
        taken: deque[tuple[Rows, list[int]]] = deque()

        def tasks() -> Iterator[BatchTask]:
            for first_document, rows in batches:
                taken.append((rows, self._number(rows.texts, first_document)))
                yield BatchTask(self._recipe, self._budget, rows.texts, taken[-1][1])

        window = AHEAD * self._executor.workers
        for done in map_in_order(self._executor, do_batch, tasks(), window=window):
            rows, numbers = taken.popleft()
            if done.peak is not None:
                self.peaks[done.worker] = max(done.peak, self.peaks.get(done.worker, 0))
            yield rows, self._charge(rows.texts, numbers, done)

    def _number(self, texts: Sequence[str | None], first_document: int) -> list[int]:
        if self._account is not None:
            return self._account.number(texts, count(first_document))
        return [*range(first_document, first_document + len(texts))]

    def _charge(self, texts: Sequence[str | None], numbers: Sequence[int], done: BatchDone) -> list[Obfuscation]:
        """Record the results in the ledger, in the order of documents, before anybody sees them."""
        results = [
            Obfuscation(text, outcome, (), Certificate(self._terms, self._budget, tally))
            for text, outcome, tally in done.results
        ]
        return results if self._account is None else self._account.charge(texts, numbers, results)
