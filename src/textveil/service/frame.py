"""The frame around every answer: a request id, security headers, a line in the log, and no exception that gets out."""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple, TypeAlias

from textveil.errors import describe_bug

LOGGER = logging.getLogger("textveil.service")
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
GONE = 499
"""The status in the log of a request whose client hung up. Nobody gets it."""
_ID = re.compile(r"[0-9a-fA-F-]{8,64}")
"""An id that a client may choose. Letters beyond these could spell a word of a text, and ids are logged."""


class Problem(NamedTuple):
    """An error that is answered outside of the routes."""

    status: int
    message: str
    kind: str
    headers: dict[str, str] | None = None


BUG = Problem(500, "This is a bug in textveil. The log has its place.", "Bug")


class Frame:
    """Gives every request an id and every answer its headers, and logs one line for each. No line has a text.

    Args:
        app: The application inside.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 0
        identity = scope["textveil.id"] = _choose_id(find_header(scope, b"x-request-id"))

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *encode({**HEADERS, "X-Request-ID": identity})]
            await send(message)

        try:
            await self._app(scope, receive, send_framed)
        except Exception as error:  # noqa: BLE001 # its message may quote a text, so it ends here
            LOGGER.error("%s %s", identity, describe_bug(error))  # a traceback may quote a text, too
            if not status:
                await send_problem(scope, send_framed, BUG)
        route = getattr(scope.get("route"), "path", "-")  # not the path itself, which may be anything
        method = scope["method"] if scope["method"] in ("GET", "POST", "OPTIONS", "HEAD") else "-"
        LOGGER.info("%s %s %s %d %.0f ms", identity, method, route, status or GONE, 1000 * (time.monotonic() - started))


def find_header(scope: Message, name: bytes) -> str:
    """A header of a request; empty if it has none."""
    return next((bytes(value).decode("latin-1") for key, value in scope["headers"] if key == name), "")


def encode(headers: MutableMapping[str, str] | dict[str, str]) -> Iterable[tuple[bytes, bytes]]:
    """Headers as the server sends them."""
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


def _choose_id(given: str) -> str:
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


def write_problem(scope: Message, message: str, kind: str, parameters: Iterable[str] = ()) -> bytes:
    """An error as JSON."""
    problem = {"error": message, "kind": kind, "parameters": list(parameters), "request_id": scope["textveil.id"]}
    return json.dumps(problem).encode()


async def send_problem(scope: Message, send: Send, problem: Problem) -> None:
    """Answer with an error."""
    status, message, kind, headers = problem
    body = write_problem(scope, message, kind)
    sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": [*encode(sent)]})
    await send({"type": "http.response.body", "body": body})
