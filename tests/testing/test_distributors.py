import itertools

import pytest

from textveil.errors import ContractError
from textveil.methods.distribution import Distributor
from textveil.testing import distributors


class Moody(Distributor):
    """Changes its mind."""

    name = "moody"
    data_independent = True

    def __init__(self, **options):
        super().__init__(**options)
        self.numbers = itertools.count(1)

    def score(self, documents):
        return [[float(next(self.numbers)) for _ in document.words] for document in documents]


class Short(Distributor):
    """Forgets a word."""

    name = "short"

    def score(self, documents):
        return [[float("nan")] * max(0, len(document.words) - 1) for document in documents]


def test_breaches_are_found():
    with pytest.raises(ContractError, match="more or fewer scores"):
        distributors.check_every_word_has_a_score(Short())
    with pytest.raises(ContractError, match="its scores change"):
        distributors.check_scores_are_the_same_twice(Moody())
    with pytest.raises(ContractError, match="depend on the others"):
        distributors.check_scores_do_not_depend_on_the_batch(Moody())
    with pytest.raises(ContractError, match="data_independent"):
        distributors.check_data_independence_is_true(Moody())


def test_scores_must_be_finite():
    class Endless(Moody):
        def score(self, documents):
            return [[float("inf")] * len(document.words) for document in documents]

    with pytest.raises(ContractError, match="neither a finite float nor None"):
        distributors.check_every_word_has_a_score(Endless())
