import asyncio
import threading

import pytest

from textveil.budget import Budget
from textveil.obfuscator import Obfuscator
from textveil.service import batching
from textveil.service.batching import BATCH, Batcher

BUDGET = Budget(epsilon=5.0)


class Slow:
    """An obfuscator that waits for a signal in its first batch, and records all batches."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()
        self.batches = []

    def obfuscate_all(self, texts, *, budget, batch_size):
        self.batches.append(list(texts))
        if "bad" in texts:
            raise ValueError
        self.begun.set()
        assert self.go.wait(10)
        return list(texts)


@pytest.fixture
def batcher():
    return Batcher()


async def first_then(batcher, slow, orders):
    """Submit an order, and others while it is in work; all answers, or the errors."""
    first = asyncio.ensure_future(batcher.submit(slow, BUDGET, ["first"], list))
    await asyncio.to_thread(slow.begun.wait, 10)
    others = [asyncio.ensure_future(batcher.submit(*order)) for order in orders]
    await asyncio.sleep(0)
    slow.go.set()
    return await asyncio.gather(first, *others, return_exceptions=True)


def test_requests_that_wait_are_obfuscated_together(batcher):
    slow = Slow()
    orders = [(slow, BUDGET, [f"a{number}", f"b{number}"], list) for number in range(5)]
    answers = asyncio.run(first_then(batcher, slow, orders))
    assert answers == [["first"], *([f"a{number}", f"b{number}"] for number in range(5))]
    assert [len(batch) for batch in slow.batches] == [1, 10]


def test_other_budgets_and_obfuscators_stay_apart(batcher):
    slow, other = Slow(), Slow()
    other.go.set()
    orders = [
        (slow, BUDGET, ["same"], list),
        (slow, Budget(epsilon=6.0), ["more"], list),
        (other, BUDGET, ["other"], list),
    ]
    assert asyncio.run(first_then(batcher, slow, orders)) == [["first"], ["same"], ["more"], ["other"]]
    assert slow.batches == [["first"], ["same"], ["more"]]
    assert other.batches == [["other"]]


def test_a_long_list_takes_turns_with_others(batcher):
    slow = Slow()
    long = [f"long {number}" for number in range(2 * BATCH)]
    orders = [(slow, BUDGET, long, list), (slow, BUDGET, ["short"], list)]
    answers = asyncio.run(first_then(batcher, slow, orders))
    assert answers[1:] == [long, ["short"]]
    assert "short" in slow.batches[1]
    assert max(map(len, slow.batches)) <= BATCH


def test_a_long_text_is_a_batch_of_its_own(batcher, monkeypatch):
    monkeypatch.setattr("textveil.service.batching.CHARACTERS", 20)
    slow = Slow()
    orders = [(slow, BUDGET, ["x" * 50], list), (slow, BUDGET, ["short", "text", "y" * 15], list)]
    answers = asyncio.run(first_then(batcher, slow, orders))
    assert answers[1:] == [["x" * 50], ["short", "text", "y" * 15]]
    assert slow.batches == [["first"], ["x" * 50], ["short", "text"], ["y" * 15]]


def test_an_error_reaches_only_the_request_that_caused_it(batcher):
    slow = Slow()
    orders = [(slow, BUDGET, [text], list) for text in ("good", "bad", "fine")]
    _, good, bad, fine = asyncio.run(first_then(batcher, slow, orders))
    assert (good, fine) == (["good"], ["fine"])
    assert isinstance(bad, ValueError)


def test_an_error_in_the_answer_reaches_its_request(batcher):
    slow = Slow()
    orders = [(slow, BUDGET, ["x"], lambda results: 1 / 0), (slow, BUDGET, ["y"], list)]
    _, failed, fine = asyncio.run(first_then(batcher, slow, orders))
    assert isinstance(failed, ZeroDivisionError)
    assert fine == ["y"]


def test_a_request_that_has_gone_is_not_worked_on(batcher):
    slow = Slow()

    async def leave():
        first = asyncio.ensure_future(batcher.submit(slow, BUDGET, ["first"], list))
        await asyncio.to_thread(slow.begun.wait, 10)
        gone = asyncio.ensure_future(batcher.submit(slow, BUDGET, ["gone"], list))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait({gone})
        slow.go.set()
        answer = await first
        await batcher.close()
        return answer

    assert asyncio.run(leave()) == ["first"]
    assert slow.batches == [["first"]]


def test_a_text_that_takes_too_long_blocks_nobody_after_its_request(batcher, monkeypatch):
    monkeypatch.setattr(batching, "STUCK", 0.05)
    slow, other = Slow(), Slow()
    other.go.set()

    async def run():
        first = asyncio.ensure_future(batcher.submit(slow, BUDGET, ["first"], list))
        await asyncio.to_thread(slow.begun.wait, 10)
        waiting = asyncio.ensure_future(batcher.submit(other, BUDGET, ["waiting"], list))
        await asyncio.sleep(0.1)
        assert not waiting.done()  # the first one is still wanted
        first.cancel()
        answers = await asyncio.wait_for(waiting, 10), await batcher.submit(other, BUDGET, ["next"], list)
        slow.go.set()
        return answers

    assert asyncio.run(run()) == (["waiting"], ["next"])


def test_few_texts_that_take_too_long_are_left_to_themselves(batcher, monkeypatch):
    monkeypatch.setattr(batching, "STUCK", 0.0)
    monkeypatch.setattr(batching, "MOST_STUCK", 1)
    slow = [Slow(), Slow()]

    async def run():
        for each in slow:
            task = asyncio.ensure_future(batcher.submit(each, BUDGET, ["slow"], list))
            await asyncio.to_thread(each.begun.wait, 10)
            task.cancel()
            await asyncio.wait({task})
        last = asyncio.ensure_future(batcher.submit(slow[1], BUDGET, ["last"], list))
        await asyncio.sleep(0.1)
        waits = not last.done()
        for each in slow:
            each.go.set()
        return waits, await last

    assert asyncio.run(run()) == (True, ["last"])


def test_closing_finishes_what_was_accepted():
    batcher, slow = Batcher(), Slow()
    slow.go.set()

    async def submit():
        answer = asyncio.ensure_future(batcher.submit(slow, BUDGET, ["last"], list))
        await asyncio.sleep(0)
        await batcher.close()
        assert answer.done()
        return await answer

    assert asyncio.run(submit()) == ["last"]


def test_an_answer_does_not_depend_on_its_company(batcher, tiny):
    obfuscator = Obfuscator(tiny, largest_share=9.0)

    async def submit():
        texts = [["alpha beta", None], [], ["the", "gamma"]]
        return await asyncio.gather(*(batcher.submit(obfuscator, BUDGET, each, list) for each in texts))

    answers = asyncio.run(submit())
    assert [len(answer) for answer in answers] == [2, 0, 2]
    assert answers[0][1].outcome.value == "missing"
    assert answers[2][0].outcome.value == "only_stopwords"
