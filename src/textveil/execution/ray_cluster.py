"""An executor that runs tasks on a Ray cluster, or on a Ray instance of this machine."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from textveil.errors import ExecutionError, TextveilError
from textveil.execution.base import MAX_RETRIES, Executor, worker_died
from textveil.extras import require

T = TypeVar("T")
R = TypeVar("R")

OBJECT_STORE = 128 << 20
"""The number of bytes for tasks in transit. Large data is in files."""


def _knock(address: str | None) -> None:
    """Check that something listens at an address, because Ray itself would wait for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=10):
            pass


class _Actor:
    """A worker process in the cluster."""

    def answer(self) -> None:
        """Confirm that the process has started."""

    def do(self, function: Callable[[T], R], task: T) -> R:
        """Run a task."""
        return function(task)


@dataclass(slots=True)
class _Given(Generic[T]):
    """A task, and the number of workers that died while running it."""

    task: T
    deaths: int = 0


class _Waiting(Generic[T, R]):
    """The tasks that wait for a worker; those whose worker died come first."""

    def __init__(self, tasks: Iterable[T], lost: Callable[[T], R] | None) -> None:
        self._new = iter(tasks)
        self._lost = lost
        self._next: deque[_Given[T]] = deque()
        self._silent = 0
        """The number of workers that died before they had a task."""

    def __bool__(self) -> bool:
        if not self._next:
            self._next.extend(map(_Given, islice(self._new, 1)))
        return bool(self._next)

    def take(self) -> _Given[T] | None:
        """The next task; ``None`` if none is left."""
        return self._next.popleft() if self else None

    def bury(self, given: _Given[T] | None) -> list[R]:
        """Record the death of a worker, and queue its task again if there was one.

        Returns:
            The result of a task that is given up, or nothing.

        Raises:
            ExecutionError: Too many workers have died.
        """
        if given is None:
            self._silent += 1
            if self._silent > MAX_RETRIES:
                raise worker_died()
            return []
        given.deaths += 1
        if given.deaths <= MAX_RETRIES:
            self._next.append(given)
            return []
        if self._lost is None:
            raise worker_died()
        return [self._lost(given.task)]


class RayExecutor(Executor):
    """Runs tasks on all nodes of a cluster, which must share a file system.

    A connection of this process to a cluster is reused. Otherwise, without an address, a Ray instance is started on
    this machine and stopped at the end. Actors run the tasks and keep loaded data for the next task. An actor that dies
    is replaced, and its task runs again.
    """

    name = "ray"
    has_cluster = True
    worker_overhead = 40 << 20  # Ray itself; 34 MiB were measured

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        super().__init__(workers, address, gpus_per_task)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray must not send usage statistics
        self._ray: Any = require("ray", extra="ray")
        own = {} if address else {"num_cpus": self.workers, "object_store_memory": OBJECT_STORE}
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(address, own)
        if workers is None and (address is not None or not self._ours):
            self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._actors: list[Any] = []
        self._check_gpus()

    @property
    def threads(self) -> int:
        """One: a worker has one core of the cluster."""
        return 1

    def _check_gpus(self) -> None:
        """Refuse tasks that need more GPUs than the cluster has."""
        there = float(self._ray.cluster_resources().get("GPU", 0))
        if self.gpus_per_task > there:
            self.__exit__()
            raise ExecutionError(
                f"A task needs {self.gpus_per_task:g} GPUs, and the cluster has {there:g}. Lower `gpus_per_task`."
            )

    def _connect(self, address: str | None, own: dict[str, int]) -> None:
        try:
            _knock(address)
            self._ray.init(
                address=address or "local",
                include_dashboard=None if address else False,
                log_to_driver=False,
                logging_level="ERROR",
                **own,
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise ExecutionError(
                f"No Ray cluster answers at {address!r}. Check `address`, and that the cluster has the same "
                "versions of Python and Ray."
                if address
                else "Ray does not start on this machine. Use `executor='processes'` instead."
            ) from error

    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """Apply ``function`` to every task; results arrive in the order of completion."""
        waiting = _Waiting(tasks, lost)
        known = self._ray.put(function)
        # An actor gets its first task after it has answered, because the cluster may have no room for it yet.
        while len(self._actors) < self.workers:
            self._start_actor()
        running: dict[Any, tuple[Any, _Given[T] | None]] = {
            actor.answer.remote(): (actor, None) for actor in self._actors
        }
        idle: list[Any] = []

        def assign() -> None:
            while idle and (following := waiting.take()) is not None:
                actor = idle.pop()
                running[actor.do.remote(known, following.task)] = actor, following

        try:
            while waiting or any(given for _, given in running.values()):
                assign()  # tasks that have paused may go on
                done = self._ray.wait([*running], num_returns=1)[0][0]
                actor, given = running.pop(done)
                results = self._collect(done)
                if results is None:
                    results = waiting.bury(given)
                    actor = self._replace(actor)
                    running[actor.answer.remote()] = actor, None
                else:
                    idle.append(actor)
                    assign()
                yield from results if given else ()
        finally:
            for actor, given in running.values():
                if given:  # the caller stopped early: the result is not needed
                    self._end(actor)

    def _start_actor(self) -> Any:
        # Ray's own restarts are not used: under load, a task waited forever for its restarted actor.
        actor = self._ray.remote(_Actor).options(num_cpus=1, num_gpus=self.gpus_per_task).remote()
        self._actors.append(actor)
        return actor

    def _replace(self, actor: Any) -> Any:
        self._end(actor)
        return self._start_actor()

    def _end(self, actor: Any) -> None:
        self._actors.remove(actor)
        self._ray.kill(actor)

    def _collect(self, reference: Any) -> list[Any] | None:
        """The result, as a list of one; ``None`` if the worker has died."""
        errors = self._ray.exceptions
        try:
            return [self._ray.get(reference)]
        except errors.RayTaskError as error:
            if isinstance(error.cause, TextveilError):
                raise error.cause from error
            raise
        except errors.RayError:
            return None

    def __exit__(self, *_: object) -> None:
        """Disconnect from the cluster, and stop it if this executor started it."""
        for actor in [] if self._ours else [*self._actors]:
            self._end(actor)
        if self._ours:
            self._ray.shutdown()
