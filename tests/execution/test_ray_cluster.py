"""Ray with two nodes on one machine, which behave like a cluster."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.execution import work
from textveil.errors import ExecutionError
from textveil.execution.ray_cluster import RayExecutor


def test_all_nodes_run_tasks(ray_address):
    with RayExecutor(address=ray_address) as executor:
        assert executor.workers == 4
        assert sorted(executor.map(work.double, range(20))) == [2 * number for number in range(20)]
        nodes = set()
        for node in executor.map(work.where_in_ray, range(200)):
            nodes.add(node)
            if len(nodes) == 2:  # an actor of the other node may take a while to start
                break
        assert len(nodes) == 2


def test_the_task_of_a_killed_worker_runs_again_on_a_cluster(ray_address, tmp_path):
    tasks = [str(tmp_path / task) for task in ("a", "die", "b")]
    with RayExecutor(2, ray_address) as executor:
        assert sorted(executor.map(work.die_once, tasks)) == ["a", "b", "die"]


def test_more_gpus_than_the_cluster_has_are_refused(ray_address):
    with pytest.raises(ExecutionError, match="A task needs 1 GPUs, and the cluster has 0. Lower `gpus_per_task`"):
        RayExecutor(2, ray_address, gpus_per_task=1)


def test_more_workers_than_cores_of_the_cluster_still_finish(ray_address):
    with RayExecutor(5, ray_address) as executor:
        assert sorted(executor.map(work.double, range(20))) == [2 * number for number in range(20)]


def test_an_address_without_a_cluster_is_an_error():
    with pytest.raises(ExecutionError, match=r"127\.0\.0\.1:1'"):
        RayExecutor(2, "127.0.0.1:1")


STARTING = """
import ray
from textveil.execution.ray_cluster import RayExecutor

with RayExecutor(2) as executor:
    assert ray.cluster_resources()["CPU"] == 2
    assert sorted(executor.map(abs, range(-20, 0))) == list(range(1, 21))
assert not ray.is_initialized()
"""


def test_without_an_address_ray_is_started_and_stopped():
    """In another process: Ray loses actors in one that has used two clusters and returns to the first."""
    subprocess.run([sys.executable, "-c", STARTING], check=True)


def test_a_connection_of_this_process_is_reused_and_kept(ray_address):
    import ray

    with RayExecutor(1, ray_address) as first:
        assert RayExecutor().workers == 4
        with RayExecutor(1) as second:
            assert sorted(second.map(work.double, [1, 2])) == [2, 4]
        assert ray.is_initialized()
        assert list(first.map(work.double, [3])) == [6]
    assert not ray.is_initialized()
