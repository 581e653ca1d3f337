"""An executor that runs tasks in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from textveil.errors import ParameterError
from textveil.execution.base import Executor, refuse_cluster

T = TypeVar("T")
R = TypeVar("R")


class LocalExecutor(Executor):
    """Runs tasks in this process, which is the easiest to debug."""

    name = "local"

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        super().__init__(1 if workers is None else workers, address, gpus_per_task)
        refuse_cluster(self)
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
