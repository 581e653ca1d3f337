"""Batching: texts of requests that arrive together are obfuscated together, in one thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from textveil.budget import Budget
from textveil.obfuscator import Obfuscator
from textveil.results import Obfuscation

BATCH = 64
"""Texts to obfuscate together."""
TURN = 16
"""Texts of one request in a batch, if others wait. A long list does not keep short requests waiting."""
CHARACTERS = 60_000
"""The characters of a batch, or more of a single text. So a batch takes seconds, whatever its texts."""
STUCK = 5.0
"""Seconds after which a batch that nobody waits for any more is left to itself, and another thread takes over."""
MOST_STUCK = 3
"""Batches that may be left to themselves. Each one takes part of the processor from the others, until it ends."""


class Order(NamedTuple):
    """What a request wants: texts, how to obfuscate them, and what to make of the results."""

    obfuscator: Obfuscator
    budget: Budget
    texts: Sequence[str | None]
    finish: Callable[[list[Obfuscation]], Any]
    """Makes the answer from the results; called in the thread of the batches."""

    def suits(self, other: Order) -> bool:
        """Whether texts of both may be obfuscated together."""
        return self.obfuscator is other.obfuscator and self.budget == other.budget


class _Job:
    """An order, and how far it is."""

    def __init__(self, order: Order, answer: asyncio.Future[Any]) -> None:
        self.order = order
        self.results: list[Obfuscation] = []
        self.canceled = False
        self._answer = answer

    @property
    def left(self) -> int:
        return len(self.order.texts) - len(self.results)

    def count_fitting(self, texts: int, characters: int) -> tuple[int, int]:
        """How many of the next texts fit into a batch with this room, and their characters."""
        count = used = 0
        for text in self.order.texts[len(self.results) :][:texts]:
            if used + len(text or "") > characters:
                break
            count, used = count + 1, used + len(text or "")
        return count, used

    def settle(self, value: Any, error: Exception | None = None) -> None:
        """Give the answer to the waiting request, in its own thread. It may have gone, or its server."""
        try:
            self._answer.get_loop().call_soon_threadsafe(self._set, value, error)
        except RuntimeError:  # the loop is closed
            return

    def _set(self, value: Any, error: Exception | None) -> None:
        if self._answer.done():
            return
        if error is None:
            self._answer.set_result(value)
        else:
            self._answer.set_exception(error)


class _Worker(threading.Thread):
    """A thread that works on batches, and what it works on now."""

    def __init__(self, work: Callable[[_Worker], None]) -> None:
        super().__init__(target=work, args=(self,), name="textveil-batches", daemon=True)
        self.batch: list[tuple[_Job, int]] = []
        self.since = 0.0

    @property
    def is_stuck(self) -> bool:
        """Whether it still works on a batch that nobody waits for."""
        batch, seconds = self.batch, time.monotonic() - self.since
        return bool(batch) and seconds > STUCK and all(job.canceled for job, _ in batch)


class Batcher:
    """Obfuscates the texts of all requests in one thread, those with the same settings and budget together.

    There is no waiting for company: while a batch is in work, the next one gathers. The noise of every text is its own,
    so an answer does not depend on the company. A thread cannot be stopped: if it takes too long for a text whose
    request has ended, another thread takes over.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Job] = deque()
        self._change = threading.Condition()
        self._closing = False
        self._worker = _Worker(self._work)
        self._stuck: list[_Worker] = []
        self.batches = 0
        self.texts = 0

    def start(self) -> None:
        """Start the thread."""
        self._worker.start()

    def close(self, seconds: float | None = None) -> None:
        """Finish the work that has been accepted, and end the thread; wait for it at most this long."""
        with self._change:
            self._closing = True
            self._change.notify_all()
        self._worker.join(seconds)

    async def submit(self, order: Order) -> Any:
        """The answer to an order. If the caller is canceled, the rest of its texts is given up."""
        job = _Job(order, asyncio.get_running_loop().create_future())
        with self._change:
            self._waiting.append(job)
            self._change.notify()
        self._replace_stuck()
        try:
            return await job._answer  # our own
        finally:
            job.canceled = True
            self._replace_stuck()

    def _replace_stuck(self) -> None:
        """Let another thread take over if the present one is stuck. It ends after its batch."""
        with self._change:
            self._stuck = [worker for worker in self._stuck if worker.is_alive()]
            if self._worker.is_stuck and len(self._stuck) < MOST_STUCK:
                self._stuck.append(self._worker)
                self._worker = _Worker(self._work)
                self._worker.start()

    def _work(self, worker: _Worker) -> None:
        while worker is self._worker and (batch := self._gather()) is not None:
            worker.batch, worker.since = batch, time.monotonic()
            self._run(batch)
            worker.batch = []

    def _gather(self) -> list[tuple[_Job, int]] | None:
        """The next batch: jobs that suit the one that has waited longest, with the number of texts of each."""
        with self._change:
            while not self._waiting:
                if self._closing:
                    return None
                self._change.wait()
            waiting = [job for job in self._waiting if not job.canceled]
            self._waiting.clear()
            batch: list[tuple[_Job, int]] = []
            room, characters = BATCH, CHARACTERS
            for job in waiting:
                taken, used = job.count_fitting(min(room, TURN if len(waiting) > 1 else BATCH), characters)
                if not taken and job.left and not batch:
                    taken, used = 1, characters  # a long text makes a batch of its own
                if (not batch or job.order.suits(batch[0][0].order)) and (taken or not job.left):
                    batch.append((job, taken))
                    room, characters = room - taken, characters - used
                else:
                    self._waiting.append(job)
            return batch

    def _run(self, batch: list[tuple[_Job, int]]) -> None:
        if all(job.canceled for job, _ in batch):
            return
        try:
            self._obfuscate(batch)
        except Exception as error:  # noqa: BLE001 # it is given to the request that caused it
            if len(batch) > 1:  # so that one request cannot spoil another
                for single in batch:
                    self._run([single])
            else:
                batch[0][0].settle(None, error)
            return

    def _obfuscate(self, batch: list[tuple[_Job, int]]) -> None:
        order = batch[0][0].order
        texts = [text for job, taken in batch for text in job.order.texts[len(job.results) : len(job.results) + taken]]
        found = iter(list(order.obfuscator.obfuscate_all(texts, budget=order.budget, batch_size=BATCH)))
        self.batches += 1
        self.texts += len(texts)
        for job, taken in batch:
            job.results += [next(found) for _ in range(taken)]
        for job, _ in batch:
            if job.left:
                with self._change:
                    self._waiting.append(job)
            else:
                _finish(job)


def _finish(job: _Job) -> None:
    try:
        answer = job.order.finish(job.results)
    except Exception as error:  # noqa: BLE001 # it is given to the request
        job.settle(None, error)
    else:
        job.settle(answer)
