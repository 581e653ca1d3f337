"""The service: good and bad requests, huge bodies, slow senders, and clients that hang up."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from soak.base import Part
from soak.mutation import make_text, mutate_bytes
from soak.tiny import build_tiny
from soak.watching import BrokenPromiseError

KINDS = ("good", "good", "good", "settings", "mutated", "garbage", "huge", "hang up", "slow", "routes")
"""What a client does; most requests are good."""
SECONDS = 2.0
"""The time limit of the server. A slow sender waits for it."""
BYTES = 50_000
PATIENCE = 60.0
WARM_UP = 1_000
"""Requests after which the memory of the server should not grow any more."""
GROWTH = 64 << 10
"""How much it may still grow, in KiB: allocators keep some."""
ALLOWED = {200, 400, 404, 405, 408, 413, 415, 422, 429, 501, 503}
SETTINGS: dict[str, tuple[Any, ...]] = {
    "epsilon": (5, 0, -1, 1e308, "5", None, float("nan"), [], 10**400),
    "epsilon_per_word": (3, 0.01, "x", None),
    "level": ("high", "low", "hihg", 3),
    "mechanism": ("madlib", "exponential", "fluent", "vickrey", "x", 1),
    "mechanism_options": ({}, {"cap": 1}, {"cap": -1}, {"dimensions": 4}, {"model": "/etc/passwd"}, []),
    "decomposition": ("words", "pmi", "pos", "x"),
    "distribution": ("uniform", "yake", "x"),
    "distribution_options": ({}, {"model": "x"}),
    "profile": ("strict", "paper", "proven", "x"),
    "stopwords": ("keep", "perturb", "x"),
    "length": ("own", "average", "x"),
    "largest_share": (1, "inf", -1, "nan"),
    "draft_share": (0.1, 5),
    "bundle": ("tiny", "en", "/etc"),
    "chunks": (True, False, "x"),
    "alternatives": (0, 3, 20, 21, -1),
    "certificate": (True, False),
    "seed": (1,),
}
ROUTES = ("GET /health", "GET /methods", "GET /bundles", "GET /", "GET /{}", "POST /decompose", "POST /distribute")


class Call(NamedTuple):
    """What a client sends, and what it does then."""

    kind: str
    content: bytes
    sent: int
    """The number of bytes after which a client stops or hangs up."""


class Service(Part):
    """Starts a server and calls it. No answer may be 500, no error and no line of the log may repeat a text."""

    name = "service"
    seconds = PATIENCE
    on_disk = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        bundle = build_tiny(folder / "tiny")
        self._log = folder / "log.txt"
        self._calls = 0
        self._memory = 0
        self._read = 0
        command = [sys.executable, "-m", "textveil.cli.main", "serve", "--bundle", str(bundle.folder), "--port", "0"]
        command += ["--seconds", str(SECONDS), "--bytes", str(BYTES), "--requests", "16"]
        with self._log.open("wb") as log:
            self._server = subprocess.Popen(command, stderr=log, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self._port = self._wait()

    def close(self) -> None:
        """Stop the server."""
        self._server.send_signal(signal.SIGTERM)
        try:
            code = self._server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._server.kill()
            code = self._server.wait()
        if code:
            print(f"service: the server ended with {code}", flush=True)

    def _wait(self) -> int:
        """Wait until the server answers; return its port."""
        ends = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < ends:
            found = re.search(rb"listens at http://127.0.0.1:(\d+)", self._log.read_bytes())
            if found is not None:
                try:
                    socket.create_connection(("127.0.0.1", int(found[1])), timeout=1).close()
                except OSError:
                    pass
                else:
                    return int(found[1])
            time.sleep(0.1)
        raise BrokenPromiseError("the server does not start")

    def draw(self, random: Random, marker: str) -> Call:
        """A request of a random kind, with the marker in its text."""
        kind = random.choice(KINDS)
        if kind == "routes":
            method, _, path = random.choice(ROUTES).partition(" ")
            body = b"" if method == "GET" else json.dumps({"text": make_text(random, marker), "epsilon": 4}).encode()
            content = write_request(body, method=method, path=path.format(marker))
        else:
            content = write_request(make_body(random, marker, kind), length=10**9 if random.random() < 0.05 else None)
        if kind == "garbage":
            content = mutate_bytes(random, content)
        stops = kind == "hang up" or (kind == "slow" and random.random() < 0.02)
        return Call(kind, content, random.randrange(len(content)) if stops else len(content))

    def use(self, given: Call, marker: str) -> None:
        """Call the server, and check its answer, its log and its memory."""
        self.label = f"service {given.kind.replace(' ', '-')}"
        answer = self._call(given)
        headless = b"\r\n\r\n" not in given.content[: given.sent]  # the connection is closed without an answer
        if given.kind not in ("hang up", "garbage") and not headless and not answer:
            raise BrokenPromiseError(f"no answer to {given.kind}")
        self._calls += 1
        check_answer(answer, marker)
        self._check_log(marker)
        if self._calls % 100 == 0:
            self._check_memory()

    def _call(self, given: Call) -> bytes:
        received = b""
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE) as connection:
                connection.sendall(given.content[: given.sent])
                if given.kind == "hang up":
                    return b""
                if given.kind == "garbage":
                    connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(1 << 16):
                    received += part
        except (ConnectionError, BrokenPipeError):
            return received or b"HTTP/1.1 413 "  # it hung up on a body that was too large
        except TimeoutError as error:
            raise BrokenPromiseError("the server does not answer") from error
        if self._server.poll() is not None:
            raise BrokenPromiseError("the server has ended")
        return received

    def _check_log(self, marker: str) -> None:
        with self._log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        self._read += len(new)
        if marker.encode() in new.lower():
            raise BrokenPromiseError("the log repeats a text")
        if b"Traceback" in new or b" ERROR " in new:
            raise BrokenPromiseError("the log has an error")

    def _check_memory(self) -> None:
        status = Path(f"/proc/{self._server.pid}/status")
        if not status.exists():  # not Linux
            return
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text(encoding="ascii"))
        used = int(found[1]) if found else 0
        if self._calls <= WARM_UP:
            self._memory = max(self._memory, used)
        elif used > self._memory + GROWTH:
            raise BrokenPromiseError(f"the server grew from {self._memory >> 10} to {used >> 10} MiB")


def make_body(random: Random, marker: str, kind: str) -> bytes:
    """A body with the marker in its texts."""
    body: dict[str, Any] = {"epsilon": 4, "certificate": False}
    if random.random() < 0.5:
        body["text"] = make_text(random, marker, hostile=True)
    else:
        texts = [make_text(random, marker) for _ in range(random.choice((0, 1, 3, 20)))]
        body["texts"] = [text if random.random() < 0.9 else None for text in texts]
    if kind == "settings":
        names = random.sample(list(SETTINGS), random.randrange(1, 5))
        body |= {name: random.choice(SETTINGS[name]) for name in names}
        if random.random() < 0.1:
            body[marker] = marker
    if kind == "huge":
        body["text"] = f"{marker} " * (BYTES // random.choice((1, 4, 15)))
    written = json.dumps(body).encode()
    return mutate_bytes(random, written) if kind == "mutated" else written


def write_request(body: bytes, *, method: str = "POST", path: str = "/obfuscate", length: int | None = None) -> bytes:
    """A request as bytes. It asks the server to close the connection."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


def check_answer(answer: bytes, marker: str) -> None:
    """Refuse a wrong status, an answer that is not JSON, and an error that repeats a text."""
    head, _, body = answer.partition(b"\r\n\r\n")
    found = re.match(rb"HTTP/1\.1 (\d+) ", head)
    if found is None:
        if answer:
            raise BrokenPromiseError("the answer is not HTTP")
        return
    status = int(found[1])
    if status not in ALLOWED:
        raise BrokenPromiseError(f"the status {status}")
    if status != 200 and marker.encode() in body.lower():
        raise BrokenPromiseError(f"an error with the status {status} repeats a text")
