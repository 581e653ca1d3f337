"""Processes: workers end with their parent, whatever ends it, and a broken pool is replaced."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from tests.execution import work
from textveil.errors import ExecutionError
from textveil.execution import local as processes
from textveil.execution.base import MAX_RETRIES
from textveil.execution.local import ProcessExecutor

ROOT = Path(__file__).parents[2]
PARENT = """
import multiprocessing, sys
from tests.execution import work
from textveil.execution.local import ProcessExecutor

if __name__ == "__main__":
    multiprocessing.get_all_start_methods = lambda: [sys.argv[1]]
    executor = ProcessExecutor(2)
    print(*set(executor.map(work.where, range(8))), flush=True)
    list(executor.map(work.sleep, [300, 300]))
"""


@pytest.fixture
def start_parent(tmp_path, monkeypatch):
    """Starts a process that has two busy workers, all of which hold its standard output open."""
    started = []
    (tmp_path / "parent.py").write_text(PARENT, encoding="utf-8")

    def start(method: str) -> subprocess.Popen[bytes]:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT / "src", ROOT))))
        command = [sys.executable, str(tmp_path / "parent.py"), method]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT))
        assert started[-1].stdout.readline().split()  # the workers are there
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("method", [name for name in ("forkserver", "spawn") if name in work.START_METHODS])
def test_workers_end_when_their_parent_is_killed(start_parent, method):
    parent = start_parent(method)
    parent.kill()
    parent.communicate(timeout=60)  # the output ends when the last process that holds it has ended


def test_a_process_without_a_parent_is_left_alone(monkeypatch):
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    monkeypatch.setattr(processes.os, "_exit", lambda code: pytest.fail("the process was ended"))
    processes._end_with_parent()


def test_a_worker_waits_for_the_end_of_its_parent(monkeypatch):
    ended, codes = threading.Event(), []

    class Parent:
        def join(self):
            assert ended.wait(60)

    monkeypatch.setattr(multiprocessing, "parent_process", Parent)
    monkeypatch.setattr(processes.os, "_exit", codes.append)
    watching = threading.Thread(target=processes._end_with_parent)
    watching.start()
    assert codes == []
    ended.set()
    watching.join()
    assert codes == [1]


class BreakingPool:
    """A pool in this process that breaks at some tasks, and counts how often each was given to it."""

    def __init__(self, deadly):
        self.deadly = deadly
        self.given = []

    def submit(self, function, task):
        self.given.append(task)
        future = Future()
        if task in self.deadly:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(function(task))
        return future

    def shutdown(self, **_):
        pass


@pytest.fixture
def breaking(monkeypatch):
    def make(*deadly):
        executor, pool = ProcessExecutor(3), BreakingPool(deadly)
        monkeypatch.setattr(executor, "_open_pool", lambda module: pool)
        return executor, pool

    return make


def test_a_task_that_kills_its_worker_is_retried_alone(breaking):
    executor, pool = breaking(5)
    results = sorted(executor.map(work.double, range(12), lambda task: -task))
    assert results == sorted([-5, *(2 * number for number in range(12) if number != 5)])
    assert pool.given.count(5) > MAX_RETRIES


def test_two_tasks_that_kill_are_both_lost_and_no_other_one(breaking):
    executor, _ = breaking(2, 3)
    lost = []
    results = sorted(executor.map(work.double, range(8), lambda task: lost.append(task) or -1))
    assert results == sorted([-1, -1, *(2 * number for number in (0, 1, 4, 5, 6, 7))])
    assert sorted(lost) == [2, 3]


def test_without_a_result_for_lost_tasks_the_map_fails(breaking):
    executor, _ = breaking(2)
    with pytest.raises(ExecutionError, match="Lower `workers`"):
        list(executor.map(work.double, range(8)))


@pytest.mark.parametrize("error", [BrokenProcessPool(), OSError("handle is closed")])
def test_a_pool_that_breaks_while_a_task_is_submitted_fails_that_task(monkeypatch, error):
    class Broken:
        def submit(self, *_):
            raise error

    executor = ProcessExecutor(2)
    monkeypatch.setattr(executor, "_open_pool", lambda module: Broken())
    assert isinstance(executor._submit(work.double, 1).exception(), BrokenProcessPool)


def test_the_pool_is_opened_at_the_first_task_and_closed_once():
    with ProcessExecutor(1) as executor:
        assert executor._pool is None
        assert list(executor.map(work.double, [4])) == [8]
        workers = list(executor._pool._processes.values())
    assert executor._pool is None
    assert [process.exitcode for process in workers] == [0]
    executor.__exit__()


def test_the_number_of_processes_includes_this_one():
    assert ProcessExecutor(3).processes == 4


def test_a_worker_that_starts_while_the_pool_breaks_does_not_hang_the_run(tmp_path, monkeypatch):
    """Python does not end such a worker and waits for it: here it ends none, and the executor must do it."""
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "terminate", lambda self: None)
    tasks = [str(tmp_path / task) for task in ("a", "die", "b")]
    found = []

    def run():
        with ProcessExecutor(2) as executor:
            found.extend(executor.map(work.die_once, tasks))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=120)
    assert sorted(found) == ["a", "b", "die"]
