import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from textveil.service.patience import PatientProtocol

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Transport(asyncio.Transport):
    """A connection without a network."""

    def __init__(self):
        super().__init__()
        self.closed = False
        self.written = b""

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def answer_late(scope, receive, send):
    await asyncio.sleep(0.15)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def watch(*parts, seconds=0.05, wait=0.12):
    """Send some bytes on a connection; whether it is closed after a while, and what was answered."""

    async def run():
        config = uvicorn.Config(answer_late, ws="none", lifespan="off", log_config=None, timeout_keep_alive=60)
        config.load()
        protocol = PatientProtocol(config=config, server_state=ServerState(), app_state={}, seconds=seconds)
        transport = Transport()
        protocol.connection_made(transport)
        for part in parts:
            protocol.data_received(part)
        await asyncio.sleep(wait)
        closed = transport.closed
        protocol.connection_lost(None)
        return closed, transport.written

    return asyncio.run(run())


@pytest.mark.parametrize("parts", [(), (REQUEST[:9],), (REQUEST[:9], REQUEST[9:20])])
def test_a_head_that_does_not_arrive_ends_the_connection(parts):
    assert watch(*parts) == (True, b"")


def test_a_request_in_work_is_waited_for():
    assert watch(REQUEST)[0] is False
    closed, written = watch(REQUEST, wait=0.25)
    assert written.startswith(b"HTTP/1.1 200 OK")
    assert closed is False  # it is kept for the next request, as uvicorn decides
