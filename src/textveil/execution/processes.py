"""Work in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, TypeVar

from textveil.errors import ExecutionError
from textveil.execution.base import MAX_RETRIES, Executor, refuse_cluster

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

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """``function`` of every task, as results come in."""
        remaining = iter(tasks)
        waiting: deque[T] = deque()
        running: dict[Future[R], T] = {}
        deaths = 0
        while True:
            try:
                pool = self._open_pool(function.__module__)
                while len(running) <= self.workers:
                    if not waiting:
                        waiting.extend(islice(remaining, 1))
                    if not waiting:
                        break
                    running[pool.submit(function, waiting[0])] = waiting[0]
                    waiting.popleft()
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    del running[future]
                    deaths = 0
                    yield result
            except BrokenProcessPool as error:
                deaths += 1
                if deaths > MAX_RETRIES:
                    raise ExecutionError(
                        "Worker processes were killed again and again, perhaps because memory ran out. "
                        "Give fewer --workers, then run the same command again: what is finished is kept."
                    ) from error
                waiting.extend(running.values())
                running = {}
                self._close_pool()

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

    def __exit__(self, *_: object) -> None:
        """End the workers."""
        self._close_pool()
