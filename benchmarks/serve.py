"""The service: requests per second and latency of one-sentence texts, beside the library in a loop."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def serving(mechanism: str) -> Iterator[str]:
    """A service in a process of its own; yields its address."""
    command = [sys.executable, "-m", "textveil.cli.main", "serve", "--port", "0", "--mechanism", mechanism]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        if process.stderr is None:
            raise RuntimeError
        found = re.search(r"http://\S+", process.stderr.readline())
        drain = threading.Thread(target=process.stderr.read)
        drain.start()
        try:
            if found is None:
                raise SystemExit("The service does not start.")
            yield found[0]
        finally:
            process.terminate()
            drain.join()


def call(url: str, ends: float, latencies: list[float]) -> None:
    """Send requests one after the other until the time is over."""
    import httpx

    body = json.dumps({"text": TEXT, "epsilon_per_word": BUDGET, "certificate": False})
    with httpx.Client(base_url=url, headers={"Content-Type": "application/json"}, timeout=120) as client:
        while (started := time.perf_counter()) < ends:
            client.post("/obfuscate", content=body).raise_for_status()
            latencies.append(time.perf_counter() - started)


def time_service(url: str, clients: int) -> tuple[float, float, float]:
    """Requests per second of some clients, and the median and the 99th percentile of the latency in seconds."""
    latencies: list[list[float]] = [[] for _ in range(clients)]
    started = time.perf_counter()
    threads = [threading.Thread(target=call, args=(url, started + SECONDS, each)) for each in latencies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - started
    every = sorted(latency for each in latencies for latency in each)
    return len(every) / elapsed, statistics.median(every), every[int(0.99 * (len(every) - 1))]


def compare_serve() -> None:
    """Print the rates of the library and of the service, at several numbers of clients."""
    import httpx

    print("\nThe service, one sentence per request")
    for mechanism in MECHANISMS:
        library = time_library(mechanism)
        print(f"  {mechanism:<12} library in a loop {library:>8,.1f} texts/s", flush=True)
        with serving(mechanism) as url:
            while True:
                try:
                    httpx.get(f"{url}/health", timeout=60)
                    break
                except httpx.ConnectError:
                    time.sleep(0.1)
            first = 0.0
            for clients in CLIENTS:
                rate, median, late = time_service(url, clients)
                first = first or rate
                print(
                    f"  {'':<12} {clients:>3} clients {rate:>14,.1f} requests/s   p50 {1000 * median:>7,.0f} ms   "
                    f"p99 {1000 * late:>7,.0f} ms   {rate / first:.1f} times one client, "
                    f"{rate / library:.2f} times the library",
                    flush=True,
                )
