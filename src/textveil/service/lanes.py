"""Lanes: threads for work that takes its time, each with a queue and a limit, so that no other request waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from textveil.service.models import RefusedError

Result: TypeAlias = tuple[Any, Exception | None]


def start_thread(work: Callable[[], Any]) -> asyncio.Future[Result]:
    """Begin some work in a thread of its own, which no exit waits for.

    An error is part of the result, since maybe nobody waits for it any more.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result) -> None:
        if not done.done():  # as it is if the server has ended
            done.set_result(result)

    def do() -> None:
        result: Result
        try:
            result = work(), None
        except Exception as error:  # noqa: BLE001 # it is given to the requests
            result = None, error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=do, name="textveil-service", daemon=True).start()
    return done


class _Piece:
    """A piece of work, and the number of requests that wait for it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Result] | None = None
        self.waiting = 0
        self.begun = False


class Lane:
    """Does one kind of work, a few pieces at once. Requests for the same piece wait for it together.

    What nobody waits for any more is not begun. What was begun goes on when its requests end: a thread cannot be
    stopped, and most results are kept for the next request.

    Args:
        busy: The message for a request that is one too many.
        most: The number of requests that may wait, and of pieces that may be unfinished.
        at_once: The number of pieces to work on at once.
    """

    def __init__(self, busy: str, *, most: int, at_once: int = 1) -> None:
        self._busy = busy
        self._most = most
        self._turns = asyncio.Semaphore(at_once)
        self._pieces: dict[Hashable, _Piece] = {}

    async def run(self, key: Hashable, work: Callable[[], Any]) -> Any:
        """The result of some work, in a thread of its own.

        Args:
            key: What the work is. Another request with the same key waits for the same work.
            work: The work.

        Raises:
            RefusedError: Too many requests wait, or too much work is unfinished.
        """
        waiting = sum(piece.waiting for piece in self._pieces.values())
        if waiting >= self._most or (key not in self._pieces and len(self._pieces) >= self._most):
            raise RefusedError(429, self._busy, "Busy")
        piece = self._pieces.setdefault(key, _Piece())
        if piece.task is None:
            piece.task = asyncio.create_task(self._work(key, piece, work))
        piece.waiting += 1
        try:
            value, error = await asyncio.shield(piece.task)
        finally:
            piece.waiting -= 1
            if not piece.waiting and not piece.begun:
                self._pieces.pop(key, None)
                piece.task.cancel()
        if error is not None:
            raise error
        return value

    async def _work(self, key: Hashable, piece: _Piece, work: Callable[[], Any]) -> Result:
        """Do the work when it is its turn."""
        async with self._turns:
            piece.begun = True
            try:
                return await start_thread(work)
            finally:
                del self._pieces[key]
