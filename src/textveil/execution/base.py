"""The contract of an executor: independent tasks, done somewhere, in any order."""

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

MAX_RETRIES = 3
"""How often a task is given to another worker when one dies; then the task itself is to blame."""


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Executor(AbstractContextManager["Executor"], ABC):
    """Does tasks somewhere. Tasks may be done twice where a worker dies, so they must not mind.

    Args:
        workers: How many tasks are done at a time; as many as there are cores, unless told.
        address: The address of a running cluster, for an executor that has one.
        gpus_per_task: How much of a GPU a task has to itself, for an executor that divides them; half a one is 0.5.
    """

    name: ClassVar[str]

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
        """How many processes hold memory for the work, this one included."""
        return self.workers + 1

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """``function`` of every task, as results come in; only a few tasks are taken ahead of the work.

        Args:
            function: What is done.
            tasks: What it is done to.
            lost: Gives, in this process, the result of a task whose workers die again and again.

        Raises:
            ExecutionError: Workers die again and again, and ``lost`` is not given.
        """

    def __exit__(self, *_: object) -> None:
        """Nothing to give back, unless an executor says otherwise."""


def worker_died() -> ExecutionError:
    """What is said where workers die again and again."""
    return ExecutionError(
        "Worker processes were killed repeatedly, perhaps because memory ran out. Lower `workers`, then run the same "
        "job again: finished work is kept."
    )


def refuse_cluster(executor: Executor) -> None:
    """An address, or a part of a cluster's GPUs, means nothing to an executor on this machine."""
    for parameter, given in (("address", executor.address), ("gpus_per_task", executor.gpus_per_task)):
        if given:
            raise ParameterError(f"`{parameter}` goes with `executor='ray'`. Got `executor={executor.name!r}` instead.")
