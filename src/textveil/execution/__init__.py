"""Executors: they run tasks in this process, in several processes, or on a Ray cluster."""

from textveil.execution.base import Executor, usable_cores
from textveil.registry import Registry

EXECUTORS: Registry[type[Executor]] = Registry("executor")
"""The executors by name, each a kind of ``Executor``."""
EXECUTORS.register("local", "textveil.execution.local:LocalExecutor")
EXECUTORS.register("processes", "textveil.execution.local:ProcessExecutor")
EXECUTORS.register("ray", "textveil.execution.ray_cluster:RayExecutor")

__all__ = ["EXECUTORS", "Executor", "usable_cores"]
