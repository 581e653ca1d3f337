"""Threads: array work runs on as many threads as the BLAS library would use."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from threadpoolctl import ThreadpoolController

R = TypeVar("R")

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


def limit_threads(number: int) -> None:
    """Limit the libraries of this process to ``number`` threads, including libraries that are loaded later.

    Several processes that each use all cores slow each other down.
    """
    from threadpoolctl import ThreadpoolController

    os.environ |= dict.fromkeys(_VARIABLES, str(number))
    ThreadpoolController().limit(limits=number)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(number)


def in_threads(function: Callable[..., R], arguments: Iterable[tuple[object, ...]]) -> Iterator[R]:
    """Apply ``function`` to every tuple of arguments, in order.

    A single call runs in the caller's thread, several calls run in parallel. BLAS has one thread for each: on busy
    cores, its own threads would mostly wait for each other. This also parallelizes more than the matrix products, and
    the caller's thread prepares the next arguments meanwhile. The number of threads is the one that BLAS was configured
    to use.
    """
    remaining = iter(arguments)
    first = list(islice(remaining, 2))
    if len(first) < 2:
        return _in_this_thread(function, first)
    return _in_threads(function, chain(first, remaining))


def _in_this_thread(function: Callable[..., R], arguments: Iterable[tuple[object, ...]]) -> Iterator[R]:
    with _BLAS.on_one_thread():
        for values in arguments:
            yield function(*values)


def _in_threads(function: Callable[..., R], arguments: Iterable[tuple[object, ...]]) -> Iterator[R]:
    from concurrent.futures import ThreadPoolExecutor

    with _BLAS.on_one_thread() as workers, ThreadPoolExecutor(workers) as executor:
        waiting: deque[Future[R]] = deque()
        for values in arguments:
            waiting.append(executor.submit(function, *values))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Blas:
    """The number of threads of BLAS, which is global to the process. The last user restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._workers = 1
        self._limit = ExitStack()
        self._libraries: ThreadpoolController | None = None
        self._modules = 0

    @contextmanager
    def on_one_thread(self) -> Iterator[int]:
        """Limit BLAS to one thread; yield the number of threads it had before."""
        with self._lock:
            if self._users == 0:
                self._limit_to_one()
            self._users += 1
        try:
            yield self._workers
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.close()

    def _limit_to_one(self) -> None:
        blas = self._find_libraries()
        self._workers = max((library.num_threads for library in blas.lib_controllers), default=1)
        self._limit.enter_context(blas.limit(limits=1))

    def _find_libraries(self) -> ThreadpoolController:
        """The BLAS libraries of this process. The search takes milliseconds; only an import can bring a new one."""
        if self._libraries is None or self._modules != len(sys.modules):
            from threadpoolctl import ThreadpoolController

            self._libraries = ThreadpoolController().select(user_api="blas")
            self._modules = len(sys.modules)
        return self._libraries


_BLAS = _Blas()
