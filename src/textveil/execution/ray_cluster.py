"""Work on a Ray cluster, or on a Ray of this machine's own."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from textveil.errors import ExecutionError, TextveilError
from textveil.execution.base import MAX_RETRIES, Executor
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


class RayExecutor(Executor):
    """Does tasks on every node of a cluster, which must all see the same files.

    Where this process is connected to a cluster already, that one is used. Otherwise, without an address, a Ray of this
    machine's own is started and ended. Where a worker dies, Ray gives its task to another.
    """

    name = "ray"

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        super().__init__(workers, address)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        self._ray: Any = require("ray", extra="ray")
        own = {} if address else {"num_cpus": self.workers, "object_store_memory": OBJECT_STORE}
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(address, own)
        if workers is None and (address is not None or not self._ours):
            self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

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

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """``function`` of every task, as results come in."""
        remote = self._ray.remote(function).options(num_cpus=1, max_retries=MAX_RETRIES)
        remaining = iter(tasks)
        running: list[Any] = []
        while True:
            running += [remote.remote(task) for task in islice(remaining, self.workers + 1 - len(running))]
            if not running:
                return
            done, running = self._ray.wait(running, num_returns=1)
            yield self._collect(done[0])

    def _collect(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, TextveilError):
                raise error.cause from error
            raise
        except errors.RayError as error:
            raise ExecutionError(
                "Workers of the Ray cluster died again and again, perhaps because memory ran out. Give fewer "
                "--workers, then run the same command again: what is finished is kept."
            ) from error

    def __exit__(self, *_: object) -> None:
        """Leave the cluster; end it, if it is our own."""
        if self._ours:
            self._ray.shutdown()
