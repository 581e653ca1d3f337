"""Results of an executor in the order of their tasks, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, update_wrapper
from typing import TypeVar

from textveil.execution.base import Executor

T = TypeVar("T")
R = TypeVar("R")


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
