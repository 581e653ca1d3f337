"""The connections of the service: how long a client may take to send and to read, and how many it may have open."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

KEY = "textveil.connection"
"""Where the state of a request has its connection."""


class Connections:
    """The open connections of a process. It makes one whenever uvicorn accepts a client.

    A client may have half of all connections. Beyond, its oldest connection ends on which nothing is being computed, so
    clients that neither send nor read keep nobody away.

    Args:
        most: The number of connections.
        seconds: The time that a client may take to read what was sent. A request may take twice as long to arrive.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.seconds = seconds
        self._most = most
        self._open: dict[Connection, None] = {}  # from old to new

    def __call__(self, **given: Any) -> Connection:
        """A connection, with what uvicorn gives to a protocol."""
        return Connection(self, **given)

    def __contains__(self, connection: Connection) -> bool:
        return connection in self._open

    def add(self, added: Connection) -> None:
        """Count a connection, and end one if there are too many."""
        self._open[added] = None
        of_client = [each for each in self._open if each.client == added.client]
        if 2 * len(of_client) > self._most or len(self._open) > self._most:
            crowd = of_client if 2 * len(of_client) > self._most else self._open
            ended = next((each for each in crowd if not each.is_computing), added)
            self.remove(ended)
            ended.end()

    def remove(self, connection: Connection) -> None:
        """Count a connection no longer."""
        self._open.pop(connection, None)


class Connection(asyncio.Protocol):
    """Passes everything on to uvicorn's protocol, and ends a connection whose client keeps it waiting.

    Uvicorn itself waits forever, for the head of a request as for a client that does not read.

    Args:
        connections: All connections of the process.
        app_state: What uvicorn shows to the application. Requests find their connection there.
        given: What else uvicorn gives to a protocol.
    """

    def __init__(self, connections: Connections, *, app_state: Mapping[str, Any], **given: Any) -> None:
        self._connections = connections
        self._inner = H11Protocol(app_state={**app_state, KEY: self}, **given)
        self._timer: asyncio.TimerHandle | None = None
        self._computing = self._unread = False
        self.client: str | None = None

    @property
    def is_computing(self) -> bool:
        """Whether the client waits for us, and not we for the client."""
        return self._computing and not self._unread

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as it is for TCP
        """Begin to wait for a request."""
        self._transport = transport
        self.client = str((transport.get_extra_info("peername") or [""])[0])
        transport.set_write_buffer_limits(0)  # so that we are told of everything that the client has not taken yet
        self._inner.connection_made(transport)
        self._connections.add(self)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass on what was sent."""
        self._inner.data_received(data)

    def eof_received(self) -> None:
        """Pass on that nothing more will be sent."""
        self._inner.eof_received()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        self._unread = True
        self._wait()
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """The client has read everything."""
        self._unread = False
        self._wait()
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._connections.remove(self)
        self._stop()
        self._inner.connection_lost(exc)

    def end(self) -> None:
        """End the connection at once, even if something was not read."""
        self._transport.abort()

    @contextlib.contextmanager
    def computing(self) -> Iterator[None]:
        """While the answer to a request is computed. That has limits of its own."""
        self._computing = True
        if not self._unread:
            self._stop()
        try:
            yield
        finally:
            self._computing = False
            if not self._unread:
                self._wait()

    def _wait(self) -> None:
        """Give the client its time, if we wait for it. An ended connection does not wait."""
        self._stop()
        if not self.is_computing and self in self._connections:
            seconds = self._connections.seconds * (1 if self._unread else 2)
            self._timer = asyncio.get_running_loop().call_later(seconds, self.end)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None


def mark_computing(scope: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    """While the answer to a request is computed; nothing, if the request did not come over a connection of ours."""
    connection: Connection | None = scope.get("state", {}).get(KEY)
    return contextlib.nullcontext() if connection is None else connection.computing()
