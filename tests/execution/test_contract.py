"""What every executor must do."""

from __future__ import annotations

import os
import time

import pytest

from tests.execution import work
from textveil.errors import ExecutionError, InputError, ParameterError, UnknownNameError
from textveil.execution import EXECUTORS


@pytest.fixture(scope="module", params=list(EXECUTORS))
def executor(request):
    with EXECUTORS.load(request.param)(1 if request.param == "local" else 2) as opened:
        yield opened


def test_every_task_is_done_once(executor):
    assert sorted(executor.map(work.double, range(50))) == [2 * number for number in range(50)]


def test_no_tasks_are_no_results(executor):
    assert list(executor.map(work.double, [])) == []


def test_several_maps_one_after_the_other(executor):
    for _ in range(3):
        assert sorted(executor.map(work.double, [1, 2])) == [2, 4]


def test_an_error_is_the_task_s_own(executor):
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
def test_work_is_done_elsewhere(name):
    with EXECUTORS.load(name)(2) as executor:
        assert os.getpid() not in set(executor.map(work.where, range(8)))


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_a_killed_worker_s_tasks_are_done_again(name, tmp_path):
    tasks = [str(tmp_path / task) for task in ("a", "die", "b", "c", "d", "die2", "e")]
    with EXECUTORS.load(name)(2) as executor:
        assert sorted(executor.map(work.die_once, tasks)) == ["a", "b", "c", "d", "die", "die2", "e"]


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_work_that_always_kills_its_worker_is_an_error(name):
    with (
        EXECUTORS.load(name)(1) as executor,
        pytest.raises(ExecutionError, match=r"killed repeatedly.*Lower `workers`.*finished work is kept"),
    ):
        list(executor.map(work.die, [1]))


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_work_that_always_kills_its_worker_is_lost_and_the_rest_goes_on(name):
    with EXECUTORS.load(name)(2) as executor:
        results = sorted(executor.map(work.die_at_7, range(20), lambda task: -task))
        assert results == [-7, *(number for number in range(20) if number != 7)]
        assert sorted(executor.map(work.double, [1, 2])) == [2, 4]


def test_who_stops_does_not_wait_for_what_is_under_way():
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), EXECUTORS.load("processes")(2) as executor:
        next(executor.map(work.sleep, [0, 300, 300]))
        raise KeyboardInterrupt
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("name", list(EXECUTORS))
def test_no_workers_are_refused(name):
    with pytest.raises(ParameterError, match="at least 1"):
        EXECUTORS.load(name)(0)


@pytest.mark.parametrize("name", ["local", "processes"])
def test_an_address_is_for_a_cluster(name):
    with pytest.raises(ParameterError, match="`address` goes with `executor='ray'`. Got `executor='(local|proc)"):
        EXECUTORS.load(name)(1, "auto")


@pytest.mark.parametrize("name", ["local", "processes"])
def test_gpus_are_divided_by_a_cluster(name):
    with pytest.raises(ParameterError, match="`gpus_per_task` goes with `executor='ray'`"):
        EXECUTORS.load(name)(1, gpus_per_task=0.5)


@pytest.mark.parametrize("gpus", [-1, float("nan"), float("inf")])
def test_gpus_are_a_number(gpus):
    with pytest.raises(ParameterError, match="`gpus_per_task` must be a finite number"):
        EXECUTORS.load("ray")(1, gpus_per_task=gpus)


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_workers_stay_and_keep_what_they_have_loaded(name):
    with EXECUTORS.load(name)(1) as executor:
        first, second = (set(executor.map(work.where, range(3))) for _ in range(2))
    assert first == second
    assert len(first) == 1


def test_the_local_executor_has_one_worker():
    with pytest.raises(ParameterError, match="use `executor='processes'`"):
        EXECUTORS.load("local")(2)


def test_an_unknown_executor():
    with pytest.raises(UnknownNameError, match="Did you mean 'processes'"):
        EXECUTORS.load("process")
