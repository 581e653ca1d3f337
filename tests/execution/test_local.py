"""The local executor: tasks run in this process, in order."""

import os

import pytest

from tests.execution import work
from textveil.errors import ParameterError
from textveil.execution.local import LocalExecutor


def test_tasks_run_in_this_process_in_order():
    executor = LocalExecutor()
    assert list(executor.map(work.double, [3, 1, 2])) == [6, 2, 4]
    assert set(executor.map(work.where, range(3))) == {os.getpid()}


def test_one_worker_is_one_process():
    for executor in (LocalExecutor(), LocalExecutor(1)):
        assert (executor.workers, executor.processes) == (1, 1)


def test_more_workers_need_another_executor():
    with pytest.raises(ParameterError) as caught:
        LocalExecutor(2)
    assert str(caught.value) == "`executor='local'` has one worker. For more, use `executor='processes'`."


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
