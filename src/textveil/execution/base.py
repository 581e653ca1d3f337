"""The contract of an executor: independent tasks, done somewhere, in any order."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import ClassVar, TypeVar

from textveil.errors import ParameterError

T = TypeVar("T")
R = TypeVar("R")

MAX_RETRIES = 3
"""How often in a row work is given to another worker when one dies; then the work itself is to blame."""


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Executor(AbstractContextManager["Executor"], ABC):
    """Does tasks somewhere. Tasks may be done twice where a worker dies, so they must not mind.

    Args:
        workers: How many tasks are done at a time; as many as there are cores, unless told.
        address: The address of a running cluster, for an executor that has one.
    """

    name: ClassVar[str]

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise ParameterError(f"The number of workers must be at least 1. Got {workers} instead.")
        self.workers = workers or usable_cores()
        self.address = address

    @property
    def processes(self) -> int:
        """How many processes hold memory for the work, this one included."""
        return self.workers + 1

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """``function`` of every task, as results come in; only a few tasks are taken ahead of the work."""

    def __exit__(self, *_: object) -> None:
        """Nothing to give back, unless an executor says otherwise."""


def refuse_address(executor: Executor) -> None:
    """An address means nothing to an executor on this machine."""
    if executor.address is not None:
        raise ParameterError(f"--address goes with --executor ray. Got --executor {executor.name}.")
