"""Batching: texts of requests that arrive together are obfuscated together, one batch after the other."""

from __future__ import annotations

import asyncio
import functools
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from textveil.budget import Budget
from textveil.obfuscator import Obfuscator
from textveil.results import Obfuscation
from textveil.service.lanes import Result, start_thread

BATCH = 64
"""Texts to obfuscate together."""
TURN = 16
"""Texts of one request in a batch, if others wait. A long list does not keep short requests waiting."""
CHARACTERS = 60_000
"""The characters of a batch, or more of a single text. So a batch takes seconds, whatever its texts."""
STUCK = 5.0
"""Seconds after which a batch that nobody waits for any more is left to itself, and the next one begins."""
MOST_STUCK = 3
"""Batches that may be left to themselves. Each one takes part of the processor from the others, until it ends."""


@dataclass(eq=False)
class _Job:
    """The texts of a request, what to make of their results, and how far they are."""

    obfuscator: Obfuscator
    budget: Budget
    texts: Sequence[str | None]
    finish: Callable[[list[Obfuscation]], Any]
    answer: asyncio.Future[Any]
    results: list[Obfuscation] = field(default_factory=list)

    @property
    def left(self) -> Sequence[str | None]:
        return self.texts[len(self.results) :]

    def suits(self, other: _Job) -> bool:
        """Whether texts of both may be obfuscated together."""
        return self.obfuscator is other.obfuscator and self.budget == other.budget

    def count_fitting(self, texts: int, characters: int) -> tuple[int, int]:
        """How many of the next texts fit into a batch with this room, and their characters."""
        count = used = 0
        for text in self.left[:texts]:
            if used + len(text or "") > characters:
                break
            count, used = count + 1, used + len(text or "")
        return count, used

    def settle(self, result: Result) -> None:
        """Give the answer to the request, if it still waits."""
        value, error = result
        if self.answer.done():
            return
        if error is None:
            self.answer.set_result(value)
        else:
            self.answer.set_exception(error)


class Batcher:
    """Obfuscates the texts of all requests in one thread, those with the same settings and budget together.

    There is no waiting for company: while a batch is in work, the next one gathers. The noise of every text is its own,
    so an answer does not depend on the company. A thread cannot be stopped: if it takes too long for a text whose
    request has ended, the next batch does not wait for it.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Job] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._batch: list[tuple[_Job, int]] = []
        self._since = 0.0
        self._stuck: set[asyncio.Task[None]] = set()

    async def submit(
        self,
        obfuscator: Obfuscator,
        budget: Budget,
        texts: Sequence[str | None],
        finish: Callable[[list[Obfuscation]], Any],
    ) -> Any:
        """What ``finish`` makes of the results of texts. If the caller is canceled, the rest of them is given up.

        Args:
            obfuscator: What obfuscates the texts.
            budget: The budget of each.
            texts: The texts.
            finish: Makes the answer from the results, in their thread.
        """
        job = _Job(obfuscator, budget, texts, finish, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._keep_working()
        try:
            return await job.answer
        finally:
            self._keep_working()

    async def close(self, seconds: float | None = None) -> None:
        """Wait for the work that has been accepted, at most this long."""
        if self._worker is not None:
            await asyncio.wait({self._worker}, timeout=seconds)

    def _keep_working(self) -> None:
        """Start a worker if texts wait and none works, or if it is stuck. A stuck one ends after its batch."""
        self._stuck = {worker for worker in self._stuck if not worker.done()}
        if not self._waiting:
            return
        if self._worker is not None and not self._worker.done():
            canceled = bool(self._batch) and all(job.answer.cancelled() for job, _ in self._batch)
            if not canceled or time.monotonic() - self._since <= STUCK or len(self._stuck) >= MOST_STUCK:
                return
            self._stuck.add(self._worker)
        self._worker, self._batch = asyncio.create_task(self._work()), []

    async def _work(self) -> None:
        while self._worker is asyncio.current_task() and (batch := self._gather()):
            self._batch, self._since = batch, time.monotonic()
            settled, _ = await start_thread(functools.partial(_run, batch))  # it keeps all errors
            for job, result in settled:
                job.settle(result)
            self._waiting += [job for job, _ in batch if not job.answer.done()]

    def _gather(self) -> list[tuple[_Job, int]]:
        """The next batch: jobs that suit the one that has waited longest, with the number of texts of each."""
        waiting = [job for job in self._waiting if not job.answer.done()]
        self._waiting.clear()
        batch: list[tuple[_Job, int]] = []
        room, characters = BATCH, CHARACTERS
        for job in waiting:
            taken, used = job.count_fitting(min(room, TURN if len(waiting) > 1 else BATCH), characters)
            if not taken and job.left and not batch:
                taken, used = 1, characters  # a long text makes a batch of its own
            if (not batch or job.suits(batch[0][0])) and (taken or not job.left):
                batch.append((job, taken))
                room, characters = room - taken, characters - used
            else:
                self._waiting.append(job)
        return batch


def _run(batch: list[tuple[_Job, int]]) -> list[tuple[_Job, Result]]:
    """Obfuscate the texts of a batch, and finish the jobs of which no text is left. An error ends only its own job."""
    first = batch[0][0]
    try:
        texts = [text for job, taken in batch for text in job.left[:taken]]
        found = iter(list(first.obfuscator.obfuscate_all(texts, budget=first.budget, batch_size=BATCH)))
        for job, taken in batch:
            job.results += [next(found) for _ in range(taken)]
    except Exception as error:  # noqa: BLE001 # it is given to the request that caused it
        if len(batch) == 1:
            return [(first, (None, error))]
        return [settled for single in batch for settled in _run([single])]
    return [(job, _finish(job)) for job, _ in batch if not job.left]


def _finish(job: _Job) -> Result:
    try:
        return job.finish(job.results), None
    except Exception as error:  # noqa: BLE001 # it is given to the request
        return None, error
