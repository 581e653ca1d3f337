"""The parameters and messages that every executor shares."""

import os

import pytest

from textveil import execution
from textveil.errors import ExecutionError, ParameterError
from textveil.execution import base
from textveil.execution.base import Executor, refuse_cluster, usable_cores, worker_died
from textveil.execution.local import LocalExecutor


class Here(Executor):
    """The smallest executor."""

    name = "here"

    def map(self, function, tasks, lost=None):
        return map(function, tasks)


def test_public_names_exist():
    for name in execution.__all__:
        assert getattr(execution, name) is not None


def test_by_default_there_are_as_many_workers_as_usable_cores():
    assert Here().workers == usable_cores() >= 1
    assert Here(3).workers == 3
    assert Here(3).processes == 4


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 5, 7}, raising=False)
    assert usable_cores() == 3


@pytest.mark.parametrize(("count", "usable"), [(6, 6), (None, 1)])
def test_cores_of_a_system_without_affinity_are_all_of_them_or_one(monkeypatch, count, usable):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert usable_cores() == usable


def test_workers_share_the_cores(monkeypatch):
    monkeypatch.setattr(base, "usable_cores", lambda: 8)
    assert [Here(workers).threads for workers in (1, 2, 3, 16)] == [8, 4, 2, 1]
    assert LocalExecutor().threads is None


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_are_at_least_one(workers):
    with pytest.raises(ParameterError, match=f"`workers` must be at least 1. Got {workers} instead"):
        Here(workers)


@pytest.mark.parametrize("gpus", [-0.5, float("nan"), float("inf")])
def test_gpus_per_task_are_finite_and_not_negative(gpus):
    with pytest.raises(ParameterError, match="finite number of at least 0") as caught:
        Here(gpus_per_task=gpus)
    assert caught.value.parameters == ("gpus_per_task",)


def test_a_share_of_a_gpu_is_allowed():
    assert Here(gpus_per_task=0.5).gpus_per_task == 0.5


@pytest.mark.parametrize(
    ("options", "parameter"), [({"address": "auto"}, "address"), ({"gpus_per_task": 1}, "gpus_per_task")]
)
def test_parameters_of_a_cluster_are_refused_elsewhere(options, parameter):
    with pytest.raises(ParameterError) as caught:
        refuse_cluster(Here(1, **options))
    assert str(caught.value) == f"`{parameter}` goes with `executor='ray'`. Got `executor='here'` instead."
    refuse_cluster(Here(1))


def test_leaving_the_block_does_nothing_by_default():
    with Here(1) as executor:
        assert list(executor.map(abs, [-1])) == [1]
    assert list(executor.map(abs, [-2])) == [2]


def test_the_error_for_dying_workers_names_the_next_step():
    error = worker_died()
    assert isinstance(error, ExecutionError)
    assert error.parameters == ("workers",)
