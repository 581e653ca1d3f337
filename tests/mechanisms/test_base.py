import numpy as np
import pytest

from textveil.errors import ParameterError
from textveil.mechanisms.base import Mechanism, Request
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


def test_a_mechanism_without_perturb_cannot_be_built(tiny):
    class Idle(Mechanism):
        name = guarantee = "idle"

    with pytest.raises(TypeError, match="perturb"):
        Idle(tiny.vectors("words"))
