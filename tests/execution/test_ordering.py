"""Results in the order of tasks, and no more tasks in progress than allowed."""

from __future__ import annotations

import pytest

from tests.execution import work
from textveil.errors import InputError
from textveil.execution import EXECUTORS
from textveil.execution.base import map_in_order


@pytest.fixture(scope="module", params=list(EXECUTORS))
def executor(request, open_executor):
    with open_executor(request.param, 1 if request.param == "local" else 2) as opened:
        yield opened


def test_results_have_the_order_of_their_tasks(executor):
    delays = [0.15, 0.0, 0.05, 0.0, 0.1, 0.0, 0.0, 0.0]
    tasks = [(delay, number) for number, delay in enumerate(delays)]
    assert list(map_in_order(executor, work.delay, tasks, window=4)) == list(range(len(delays)))


def test_a_slow_task_holds_back_those_far_behind_it_and_no_other(executor, tmp_path):
    """The first task ends when as many others as the window allows have begun, and not before."""
    taken = []

    def tasks():
        for number in range(30):
            taken.append(number)
            yield tmp_path, number

    window = 5
    largest = 0
    for done, number in enumerate(map_in_order(executor, work.note, tasks(), window=window)):
        assert number == done
        largest = max(largest, len(taken) - done)
    assert taken == list(range(30))
    assert largest <= window


def test_a_window_of_one_is_one_task_at_a_time(executor):
    assert list(map_in_order(executor, work.double, range(5), window=1)) == [0, 2, 4, 6, 8]


def test_no_tasks_give_no_results(executor):
    assert list(map_in_order(executor, work.double, [], window=3)) == []


def test_an_error_reaches_the_caller(executor):
    with pytest.raises(InputError, match="task 3 cannot be done"):
        list(map_in_order(executor, work.refuse, [3], window=2))


IN_OTHER_PROCESSES = pytest.mark.parametrize("executor", ["processes", "ray"], indirect=True)


@IN_OTHER_PROCESSES
@pytest.mark.parametrize("window", [1, 2, 6])
def test_the_order_survives_killed_workers(executor, window, tmp_path):
    names = ["a", "die", "b", "c", "die2", "d"]
    tasks = [str(tmp_path / task) for task in names]
    assert list(map_in_order(executor, work.die_once, tasks, window=window)) == names


@IN_OTHER_PROCESSES
def test_idle_workers_work_again_after_a_pause(executor):
    """A window of two and one slow task leave a worker idle for a while."""
    tasks = [(0.5, 0), *((0.05, number) for number in range(1, 9))]
    assert list(map_in_order(executor, work.delay, tasks, window=2)) == list(range(9))
    assert len(set(map_in_order(executor, work.where_slowly, range(8), window=2))) == 2
