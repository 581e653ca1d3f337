import asyncio
import threading

import pytest

from textveil.service.lanes import Lane
from textveil.service.models import RefusedError


class Work:
    """Work that waits for a signal, and counts how often it was begun."""

    def __init__(self):
        self.begun, self.go, self.times = threading.Event(), threading.Event(), 0

    def __call__(self):
        self.times += 1
        self.begun.set()
        assert self.go.wait(10)
        return "done"

    async def wait(self):
        assert await asyncio.to_thread(self.begun.wait, 10)


async def begin(lane, key, work):
    task = asyncio.ensure_future(lane.run(key, work))
    await asyncio.sleep(0)
    return task


def test_requests_for_the_same_work_wait_for_it_together():
    async def run():
        lane, work = Lane("busy", most=3), Work()
        tasks = [await begin(lane, "same", work) for _ in range(3)]
        with pytest.raises(RefusedError, match="busy"):
            await lane.run("same", work)
        work.go.set()
        return await asyncio.gather(*tasks), work.times

    assert asyncio.run(run()) == (["done"] * 3, 1)


def test_work_that_nobody_waits_for_is_not_begun():
    async def run():
        lane, first, second = Lane("busy", most=2), Work(), Work()
        working = await begin(lane, 1, first)
        await first.wait()
        (await begin(lane, 2, second)).cancel()
        await asyncio.sleep(0.01)
        again = await begin(lane, 2, second)  # asks anew, and is not given up with the one before
        first.go.set()
        second.go.set()
        return await working, await again, second.times

    assert asyncio.run(run()) == ("done", "done", 1)


def test_begun_work_keeps_its_place_after_its_request():
    async def run():
        lane, work = Lane("busy", most=1), Work()
        request = await begin(lane, 1, work)
        await work.wait()
        request.cancel()
        await asyncio.sleep(0.01)
        with pytest.raises(RefusedError):
            await lane.run(2, work)
        joined = await begin(lane, 1, Work())
        work.go.set()
        assert await joined == "done"
        return await lane.run(2, work), work.times

    assert asyncio.run(run()) == ("done", 2)


def test_an_error_reaches_the_request_and_the_next_one_tries_again():
    async def run():
        lane = Lane("busy", most=1)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await lane.run(1, lambda: 1 / 0)
        return await lane.run(1, lambda: 1)

    assert asyncio.run(run()) == 1
