"""Where work runs: in this process, in several, or on a Ray cluster; what is computed never knows."""

from textveil.execution.base import Executor
from textveil.registry import Registry

EXECUTORS: Registry[type[Executor]] = Registry("executor")
EXECUTORS.register("local", "textveil.execution.local:LocalExecutor")
EXECUTORS.register("processes", "textveil.execution.processes:ProcessExecutor")
EXECUTORS.register("ray", "textveil.execution.ray_cluster:RayExecutor")

__all__ = ["EXECUTORS", "Executor"]
