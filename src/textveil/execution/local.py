"""An executor that runs tasks in this process, one after the other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, TypeVar

from textveil.errors import ParameterError
from textveil.execution.base import MAX_RETRIES, Executor, worker_died

T = TypeVar("T")
R = TypeVar("R")


class LocalExecutor(Executor):
    """Runs tasks in this process, which is the easiest to debug."""

    name = "local"

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        super().__init__(1 if workers is None else workers, address, gpus_per_task)
        if self.workers > 1:
            raise ParameterError("`executor='local'` has one worker. For more, use `executor='processes'`.")

    @property
    def processes(self) -> int:
        """Only this process."""
        return 1

    @property
    def threads(self) -> None:
        """No limit: there is only one worker."""
        return None

    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """Apply ``function`` to every task, in order."""
        return map(function, tasks)


def _start_worker() -> None:
    """Ignore Ctrl-C, which the parent handles by stopping its workers; end when the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the end of the parent process, then end this one.

    The wait is on a handle that the system signals: the read end of a pipe that only the parent can write to, or on
    Windows the handle of the parent process. A process number would not do, because the system may reuse it.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class ProcessExecutor(Executor):
    """Runs tasks in a pool of processes. When a worker is killed, a new pool runs the unfinished tasks again."""

    name = "processes"
    _pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """Apply ``function`` to every task; results arrive in the order of completion."""
        remaining = iter(tasks)
        while unfinished := (yield from self._run(function, remaining)):
            yield from self._run_again(function, unfinished, lost)

    def _run(self, function: Callable[[T], R], tasks: Iterator[T]) -> Generator[R, None, list[T]]:
        """Yield results until a worker dies; return the tasks in progress then, any of which may be the cause."""
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
            # Python ends the workers of a broken pool, but not one that starts just then, and waits for it forever.
            self._kill_workers()
            self._close_pool()
            return list(running.values())

    def _run_again(
        self, function: Callable[[T], R], tasks: list[T], lost: Callable[[T], R] | None, tries: int = MAX_RETRIES
    ) -> Iterator[R]:
        """Retry the tasks of a broken pool: all of them, then halves, until a task that kills its worker is alone."""
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
        """Submit a task to the pool; if the pool has just broken, return a future that failed."""
        try:
            return self._open_pool(function.__module__).submit(function, task)
        except (BrokenProcessPool, OSError):  # a worker that starts while the pool breaks finds its pipes closed
            failed: Future[R] = Future()
            failed.set_exception(BrokenProcessPool())
            return failed

    def _open_pool(self, module: str) -> ProcessPoolExecutor:
        """The pool of workers, forked from a server process that has no threads and has imported ``module`` once."""
        if self._pool is None:
            methods = multiprocessing.get_all_start_methods()
            context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
            if "forkserver" in methods:
                context.set_forkserver_preload([module])
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_start_worker)
        return self._pool

    def _close_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __exit__(self, kind: object = None, *_: object) -> None:
        """End the workers; after an exception at once, since nobody will use their results."""
        if kind is not None:
            self._kill_workers()
        self._close_pool()

    def _kill_workers(self) -> None:
        if self._pool is not None:
            for process in list(self._pool._processes.values()):  # kill_workers() is new in Python 3.14
                process.kill()
