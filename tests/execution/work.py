"""Tasks for the tests of executors, in a module that workers can import."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

from textveil.errors import InputError
from textveil.execution.base import measure_peak

START_METHODS = multiprocessing.get_all_start_methods()


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    raise InputError(f"task {number} cannot be done")


def die_once(mark: str) -> str:
    """Kill the worker at the first call with a name that starts with die."""
    path = Path(mark)
    if path.name.startswith("die") and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_at_7(number: int) -> int:
    return die(number) if number == 7 else number


def sleep(seconds: int) -> int:
    time.sleep(seconds)
    return seconds


def where(number: int) -> int:
    return os.getpid()


def where_in_ray(number: int) -> str:
    """The node that runs this task, which takes long enough for the other node to get tasks too."""
    import ray

    time.sleep(0.1)
    return str(ray.get_runtime_context().get_node_id())


def peak_with(size: int) -> int | None:
    """The peak memory of the worker once it has used some bytes."""
    held = b"x" * size
    return measure_peak() if len(held) == size else None


def delay(task: tuple[float, int]) -> int:
    """Return the number of the task after a while."""
    seconds, number = task
    time.sleep(seconds)
    return number


def note(task: tuple[Path, int]) -> int:
    """Return the number of the task; the first one waits a little for others to begin."""
    folder, number = task
    (folder / str(number)).touch()
    time.sleep(0.2 if number == 0 else 0)
    return number


def where_slowly(number: int) -> int:
    time.sleep(0.1)
    return os.getpid()
