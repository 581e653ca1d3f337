"""A real server process, started once: what only a process with a network can show."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from textveil.client import Client
from textveil.errors import ParameterError, ServiceError
from textveil.service.running import bind

TOKEN = "0123456789abcdef0123"
SECRET = "Grzybowski"
SECONDS = 6
"""The time limit. Slow senders are waited for as long."""
SLOW = ("/meaning?mechanism=exponential", "/calibrate", "/audit")
"""Routes that may take longer than that on a busy machine."""
JSON = {"Content-Type": "application/json"}
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


class Server:
    """A server process and its log."""

    def __init__(self, bundle, token_file, *flags):
        command = [sys.executable, "-m", "textveil.cli.main", "serve", "--bundle", str(bundle), "--port", "0"]
        command += ["--token-file", str(token_file), "--seconds", str(SECONDS), "--bytes", "20000", *flags]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.log = []
        self.url = self._wait_for_address()
        self.address = self.url.removeprefix("http://").split(":")
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._expect_an_answer()

    def _wait_for_address(self):
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"listens at (http://\S+)", line):
                return found[1]
        raise AssertionError("".join(self.log))

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line)

    def _expect_an_answer(self):
        """What is announced is true: a request that comes at once waits for its answer, and is not refused."""
        assert httpx.get(f"{self.url}/health", timeout=120).json()["status"] == "ok"

    def connect(self, *parts):
        """A connection, on which some bytes were sent."""
        connection = socket.create_connection((self.address[0], int(self.address[1])), timeout=60)
        for part in parts:
            connection.sendall(part)
        return connection

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        code = self.process.wait(60)
        self._reader.join(60)
        self.process.stderr.close()
        return code


@pytest.fixture(scope="module")
def server(tiny_with_prior, tmp_path_factory):
    token_file = tmp_path_factory.mktemp("token") / "token"
    token_file.write_text(TOKEN)
    server = Server(tiny_with_prior.folder, token_file, "--requests", "4")
    yield server
    if server.process.poll() is None:
        server.process.kill()
        server.wait()


def write_request(body, *, length=None):
    """A request as bytes: its head, and its body."""
    head = f"POST /obfuscate HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode(), body


def read_answer(connection):
    """All that the server sends until it closes the connection."""
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


TEXT = json.dumps({"text": f"alpha {SECRET} beta", "epsilon": 5}).encode()


def test_every_route(server):
    with httpx.Client(base_url=server.url, headers=HEADERS, timeout=60) as client:
        for path in ("/health", "/methods", "/bundles", SLOW[0], "/openapi.json"):
            assert client.get(path).status_code in ((200, 503) if path in SLOW else (200,)), path
        bodies = {
            "/obfuscate": {"texts": [SECRET, None], "epsilon": 5, "chunks": True},
            "/decompose": {"text": SECRET, "decompositions": ["words"]},
            "/distribute": {"text": SECRET, "epsilon": 5},
            "/calibrate": {
                "targets": {"log-ratio": 1},
                "largest_share": 1,
                "mechanism": "exponential",
                "mechanism_options": {"cap": 1},
            },
            "/audit": {"epsilon": 1, "mechanism": "exponential", "draws": 100},
        }
        for path, body in bodies.items():
            answer = client.post(path, json=body)
            assert answer.status_code in ((200, 503) if path in SLOW else (200,)), (path, answer.text)
            assert "server" not in answer.headers
        assert client.post("/obfuscate", content=b"x" * 20_001, headers=JSON).status_code == 413
        assert client.post("/obfuscate", content=b"{", headers=JSON).status_code == 400
    assert httpx.get(f"{server.url}/methods").status_code == 401


def test_the_client(server):
    with Client(server.url, token=TOKEN, mechanism="exponential") as client:
        assert client.obfuscate("alpha", epsilon=1)["outcome"] in ("obfuscated", "returned")
        assert [each["outcome"] for each in client.obfuscate_all([None, "the"], epsilon=1)["results"]] == [
            "missing",
            "only_stopwords",
        ]
        with pytest.raises(ParameterError, match="`epsilon` must be positive"):
            client.obfuscate("alpha", epsilon=0)
    with Client(server.url) as client, pytest.raises(ServiceError, match="token"):
        client.obfuscate("alpha", epsilon=1)


def test_many_clients_at_once(server):
    """Each gets its own text; beyond the limit of four in work, clients are told to try again."""
    words = ["alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "iota"] * 4

    def call(word):
        body = {"text": f"the, {word}", "epsilon": 500, "largest_share": "inf", "form": "keep", "certificate": False}
        for _ in range(200):
            answer = httpx.post(f"{server.url}/obfuscate", json=body, headers=HEADERS, timeout=60)
            if answer.status_code != 429:
                return answer.json()["text"]
            time.sleep(0.02)
        return None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, words)) == [f"the, {word}" for word in words]


def test_slow_senders_are_stopped(server):
    """One sends no head, one half of a head, one half of a body."""
    head, body = write_request(TEXT)
    started = time.monotonic()
    connections = [server.connect(), server.connect(head[:30]), server.connect(head, body[:5])]
    answers = [read_answer(connection) for connection in connections]
    assert time.monotonic() - started < 10 * SECONDS
    assert answers[:2] == [b"", b""]
    assert answers[2].startswith(b"HTTP/1.1 408 ")
    for connection in connections:
        connection.close()


def test_clients_that_hang_up_and_bad_requests_do_no_harm(server):
    head, body = write_request(TEXT)
    for parts in ((), (head,), (head, body[:9]), (head, body), (b"\x00\x01 nonsense\r\n\r\n",), (b"A" * 70_000,)):
        server.connect(*parts).close()
    long = write_request(b"", length=10**12)[0]
    with server.connect(long) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert b" 413 " in read_answer(connection)[:20]
    assert httpx.get(f"{server.url}/health").status_code == 200


def test_sigterm_finishes_what_was_begun(server):
    """The last test: the server ends. A request whose body is under way is still answered, and new ones are not."""
    head, body = write_request(TEXT)
    connection = server.connect(head, body[:10])
    time.sleep(0.3)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    with pytest.raises(OSError, match="refused"):
        server.connect()
    connection.sendall(body[10:])
    answer = read_answer(connection)
    connection.close()
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b'"outcome": "obfuscated"' in answer
    assert server.wait() == 0
    log = "".join(server.log)
    assert SECRET.lower() not in log.lower()
    assert TOKEN not in log
    assert " 500 " not in log
    assert "Traceback" not in log
    assert log.endswith("Stopped.\n")


@pytest.mark.slow
def test_several_workers(tiny_with_prior, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    server = Server(tiny_with_prior.folder, tmp_path / "token", "--workers", "2")
    try:
        with Client(server.url, token=TOKEN) as client:
            assert client.obfuscate_all(["alpha"] * 20, epsilon=1)["results"][19]["text"]
    finally:
        assert server.stop() == 0
    assert "Traceback" not in "".join(server.log)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0.05, 0.15, 2.5])
def test_workers_that_are_still_starting_end_without_a_word(tiny_with_prior, number, seconds):
    """Ctrl-C reaches all processes of a terminal."""
    command = [sys.executable, "-m", "textveil.cli.main", "serve", "--bundle", str(tiny_with_prior.folder)]
    with subprocess.Popen(
        [*command, "--port", "0", "--workers", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert "listens at" in process.stderr.readline()
        time.sleep(seconds)
        os.killpg(process.pid, number)
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_an_address_that_is_taken():
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(ParameterError, match="cannot listen there: Address already in use. Choose another `host`"):
            bind("127.0.0.1", taken.getsockname()[1])


def test_an_address_that_does_not_exist():
    with pytest.raises(ParameterError, match="cannot listen there"):
        bind("192.0.2.1", 0)
