"""Work on a Ray cluster, or on a Ray of this machine's own."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from textveil.errors import ExecutionError, TextveilError
from textveil.execution.base import MAX_RETRIES, Executor, worker_died
from textveil.extras import require

T = TypeVar("T")
R = TypeVar("R")

OBJECT_STORE = 128 << 20
"""Bytes for tasks on their way to a worker; what is large lies in files."""


def _knock(address: str | None) -> None:
    """See whether anybody listens at an address: Ray itself would wait for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=10):
            pass


class _Actor:
    """A process somewhere in the cluster."""

    def answer(self) -> None:
        """Say that it is there."""

    def do(self, function: Callable[[T], R], task: T) -> R:
        """Do a task."""
        return function(task)


class RayExecutor(Executor):
    """Does tasks on every node of a cluster, which must all see the same files.

    Where this process is connected to a cluster already, that one is used. Otherwise, without an address, a Ray of this
    machine's own is started and ended. Tasks are done by actors, which keep what they have loaded for the next task;
    where one dies, Ray starts it anew and gives it the task again.
    """

    name = "ray"

    def __init__(self, workers: int | None = None, address: str | None = None, gpus_per_task: float = 0.0) -> None:
        super().__init__(workers, address, gpus_per_task)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        self._ray: Any = require("ray", extra="ray")
        own = {} if address else {"num_cpus": self.workers, "object_store_memory": OBJECT_STORE}
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(address, own)
        if workers is None and (address is not None or not self._ours):
            self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._actors: list[Any] = []
        self._check_gpus()

    def _check_gpus(self) -> None:
        """Refuse tasks that no worker would ever get the GPUs for."""
        there = float(self._ray.cluster_resources().get("GPU", 0))
        if self.gpus_per_task > there:
            self.__exit__()
            raise ExecutionError(f"A task is to have {self.gpus_per_task:g} GPUs, and the cluster has {there:g}.")

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
                f"No Ray cluster answers at {address!r}. Check the address, and that Python and Ray have the same "
                "versions there."
                if address
                else "Ray does not start on this machine. Use --executor processes instead."
            ) from error

    def map(self, function: Callable[[T], R], tasks: Iterable[T], lost: Callable[[T], R] | None = None) -> Iterator[R]:
        """``function`` of every task, as results come in."""
        remaining = iter(tasks)
        known = self._ray.put(function)
        # An actor gets its first task when it has answered, since the cluster may have no room for it yet.
        answers = {actor.answer.remote(): actor for actor in self._open_actors()}
        running: dict[Any, tuple[Any, T]] = {}
        taken = True
        try:
            while running or taken:
                done = self._ray.wait([*answers, *running], num_returns=1)[0][0]
                if done in answers:
                    actor, results = answers.pop(done), []
                    self._collect(done)
                else:
                    actor, task = running.pop(done)
                    results = [self._collect(done, lost and partial(lost, task))]
                taken = False
                for task in islice(remaining, 1):
                    running[actor.do.remote(known, task)] = actor, task
                    taken = True
                yield from results
        finally:
            for actor, _ in running.values():  # somebody has had enough: what it does is of no use
                self._end(actor)

    def _open_actors(self) -> list[Any]:
        if not self._actors:
            needs = {"num_cpus": 1, "num_gpus": self.gpus_per_task}
            actor = self._ray.remote(_Actor).options(**needs, max_restarts=-1, max_task_retries=MAX_RETRIES)
            self._actors = [actor.remote() for _ in range(self.workers)]
        return self._actors

    def _end(self, actor: Any) -> None:
        self._actors.remove(actor)
        self._ray.kill(actor)

    def _collect(self, reference: Any, lost: Callable[[], Any] | None = None) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, TextveilError):
                raise error.cause from error
            raise
        except errors.RayError as error:
            if lost is None:
                raise worker_died() from error
            return lost()

    def __exit__(self, *_: object) -> None:
        """Leave the cluster; end it, if it is our own."""
        for actor in [] if self._ours else [*self._actors]:
            self._end(actor)
        if self._ours:
            self._ray.shutdown()
