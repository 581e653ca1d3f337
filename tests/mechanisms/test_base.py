from itertools import pairwise

import numpy as np
import pytest

from textveil.bundles.vectors import UNKNOWN
from textveil.errors import ParameterError
from textveil.methods.mechanisms.base import ASKED, Mechanism, Request
from textveil.randomness import SeededRandomness
from textveil.registry import Option


class First(Mechanism):
    """Always chooses the first writable entry."""

    name = "first"
    guarantee = "everything: the answer does not depend on the input"
    options = (Option("cap", float, None, "The largest distance that counts.", least=0),)
    cap: float | None

    def perturb(self, requests):
        return [np.full(len(request.rows), self.vectors.writable[0]) for request in requests]


def test_a_mechanism_has_vectors_and_options(tiny):
    first = First(tiny.vectors("words"), cap=2)
    assert first.vectors is tiny.vectors("words")
    assert (first.cap, first.index) == (2.0, "exact")
    assert first.as_dict() == {"name": "first", "options": {"dimensions": None, "cap": 2.0}, "model": None}
    with pytest.raises(ParameterError, match="`cap` of first must be a number of at least 0"):
        First(tiny.vectors("words"), cap=-1)


def test_a_request_asks_for_one_document(tiny):
    request = Request(np.array([3, 4]), np.array([1.0, 0.0]), SeededRandomness(1).stream(0))
    (chosen,) = First(tiny.vectors("words")).perturb([request])
    assert chosen.tolist() == [tiny.vectors("words").writable[0]] * 2


SPELLED = np.arange(24.0).reshape(2, 12)


@pytest.mark.parametrize("cuts", [(0, 5), (0, 1, 5), (0, 2, 3, 4, 5), (0, 0, 4, 5)])
def test_unknown_chunks_are_at_their_spelled_positions_in_any_part_of_a_request(tiny, cuts):
    request = Request(np.array([3, UNKNOWN, 4, UNKNOWN, 5]), np.ones(5), SeededRandomness(1).stream(0), SPELLED)
    vectors = tiny.vectors("words")
    parts = [First(vectors).place(request, slice(start, stop)) for start, stop in pairwise(cuts)]
    expected = vectors.matrix[[3, 3, 4, 3, 5]].astype(np.float64)
    expected[[1, 3]] = SPELLED
    np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_parts_of_several_requests_are_placed_together(tiny):
    stream = SeededRandomness(1).stream(0)
    requests = [
        Request(np.array([3, UNKNOWN, 4, UNKNOWN]), np.ones(4), stream, SPELLED),
        Request(np.array([UNKNOWN, 2]), np.ones(2), stream),
        Request(np.array([1, 2]), np.ones(2), stream, SPELLED[:0]),
    ]
    parts = [(requests[0], slice(2, 4)), (requests[1], slice(0, 2)), (requests[2], slice(1, 2))]
    for first in (First(tiny.vectors("words")), First(tiny.vectors("words"), dimensions=3)):
        expected = [first.place(request, part) for request, part in parts]
        np.testing.assert_array_equal(first.place_all(parts), np.concatenate(expected))


def test_a_request_can_be_repeated_for_another_document():
    first, second = (SeededRandomness(1).stream(number) for number in range(2))
    request = Request(np.array([3, UNKNOWN]), np.ones(2), first, SPELLED[:1], np.array([ASKED, 5, ASKED]))
    again = request.repeat(second)
    assert again.generator is second
    for name in ("rows", "shares", "spelled", "context"):
        np.testing.assert_array_equal(getattr(again, name), getattr(request, name))
        assert not np.shares_memory(getattr(again, name), getattr(request, name))
    assert Request(request.rows, request.shares, first).repeat(second).context is None


def test_spelled_positions_are_projected(tiny):
    request = Request(np.array([UNKNOWN, UNKNOWN, 2]), np.ones(3), SeededRandomness(1).stream(0), SPELLED)
    vectors = tiny.vectors("words")
    placed = First(vectors, dimensions=3).place(request, slice(None))
    points = np.concatenate([SPELLED, vectors.matrix[[2]]])
    np.testing.assert_allclose(placed, points @ vectors.axes[:, :3], rtol=1e-5, atol=1e-5)


def test_without_spelled_positions_unknown_chunks_are_at_the_center_of_the_space(tiny):
    request = Request(np.array([UNKNOWN]), np.ones(1), SeededRandomness(1).stream(0))
    for first in (First(tiny.vectors("words")), First(tiny.vectors("words"), dimensions=3)):
        np.testing.assert_allclose(first.place(request, slice(None))[0], first.space.matrix.mean(axis=0), atol=1e-6)


def test_a_mechanism_without_perturb_cannot_be_built(tiny):
    class Idle(Mechanism):
        name = guarantee = "idle"

    with pytest.raises(TypeError, match="perturb"):
        Idle(tiny.vectors("words"))
