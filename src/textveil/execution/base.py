"""The interface of an executor, which runs independent tasks in any order."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
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
    worker_overhead: ClassVar[int] = 0
    """The bytes of memory that every worker needs beyond those of a plain process."""

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        if not 0 <= gpus_per_task < math.inf:
            raise ParameterError(f"`gpus_per_task` must be a finite number of at least 0. Got {gpus_per_task} instead.")
        if workers is not None and workers < 1:
            raise ParameterError(f"`workers` must be at least 1. Got {workers} instead.")
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


def refuse_cluster(executor: Executor) -> None:
    """Refuse the parameters of a cluster for an executor on this machine."""
    for parameter, given in (("address", executor.address), ("gpus_per_task", executor.gpus_per_task)):
        if given:
            raise ParameterError(f"`{parameter}` goes with `executor='ray'`. Got `executor={executor.name!r}` instead.")
