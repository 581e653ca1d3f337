"""What surrounds the routes: the frame gives ids, headers and log lines; the gate refuses what is not allowed."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from textveil.errors import describe_bug
from textveil.service.connections import mark_computing
from textveil.service.models import RefusedError
from textveil.service.settings import Settings, is_loopback

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


PUBLIC = ("/", "/health")
PAGE = "/page/"
"""What needs neither a token nor a place: the state of the server, and the page, which asks for the token itself."""
DRAINED = 16
"""A body that is too large is read up to this many times the limit, so that its sender hears the answer."""
_CLOSE = {"Connection": "close"}


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
        given = _find_header(scope, b"x-request-id")
        identity = scope["textveil.id"] = given if _ID.fullmatch(given) else secrets.token_hex(8)

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_encode({**HEADERS, "X-Request-ID": identity})]
            await send(message)

        try:
            await self._app(scope, receive, send_framed)
        except Exception as error:  # noqa: BLE001 # its message may quote a text, so it ends here
            LOGGER.error("%s %s", identity, describe_bug(error))  # a traceback may quote a text, too
            if not status:
                bug = RefusedError(500, "This is a bug in textveil. The log has its place.", "Bug")
                await _send_refusal(scope, send_framed, bug)
        route = getattr(scope.get("route"), "path", "-")  # not the path itself, which may be anything
        method = scope["method"] if scope["method"] in ("GET", "POST", "OPTIONS", "HEAD") else "-"
        LOGGER.info("%s %s %s %d %.0f ms", identity, method, route, status or GONE, 1000 * (time.monotonic() - started))


def _find_header(scope: Message, name: bytes) -> str:
    """A header of a request; empty if it has none."""
    return next((bytes(value).decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _encode(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as the server sends them."""
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


def write_problem(scope: Message, refused: RefusedError) -> bytes:
    """A refusal as JSON."""
    problem = {"error": str(refused), "kind": refused.kind, "parameters": refused.parameters}
    return json.dumps({**problem, "request_id": scope["textveil.id"]}).encode()


async def _send_refusal(scope: Message, send: Send, refused: RefusedError) -> None:
    body = write_problem(scope, refused)
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **refused.headers}
    await send({"type": "http.response.start", "status": refused.status, "headers": _encode(headers)})
    await send({"type": "http.response.body", "body": body})


class Gate:
    """Refuses requests that are not allowed, too large, too many or too slow.

    Args:
        app: The application inside.
        settings: The limits.
        token: The token that requests must bring, if they need one.
    """

    def __init__(self, app: App, settings: Settings, token: bytes | None) -> None:
        self._app = app
        self._settings = settings
        self._token = token
        self._inside = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Check a request, and let it in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check_address(scope)
            body = None
            if not _is_public(scope):
                self._check_sender(scope)
                if (body := await self._read(scope, receive)) is None:
                    return
                if self._inside >= self._settings.requests:
                    message = f"The server is busy: {self._settings.requests} requests are in work."
                    raise RefusedError(429, f"{message} Try again in a second.", "Busy")
        except RefusedError as refused:
            await _send_refusal(scope, send, refused)
            return
        if body is None:
            await self._app(scope, receive, send)
        else:
            await self._enter(scope, body, receive, send)

    def _check_address(self, scope: Message) -> None:
        """Refuse other names of this machine. A page that made its own name lead here could read the answers."""
        if self._token is None and not _is_local(_find_header(scope, b"host")):
            message = "The request is for another host. Use the address that the server shows."
            raise RefusedError(400, message, "HostError")

    def _check_sender(self, scope: Message) -> None:
        """Refuse a request without the token, from a page of another site, or with something else than JSON."""
        if self._token is not None:
            scheme, _, given = _find_header(scope, b"authorization").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("latin-1"), self._token):
                message = "The token is missing or wrong. Send the header 'Authorization: Bearer TOKEN'."
                raise RefusedError(401, message, "TokenError", headers={"WWW-Authenticate": "Bearer"})
        if self._is_foreign(scope):
            message = "A page of another site sent this. The server must be started with its origin in `origins`."
            raise RefusedError(403, message, "OriginError")
        kind = _find_header(scope, b"content-type").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            raise RefusedError(415, "Send JSON, with the header 'Content-Type: application/json'.", "TypeError")

    def _is_foreign(self, scope: Message) -> bool:
        """Whether a page of another site sent the request. It could not read the answer, but cause work."""
        origin, site = _find_header(scope, b"origin"), _find_header(scope, b"sec-fetch-site")
        if origin in self._settings.origins:
            return False
        if site:
            return site not in ("same-origin", "none")
        return bool(origin) and origin.partition("://")[2] != _find_header(scope, b"host")  # of an old browser

    async def _read(self, scope: Message, receive: Receive) -> bytes | None:
        """Read the body, up to the limits of size and time; ``None`` if the client hangs up."""
        most, seconds = self._settings.bytes, self._settings.seconds
        large = f"The request is too large: at most {most:,} bytes. Send fewer texts at a time."
        too_large = RefusedError(413, large, "SizeError", headers=_CLOSE)
        declared = _find_header(scope, b"content-length")
        if declared.isdigit() and int(declared[:20]) > DRAINED * most:
            raise too_large
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(seconds):
                while more and size <= DRAINED * most:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    part, more = message.get("body", b""), message.get("more_body", False)
                    size += len(part)
                    if size <= most:
                        parts.append(part)
        except TimeoutError:
            slow = f"The request did not arrive within {seconds:g} seconds."
            raise RefusedError(408, slow, "SlowError", headers=_CLOSE) from None
        if size > most:
            raise too_large
        return b"".join(parts)

    async def _enter(self, scope: Message, body: bytes, receive: Receive, send: Send) -> None:
        """Let a request in. It ends when its answer is sent, its time is up or its client hangs up.

        It makes room for another one as soon as its answer is there, so nobody waits for a client that reads slowly.
        """
        bodies = [{"type": "http.request", "body": body, "more_body": False}]
        inside, started = contextlib.ExitStack(), False
        self._inside += 1
        inside.callback(self._leave)
        inside.enter_context(mark_computing(scope))

        async def replay() -> Message:
            if bodies:
                return bodies.pop()
            return await asyncio.Future()  # only this gate watches for the end

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            inside.close()
            await send(message)

        work = asyncio.ensure_future(self._app(scope, replay, watch))
        end = asyncio.ensure_future(_wait_for_end(receive))
        try:
            await asyncio.wait({work, end}, timeout=self._settings.seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            gone = end.done()
        finally:
            end.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            inside.close()
        if not gone and not started:
            message = f"The answer took longer than {self._settings.seconds:g} seconds. Send fewer or shorter texts."
            await _send_refusal(scope, send, RefusedError(503, message, "TimeError", headers={"Retry-After": "1"}))
        return None

    def _leave(self) -> None:
        self._inside -= 1


def _is_public(scope: Message) -> bool:
    return scope["method"] in ("GET", "HEAD") and (scope["path"] in PUBLIC or scope["path"].startswith(PAGE))


async def _wait_for_end(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _is_local(host: str) -> bool:
    """Whether the header ``Host`` names this machine. Clients of HTTP/1.0 may have none."""
    name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    return not host or is_loopback(name)
