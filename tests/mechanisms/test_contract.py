"""What every mechanism promises; a new one is tested by being registered."""

import numpy as np
import pytest

from textveil.bundles.vectors import UNKNOWN
from textveil.mechanisms import MECHANISMS, Request
from textveil.randomness import SeededRandomness

SHARES = np.array([0.0, 1e-300, 0.1, 5.0, 1e6, 1e300])


@pytest.fixture(params=list(MECHANISMS), scope="module")
def mechanism(request, tiny):
    return MECHANISMS.load(request.param)(tiny.vectors("words"))


def request_for(rows, shares, *, document=0, seed=1):
    return Request(np.array(rows), np.array(shares, dtype=float), SeededRandomness(seed).stream(document))


def test_answers_are_writable_for_every_share(mechanism):
    writable = set(mechanism.vectors.writable.tolist())
    for row in (0, 5, mechanism.vectors.find("sigma"), UNKNOWN):
        (answer,) = mechanism.perturb([request_for([row] * len(SHARES), SHARES)])
        assert len(answer) == len(SHARES)
        assert set(answer.tolist()) <= writable


def test_the_same_stream_gives_the_same_answer(mechanism):
    rows, shares = [1, 2, 3, UNKNOWN], [1.0, 2.0, 0.0, 3.0]
    first, second, other = (mechanism.perturb([request_for(rows, shares, seed=seed)])[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert first.tolist() != other.tolist()


def test_an_answer_does_not_depend_on_the_batch(mechanism, monkeypatch):
    requests = [([n % 30] * n, [0.5] * n) for n in (3, 0, 17, 1, 40)]
    together = mechanism.perturb([request_for(*r, document=i) for i, r in enumerate(requests)])
    monkeypatch.setattr("textveil.mechanisms.madlib.BLOCK_CHUNKS", 7)
    apart = [mechanism.perturb([request_for(*r, document=i)])[0] for i, r in enumerate(requests)]
    for one, other in zip(together, apart, strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_a_share_the_answer_does_not_depend_on_the_input(mechanism):
    shares = [0.0] * 1000
    answers = [mechanism.perturb([request_for([row] * 1000, shares)])[0] for row in (0, 7, 20, UNKNOWN)]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
    assert len(set(answers[0].tolist())) > 5


def test_a_huge_share_keeps_a_writable_entry(mechanism):
    rows = mechanism.vectors.writable
    (answer,) = mechanism.perturb([request_for(rows, np.full(len(rows), 1e6))])
    np.testing.assert_array_equal(answer, rows)


def test_no_request_no_answer(mechanism):
    assert mechanism.perturb([]) == []
    (answer,) = mechanism.perturb([request_for([], [])])
    assert len(answer) == 0


def test_the_name_is_the_registered_one(mechanism):
    assert MECHANISMS.load(mechanism.name) is type(mechanism)
