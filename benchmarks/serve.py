"""The service: requests per second and latency of one-sentence texts, beside the library in a loop."""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from benchmarks.records import Record
from textveil import Obfuscator

TEXT = "The soup was cold and the waiter was rude to my daughter."
CLIENTS = (1, 8, 32)
SECONDS = 8.0
BUDGET = 10.0
MECHANISMS = ("madlib", "exponential", "fluent")


def time_library(mechanism: str) -> float:
    """Texts per second of the library, which obfuscates one after the other."""
    obfuscator = Obfuscator(mechanism=mechanism)
    obfuscator.obfuscate(TEXT, epsilon_per_word=BUDGET)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < SECONDS:
        obfuscator.obfuscate(TEXT, epsilon_per_word=BUDGET)
        done += 1
    return done / (time.perf_counter() - started)


class Served(NamedTuple):
    """A service that runs."""

    port: int
    process: int


class Timing(NamedTuple):
    """How fast a service answers some clients."""

    rate: float
    """Requests per second."""
    median: float
    """The median of the latency in seconds."""
    late: float
    """Its 99th percentile."""
    processor: float
    """Seconds of processor time of the service for each request, which a busy machine hardly changes."""


@contextmanager
def serving(mechanism: str) -> Iterator[Served]:
    """A service in a process of its own, once it answers."""
    command = [sys.executable, "-m", "textveil.cli.main", "serve", "--port", "0", "--mechanism", mechanism]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        if process.stderr is None:
            raise RuntimeError
        found = re.search(r"http://127.0.0.1:(\d+)", process.stderr.readline())
        drain = threading.Thread(target=process.stderr.read)
        drain.start()
        try:
            if found is None:
                raise SystemExit("The service does not start.")
            wait_for(int(found[1]))
            yield Served(int(found[1]), process.pid)
        finally:
            process.terminate()
            drain.join()


def wait_for(port: int) -> None:
    """Wait until a service answers."""
    while True:
        try:
            ask(HTTPConnection("127.0.0.1", port, timeout=120))
        except ConnectionError:
            time.sleep(0.1)
        else:
            return


def ask(connection: HTTPConnection) -> None:
    """Send one request, and read its answer."""
    body = json.dumps({"text": TEXT, "epsilon_per_word": BUDGET, "certificate": False})
    connection.request("POST", "/obfuscate", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"The service answers {answer.status}.")


def call(port: int, start: threading.Barrier, latencies: list[float]) -> None:
    """Send requests one after the other until the time is over."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    connection.connect()
    start.wait()
    ends = time.perf_counter() + SECONDS
    while (started := time.perf_counter()) < ends:
        ask(connection)
        latencies.append(time.perf_counter() - started)
    connection.close()


def read_processor(process: int) -> float:
    """The seconds of processor time of a process; NaN where the system does not tell."""
    path = Path(f"/proc/{process}/stat")
    if not path.exists():
        return math.nan
    fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def time_service(served: Served, clients: int) -> Timing:
    """Let some clients send requests at the same time."""
    latencies: list[list[float]] = [[] for _ in range(clients)]
    start = threading.Barrier(clients + 1)
    threads = [threading.Thread(target=call, args=(served.port, start, each)) for each in latencies]
    for thread in threads:
        thread.start()
    start.wait()
    started, used = time.perf_counter(), read_processor(served.process)
    for thread in threads:
        thread.join()
    elapsed, used = time.perf_counter() - started, read_processor(served.process) - used
    every = sorted(latency for each in latencies for latency in each)
    late = every[int(0.99 * (len(every) - 1))]
    return Timing(len(every) / elapsed, statistics.median(every), late, used / len(every))


def compare_serve() -> list[Record]:
    """Requests per second of the service at several numbers of clients, beside the library, and their latency."""
    records = []
    for mechanism in MECHANISMS:
        library = time_library(mechanism)
        with serving(mechanism) as served:
            timings = {clients: time_service(served, clients) for clients in CLIENTS}
        records += describe(mechanism, library, timings)
    return records


def describe(mechanism: str, library: float, timings: Mapping[int, Timing]) -> list[Record]:
    """The rates beside the library and one client, and the times beside those of one client."""
    records = []
    alone = timings[CLIENTS[0]]
    for clients, timing in timings.items():
        name = f"{mechanism}, {clients} clients" if clients > 1 else f"{mechanism}, 1 client"
        records.append(
            Record(
                "serve", name, timing.rate, "requests/s", f"library in a loop: {library:,.1f}", timing.rate / library
            )
        )
        if clients > 1:
            records.append(
                Record(
                    "serve", name, timing.rate, "requests/s", f"1 client: {alone.rate:,.1f}", timing.rate / alone.rate
                )
            )
        for what, value, usual in (
            ("median latency", timing.median, alone.median),
            ("99th percentile of latency", timing.late, alone.late),
            ("processor per request", timing.processor, alone.processor),
        ):
            if not math.isnan(value):
                records.append(Record("serve", f"{name}, {what}", 1000 * value, "ms", "1 client", value / usual))
    return records
