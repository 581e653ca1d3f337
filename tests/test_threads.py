import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from textveil.threads import in_threads


@pytest.fixture(autouse=True)
def two_threads():
    """BLAS has two threads, whatever the machine and the other test processes."""
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        yield


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_arrive_in_order(count):
    assert list(in_threads(lambda a, b: a * b, ((n, 2) for n in range(count)))) == [2 * n for n in range(count)]


def test_arguments_are_created_as_needed():
    made = 0

    def arguments():
        nonlocal made
        for number in range(1000):
            made += 1
            yield (number,)

    answers = in_threads(lambda n: n, arguments())
    next(answers)
    assert made < 100


def test_blas_is_limited_to_one_thread_and_restored():
    def blas_threads(*_):
        return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]

    before = blas_threads()
    assert 2 in before
    for count in (1, 8):
        assert all(set(threads) <= {1} for threads in in_threads(blas_threads, ((n,) for n in range(count))))
        assert blas_threads() == before


def test_libraries_are_searched_again_only_after_an_import(monkeypatch):
    list(in_threads(abs, [(1,)]))
    searches, search = [], ThreadpoolController.__init__
    monkeypatch.setattr(ThreadpoolController, "__init__", lambda self: searches.append(1) or search(self))
    list(in_threads(abs, [(1,)]))
    assert searches == []
    monkeypatch.setitem(sys.modules, "a_library_with_another_blas", sys)
    list(in_threads(abs, [(1,)]))
    list(in_threads(abs, [(1,)]))
    assert searches == [1]


def test_overlapping_calls_restore_the_threads_of_blas():
    before = [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]
    calls = [in_threads(lambda n: n, ((n,) for n in range(20))) for _ in range(2)]
    for call in calls:
        next(call)
    for call in calls:
        assert list(call) == list(range(1, 20))
    assert [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()] == before


def test_a_limit_of_the_caller_is_respected():
    with threadpool_limits(1):
        names = set(in_threads(lambda _: threading.current_thread().name, ((n,) for n in range(20))))
    assert len(names) == 1


def test_an_error_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda n: 1 // n, ((n,) for n in (1, 0, 2))))


def test_a_limit_also_holds_for_libraries_that_are_loaded_later():
    pytest.importorskip("torch")
    code = """
import numpy, threadpoolctl
from textveil.threads import limit_threads
limit_threads(1)
import torch
print(torch.get_num_threads(), max(library["num_threads"] for library in threadpoolctl.threadpool_info()))
limit_threads(2)
print(torch.get_num_threads())
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert shown == ["1", "1", "2"]
