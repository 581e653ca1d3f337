"""The interface of an executor, which runs independent tasks in any order."""

from __future__ import annotations

import math
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial, update_wrapper
from pathlib import Path
from typing import ClassVar, TypeVar

from textveil.errors import ExecutionError, ParameterError

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_EXECUTOR = "processes"
"""The executor of those who want workers, by default."""
MAX_RETRIES = 3
"""The number of retries after a worker dies. A task that still fails is assumed to be the cause."""


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Executor(AbstractContextManager["Executor"], ABC):
    """Runs tasks. A task may run twice if a worker dies, so tasks must be idempotent.

    Args:
        workers: The number of tasks to run at a time; by default the number of usable cores.
        address: The address of a running cluster, for ``executor='ray'``.
        gpus_per_task: The number of GPUs per task, for ``executor='ray'``; 0.5 is half a GPU.
    """

    name: ClassVar[str]
    has_cluster: ClassVar[bool] = False
    """Whether tasks run on a cluster, which has an address and perhaps GPUs."""
    worker_overhead: ClassVar[int] = 0
    """The bytes of memory that every worker needs beyond those of a plain process."""

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        if not 0 <= gpus_per_task < math.inf:
            raise ParameterError(f"`gpus_per_task` must be a finite number of at least 0. Got {gpus_per_task} instead.")
        if workers is not None and workers < 1:
            raise ParameterError(f"`workers` must be at least 1. Got {workers} instead.")
        for parameter, given in (("address", address), ("gpus_per_task", gpus_per_task)):
            if given and not self.has_cluster:
                raise ParameterError(f"`{parameter}` goes with `executor='ray'`. Got `executor={self.name!r}` instead.")
        self.workers = workers or usable_cores()
        self.address = address
        self.gpus_per_task = gpus_per_task

    @property
    def processes(self) -> int:
        """The number of processes that need memory for the work, including this one."""
        return self.workers + 1

    @property
    def threads(self) -> int | None:
        """The number of threads per worker, so that all workers use each core once; ``None`` for no limit."""
        return max(1, usable_cores() // self.workers)

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """Apply ``function`` to every task and yield results as they arrive. Tasks are taken only as needed.

        If ``tasks`` ends while tasks are running, it is asked again after the next result. So it may pause.

        Args:
            function: The function to apply.
            tasks: Its arguments.
            lost: Returns the result of a task that kills its workers repeatedly. It is called in this process.

        Raises:
            ExecutionError: Workers die repeatedly, and ``lost`` is not given.
        """

    def __exit__(self, *_: object) -> None:
        """Release the workers. By default there are none to release."""


def worker_died() -> ExecutionError:
    """The error for workers that die repeatedly."""
    return ExecutionError(
        "Worker processes were killed repeatedly, perhaps because memory ran out. Lower `workers`, then run the same "
        "job again: finished work is kept. In a script, calls that start workers must stand below "
        "`if __name__ == '__main__':`."
    )


_STATUS = Path("/proc/self/status")
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def measure_peak() -> int | None:
    """The most bytes of memory that this process has used at a time; ``None`` if the system does not say.

    Files that are mapped into memory count as far as they are in memory, also if other processes share them.
    """
    try:
        # Unlike getrusage, this does not count what the parent used before it started the process.
        found = _PEAK.search(_STATUS.read_text(encoding="ascii", errors="replace"))
    except OSError:
        found = None
    return _measure_usage() if found is None else int(found[1]) << 10


def _measure_usage() -> int | None:
    """The peak by the counters of POSIX, in bytes on macOS and in KiB elsewhere."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def map_in_order(executor: Executor, function: Callable[[T], R], tasks: Iterable[T], *, window: int) -> Iterator[R]:
    """Apply ``function`` to every task and yield the results in the order of the tasks.

    Args:
        executor: Where the work runs.
        function: The function to apply. It must be importable by workers.
        tasks: Its arguments.
        window: The largest number of tasks that are taken and whose results are not yielded yet. So one slow task
            cannot fill the memory with the results after it.
    """
    numbered = _Window(tasks, window)
    waiting: dict[int, R] = {}
    # The module of the function is kept: processes import it before they are forked.
    for number, result in executor.map(update_wrapper(partial(_keep_number, function), function), numbered):
        waiting[number] = result
        while numbered.first in waiting:
            following = waiting.pop(numbered.first)
            numbered.first += 1
            yield following


def _keep_number(function: Callable[[T], R], task: tuple[int, T]) -> tuple[int, R]:
    """Run a task on any worker, and return its number with the result."""
    number, given = task
    return number, function(given)


class _Window(Iterator[tuple[int, T]]):
    """Numbers tasks, and pauses while too many of them are taken. Executors ask again after the next result."""

    def __init__(self, tasks: Iterable[T], size: int) -> None:
        self._tasks = enumerate(tasks)
        self._size = size
        self._taken = 0
        self.first = 0
        """The number of the first task whose result is not yielded yet."""

    def __next__(self) -> tuple[int, T]:
        if self._taken - self.first >= self._size:
            raise StopIteration
        task = next(self._tasks)
        self._taken += 1
        return task
