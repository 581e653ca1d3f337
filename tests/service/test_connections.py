"""Clients that keep a server waiting, on a real server whose application answers as the path says."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest
import uvicorn

from textveil.service.connections import Connections, mark_computing
from textveil.service.running import bind

SECONDS = 0.3
MOST = 8
REQUEST = b"GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n"
LATE = REQUEST.replace(b"quick", b"late")
LONG = REQUEST.replace(b"quick", b"long")
LENGTH = 1 << 16


async def answer(scope, receive, send):
    with mark_computing(scope):
        await asyncio.sleep(5 * SECONDS if scope["path"] == "/late" else 0)
    length = LENGTH if scope["path"] == "/long" else 2
    headers = [(b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * length})


@pytest.fixture(scope="module")
def connect():
    """Connects to a server, and sends some bytes."""
    listening = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        answer, http=Connections(MOST, SECONDS), ws="none", lifespan="off", log_config=None, timeout_keep_alive=60
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    opened = []

    def open_connection(*parts):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # so that little waits to be read
        connection.settimeout(10)
        connection.connect(listening.getsockname())
        opened.append(connection)
        for part in parts:
            connection.sendall(part)
            time.sleep(0.02)
        return connection

    yield open_connection
    for connection in opened:
        connection.close()
    server.should_exit = True
    thread.join(30)


def is_open(connection):
    """Whether a connection is still there, without taking what was sent on it."""
    connection.setblocking(False)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        connection.settimeout(10)


def read_all(connection):
    received = b""
    try:
        while part := connection.recv(1 << 16):
            received += part
    except ConnectionError:
        pass
    return received


@pytest.mark.parametrize("parts", [(), (REQUEST[:9],), (REQUEST[:9], REQUEST[9:20])])
def test_a_head_that_does_not_arrive_ends_the_connection(connect, parts):
    assert read_all(connect(*parts)) == b""


def test_the_next_request_has_its_time_again(connect):
    connection = connect(REQUEST, REQUEST[:9])
    assert read_all(connection).count(b"200 OK") == 1


def test_an_answer_in_work_is_waited_for(connect):
    connection = connect(LATE)
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
    assert is_open(connection)


def test_a_client_that_does_not_read_is_dropped_with_all_that_it_was_to_get(connect):
    number = 200
    connection = connect(LONG * number)
    time.sleep(4 * SECONDS)
    assert read_all(connection).count(b"x") < number * LENGTH


def test_a_client_that_reads_gets_everything(connect):
    number = 200
    connection = connect(LONG * number)
    received = 0
    while received < number * LENGTH:
        received += connection.recv(1 << 16).count(b"x")
    assert received == number * LENGTH


def test_a_client_with_too_many_connections_loses_those_that_nobody_waits_for(connect):
    working = connect(LATE)
    waiting = [connect(REQUEST[:9]) for _ in range(MOST)]
    assert connect(REQUEST).recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
    assert [is_open(connection) for connection in waiting[-3:]] == [False, True, True]
    assert working.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")


def test_a_client_all_of_whose_requests_are_in_work_gets_no_further_connection(connect):
    time.sleep(3 * SECONDS)  # for what other tests have left
    working = [connect(LATE) for _ in range(MOST // 2)]
    assert read_all(connect(REQUEST)) == b""
    assert all(connection.recv(1 << 16).startswith(b"HTTP/1.1 200 OK") for connection in working)
