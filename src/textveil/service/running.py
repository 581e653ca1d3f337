"""Running the service: its socket, its processes, its log and its end."""

from __future__ import annotations

import functools
import inspect
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING, Any

from textveil.errors import ParameterError
from textveil.extras import require
from textveil.service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRA = "serve"
CONNECTIONS = 4
"""Connections for each request that may be in work."""
BACKLOG = 2048
"""Connections that wait to be accepted."""
PATIENCE = 5.0
"""The seconds that a stopping server waits longer than a request may take."""
LOG_CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "textveil.service": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}


def run(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal arrives; then finish what was begun.

    Args:
        settings: The settings.
        announce: Told the address of the service.

    Raises:
        MissingExtraError: FastAPI or uvicorn is not installed.
        ParameterError: The address cannot be used.
    """
    uvicorn = require("uvicorn", extra=EXTRA)
    require("fastapi", extra=EXTRA)
    from textveil.service.app import build_app
    from textveil.service.connections import Connections

    settings.read_token()  # before anything is loaded
    settings.check_names()
    listening = bind(settings.host, settings.port)
    config = uvicorn.Config(
        functools.partial(build_app, settings),
        factory=True,
        workers=settings.workers,
        http=Connections(CONNECTIONS * settings.requests, settings.seconds),
        ws="none",
        lifespan="on",
        loop="asyncio",
        log_config=LOG_CONFIG,
        access_log=False,  # it has paths, which may be anything
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=int(2 * settings.seconds + PATIENCE),
    )
    host, port = listening.getsockname()[:2]
    announce(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    with listening:
        if settings.workers > 1:
            from uvicorn.supervisors import Multiprocess

            older = "target" in inspect.signature(Multiprocess).parameters  # versions of uvicorn differ
            given = {"target": uvicorn.Server(config).run} if older else {}
            _keep_interrupts_from_workers()
            Multiprocess(config, sockets=[listening], **given).run()
        else:
            uvicorn.Server(config).run(sockets=[listening])


def _keep_interrupts_from_workers() -> None:
    """Handle Ctrl-C, which reaches all processes of a terminal, in this one only. It tells the workers to stop.

    Workers inherit what is blocked. A worker that is still starting would show a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # the first process starts it, and that would allow interrupts again
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def pass_on() -> None:
        signal.sigwait({signal.SIGINT})
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=pass_on, daemon=True).start()


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        ParameterError: The address does not exist or is taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)  # requests wait from now on, until the models are loaded
            listening.set_inheritable(True)
        except BaseException:
            listening.close()
            raise
    except OSError as error:
        reason = error.strerror or "the address is not known"
        raise ParameterError(f"The service cannot listen there: {reason}. Choose another `host` or `port`.") from error
    return listening
