from itertools import product

import numpy as np
import pytest

from textveil.bundles.prior import NgramPrior
from textveil.bundles.vectors import UNKNOWN
from textveil.evaluation.decoding import Slot, decode

ENTRIES = 6


class Table:
    """A language model that is a table: the last index of each axis is the beginning of a text or an unknown word."""

    entries = ENTRIES

    def __init__(self, order, seed=0):
        self.order = order
        table = np.random.default_rng(seed).gamma(0.3, size=(*[ENTRIES + 1] * (order - 1), ENTRIES)) + 1e-4
        self.table = np.log(table / table.sum(axis=-1, keepdims=True))

    def score(self, contexts, columns):
        assert contexts.shape == (len(columns), self.order - 1)
        return self.table[(*contexts.T, columns)]


def make_slots(places, seed):
    """Random candidates for every place, where a number is a chunk in clear and None is a chunk to guess."""
    generator = np.random.default_rng(seed)
    return [
        Slot(generator.permutation(ENTRIES)[:4], generator.normal(size=4) * 2)
        if place is None
        else Slot(np.array([place]), np.zeros(1))
        for place in places
    ]


def score(rows, slots, prior):
    """The score of a text, word by word."""
    total, padded = 0.0, [UNKNOWN] * (prior.order - 1)
    for row, slot in zip(rows, slots, strict=True):
        total += slot.log_likelihoods[slot.rows.tolist().index(row)]
        context = np.array([padded[len(padded) - prior.order + 1 :]], dtype=int)
        if row != UNKNOWN:
            total += float(prior.score(context, np.array([row]))[0])
        padded.append(row)
    return total


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("places", [[None] * 5, [None, 2, None, UNKNOWN, None, None], [4, None, None, 1], [None]])
@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_an_exhaustive_search_finds(order, places, seed):
    prior, slots = Table(order, seed), make_slots(places, seed)
    best = max(product(*(slot.rows.tolist() for slot in slots)), key=lambda rows: score(rows, slots, prior))
    assert decode(slots, prior).tolist() == list(best)


def test_a_beam_as_wide_as_the_slots_is_exact_for_bigrams():
    """Partial texts that end alike are merged, so four of them suffice for four candidates."""
    prior = Table(2)
    for seed in range(20):
        slots = make_slots([None] * 6, seed)
        assert decode(slots, prior, beam=4).tolist() == decode(slots, prior, beam=10_000).tolist()
    assert any(
        decode(slots, prior, beam=1).tolist() != decode(slots, prior).tolist()
        for slots in (make_slots([None] * 6, seed) for seed in range(20))
    )


def test_context_decides_between_words_that_are_ambiguous_alone():
    """After 0 comes 1, after 2 comes 3; the words themselves are equally likely."""
    prior = Table(2)
    prior.table[:] = np.log(0.01)
    prior.table[0, 1] = prior.table[2, 3] = prior.table[1, 5] = np.log(0.9)
    alike = Slot(np.array([3, 1]), np.zeros(2))
    for clear, expected in [(0, 1), (2, 3)]:
        before = Slot(np.array([clear]), np.zeros(1))
        assert decode([before, alike], prior).tolist() == [clear, expected]
    after = Slot(np.array([5]), np.zeros(1))
    assert decode([alike, after], prior).tolist() == [1, 5]  # a chunk in clear helps backwards, too
    sure = Slot(np.array([3, 1]), np.array([20.0, 0.0]))
    assert decode([sure, after], prior).tolist() == [3, 5]  # strong evidence is stronger than the context


def test_an_unknown_chunk_ends_the_context():
    prior = Table(3)
    slots = make_slots([None, None], 3)
    unknown = Slot(np.array([UNKNOWN]), np.zeros(1))
    separate = [*decode(slots[:1], prior), UNKNOWN, UNKNOWN, *decode(slots[1:], prior)]
    assert decode([slots[0], unknown, unknown, slots[1]], prior).tolist() == separate


def test_a_real_prior_and_a_text_without_chunks():
    prior = NgramPrior(np.log(np.array([0.1, 0.2, 0.7], dtype=np.float32)))
    assert decode([Slot(np.array([0, 1, 2]), np.zeros(3))] * 3, prior).tolist() == [2, 2, 2]
    assert decode([], prior).tolist() == []
