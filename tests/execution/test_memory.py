"""The peak memory of a process."""

import sys

import pytest

from tests.execution import work
from textveil.execution import base as memory
from textveil.execution.base import measure_peak
from textveil.execution.local import ProcessExecutor

MIB = 1 << 20


def test_a_peak_grows_by_what_is_used_and_does_not_shrink():
    with ProcessExecutor(1) as executor:
        before, during, after = executor.map(work.peak_with, [0, 200 * MIB, 0])
    assert 150 * MIB < during - before < 400 * MIB
    assert after > during - MIB  # the system rounds its counters


def test_a_worker_does_not_count_the_memory_of_its_parent():
    held = bytearray(300 * MIB)
    with ProcessExecutor(1) as executor:
        (peak,) = executor.map(work.peak_with, [0])
    assert 5 * MIB < peak < len(held)
    assert measure_peak() >= len(held)


def test_without_its_status_a_process_asks_posix(monkeypatch, tmp_path):
    found = measure_peak()
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "missing")
    assert measure_peak() == pytest.approx(found, rel=0.5)


def test_a_system_that_does_not_say_has_no_peak(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "missing")
    monkeypatch.setitem(sys.modules, "resource", None)
    assert measure_peak() is None
