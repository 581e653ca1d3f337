"""Ray with two nodes on one machine, which behave like a cluster."""

from __future__ import annotations

import pytest

from tests.execution import work
from textveil.errors import ExecutionError
from textveil.execution.ray_cluster import RayExecutor


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    yield nodes
    nodes.shutdown()


def test_all_nodes_run_tasks(cluster):
    with RayExecutor(address=cluster.address) as executor:
        assert executor.workers == 2
        assert sorted(executor.map(work.double, range(20))) == [2 * number for number in range(20)]
        assert len(set(executor.map(work.where_in_ray, range(20)))) == 2


def test_the_task_of_a_killed_worker_runs_again_on_a_cluster(cluster, tmp_path):
    tasks = [str(tmp_path / task) for task in ("a", "die", "b")]
    with RayExecutor(address=cluster.address) as executor:
        assert sorted(executor.map(work.die_once, tasks)) == ["a", "b", "die"]


def test_more_gpus_than_the_cluster_has_are_refused(cluster):
    with pytest.raises(ExecutionError, match="A task needs 1 GPUs, and the cluster has 0. Lower `gpus_per_task`"):
        RayExecutor(2, cluster.address, gpus_per_task=1)


def test_more_workers_than_cores_of_the_cluster_still_finish(cluster):
    with RayExecutor(5, cluster.address) as executor:
        assert sorted(executor.map(work.double, range(20))) == [2 * number for number in range(20)]


def test_an_address_without_a_cluster_is_an_error():
    with pytest.raises(ExecutionError, match=r"127\.0\.0\.1:1'"):
        RayExecutor(2, "127.0.0.1:1")
