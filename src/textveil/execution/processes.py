"""Work in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, TypeVar

from textveil.execution.base import MAX_RETRIES, Executor, refuse_cluster, worker_died

T = TypeVar("T")
R = TypeVar("R")


WATCH_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, which stops the workers; end when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while _is_alive(parent):
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and not ours to signal
        return True
    return True


class ProcessExecutor(Executor):
    """Does tasks in a pool of processes. Where one is killed, the pool is made anew and its tasks are done again."""

    name = "processes"

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        super().__init__(workers, address, gpus_per_task)
        refuse_cluster(self)
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """``function`` of every task, as results come in."""
        remaining = iter(tasks)
        while unfinished := (yield from self._run(function, remaining)):
            yield from self._run_again(function, unfinished, lost)

    def _run(self, function: Callable[[T], R], tasks: Iterator[T]) -> Generator[R, None, list[T]]:
        """Results, until a worker dies; the tasks that were worked on then, any of which may be to blame."""
        running: dict[Future[R], T] = {}
        try:
            while True:
                for task in islice(tasks, self.workers + 1 - len(running)):
                    running[self._submit(function, task)] = task
                if not running:
                    return []
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    del running[future]
                    yield result
        except BrokenProcessPool:
            self._close_pool()
            return list(running.values())

    def _run_again(
        self, function: Callable[[T], R], tasks: list[T], lost: Callable[[T], R] | None, tries: int = MAX_RETRIES
    ) -> Iterator[R]:
        """Tasks that were worked on when a worker died: together, then in halves, until one that kills is alone."""
        unfinished = yield from self._run(function, iter(tasks))
        if len(unfinished) > 1:
            half = len(unfinished) // 2
            yield from self._run_again(function, unfinished[:half], lost)
            yield from self._run_again(function, unfinished[half:], lost)
        elif unfinished and tries > 1:
            yield from self._run_again(function, unfinished, lost, tries - 1)
        elif unfinished and lost is not None:
            yield lost(unfinished[0])
        elif unfinished:
            raise worker_died()

    def _submit(self, function: Callable[[T], R], task: T) -> Future[R]:
        """A task that is given to the pool; where that has just broken, one that has failed with it."""
        try:
            return self._open_pool(function.__module__).submit(function, task)
        except BrokenProcessPool as error:
            failed: Future[R] = Future()
            failed.set_exception(error)
            return failed

    def _open_pool(self, module: str) -> ProcessPoolExecutor:
        """A pool of workers, forked from a server that has imported ``module`` once for all and has no threads."""
        if self._pool is None:
            methods = multiprocessing.get_all_start_methods()
            context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
            if "forkserver" in methods:
                context.set_forkserver_preload([module])
            self._pool = ProcessPoolExecutor(
                self.workers, mp_context=context, initializer=_start_worker, initargs=(os.getpid(),)
            )
        return self._pool

    def _close_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __exit__(self, kind: object = None, *_: object) -> None:
        """End the workers; at once if somebody has had enough, since what they do is of no use."""
        if kind is not None and self._pool is not None:
            for process in list(self._pool._processes.values()):  # kill_workers() is new in Python 3.14
                process.kill()
        self._close_pool()
