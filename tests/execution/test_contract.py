"""The behavior that every executor must have."""

from __future__ import annotations

import os
import time

import pytest

from tests.execution import work
from textveil.errors import ExecutionError, InputError, ParameterError, UnknownNameError
from textveil.execution import EXECUTORS, base
from textveil.execution.base import Executor, usable_cores
from textveil.execution.local import LocalExecutor


@pytest.fixture(scope="module", params=list(EXECUTORS))
def executor(request, open_executor):
    with open_executor(request.param, 1 if request.param == "local" else 2) as opened:
        yield opened


def test_every_task_runs_once(executor):
    assert sorted(executor.map(work.double, range(50))) == [2 * number for number in range(50)]


def test_no_tasks_give_no_results(executor):
    assert list(executor.map(work.double, [])) == []


def test_several_maps_one_after_the_other(executor):
    for _ in range(3):
        assert sorted(executor.map(work.double, [1, 2])) == [2, 4]


def test_an_error_of_a_task_reaches_the_caller(executor):
    with pytest.raises(InputError, match="task 7 cannot be done"):
        list(executor.map(work.refuse, [7]))


def test_tasks_are_taken_as_they_are_needed(executor):
    taken = []

    def tasks():
        for number in range(1000):
            taken.append(number)
            yield number

    results = executor.map(work.double, tasks())
    next(iter(results))
    assert len(taken) <= 2 * executor.workers + 2


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_tasks_run_in_other_processes(name, open_executor):
    with open_executor(name, 2) as executor:
        assert os.getpid() not in set(executor.map(work.where, range(8)))


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_the_tasks_of_a_killed_worker_run_again(name, open_executor, tmp_path):
    tasks = [str(tmp_path / task) for task in ("a", "die", "b", "c", "d", "die2", "e")]
    with open_executor(name, 2) as executor:
        assert sorted(executor.map(work.die_once, tasks)) == ["a", "b", "c", "d", "die", "die2", "e"]


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_a_task_that_always_kills_its_worker_is_an_error(name, open_executor):
    with (
        open_executor(name, 1) as executor,
        pytest.raises(ExecutionError, match=r"killed repeatedly.*Lower `workers`.*finished work is kept"),
    ):
        list(executor.map(work.die, [1]))


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_a_task_that_always_kills_its_worker_is_lost_and_the_others_finish(name, open_executor):
    with open_executor(name, 2) as executor:
        results = sorted(executor.map(work.die_at_7, range(20), lambda task: -task))
        assert results == [-7, *(number for number in range(20) if number != 7)]
        assert sorted(executor.map(work.double, [1, 2])) == [2, 4]


def test_an_interruption_does_not_wait_for_running_tasks():
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), EXECUTORS.load("processes")(2) as executor:
        next(executor.map(work.sleep, [0, 300, 300]))
        raise KeyboardInterrupt
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("name", list(EXECUTORS))
def test_zero_workers_are_refused(name):
    with pytest.raises(ParameterError, match="at least 1"):
        EXECUTORS.load(name)(0)


@pytest.mark.parametrize("name", ["local", "processes"])
def test_only_a_cluster_has_an_address(name):
    with pytest.raises(ParameterError, match="`address` goes with `executor='ray'`. Got `executor='(local|proc)"):
        EXECUTORS.load(name)(1, "auto")


@pytest.mark.parametrize("name", ["local", "processes"])
def test_only_a_cluster_assigns_gpus(name):
    with pytest.raises(ParameterError, match="`gpus_per_task` goes with `executor='ray'`"):
        EXECUTORS.load(name)(1, gpus_per_task=0.5)


@pytest.mark.parametrize("gpus", [-1, float("nan"), float("inf")])
def test_gpus_must_be_finite_and_not_negative(gpus):
    with pytest.raises(ParameterError, match="`gpus_per_task` must be a finite number"):
        EXECUTORS.load("ray")(1, gpus_per_task=gpus)


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_workers_are_reused_by_the_next_map(name, open_executor):
    with open_executor(name, 1) as executor:
        first, second = (set(executor.map(work.where, range(3))) for _ in range(2))
    assert first == second
    assert len(first) == 1


def test_the_local_executor_has_one_worker():
    with pytest.raises(ParameterError, match="use `executor='processes'`"):
        EXECUTORS.load("local")(2)


def test_an_unknown_executor_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match="Did you mean 'processes'"):
        EXECUTORS.load("process")


class Here(Executor):
    """The smallest executor."""

    name = "here"

    def map(self, function, tasks, lost=None):
        return map(function, tasks)


def test_by_default_there_are_as_many_workers_as_usable_cores():
    assert Here().workers == usable_cores() >= 1
    assert Here(3).workers == 3
    assert Here(3).processes == 4


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 5, 7}, raising=False)
    assert usable_cores() == 3


def test_workers_share_the_cores(monkeypatch):
    monkeypatch.setattr(base, "usable_cores", lambda: 8)
    assert [Here(workers).threads for workers in (1, 2, 3, 16)] == [8, 4, 2, 1]
    assert LocalExecutor().threads is None


def test_tasks_run_in_this_process_in_order():
    executor = LocalExecutor()
    assert list(executor.map(work.double, [3, 1, 2])) == [6, 2, 4]
    assert set(executor.map(work.where, range(3))) == {os.getpid()}


def test_a_task_runs_when_its_result_is_needed():
    done = []
    results = LocalExecutor().map(done.append, range(3))
    assert done == []
    next(results)
    assert done == [0]


def test_an_error_stops_at_its_task():
    done = []

    def fail_at_1(task):
        done.append(task)
        if task == 1:
            raise ZeroDivisionError
        return task

    with pytest.raises(ZeroDivisionError):
        list(LocalExecutor().map(fail_at_1, range(3), lambda task: -1))
    assert done == [0, 1]
