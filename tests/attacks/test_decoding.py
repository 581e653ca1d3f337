from itertools import product

import numpy as np
import pytest

from textveil.bundles.prior import NgramPrior, Ngrams, compress_prior, read_prior
from textveil.bundles.vectors import UNKNOWN
from textveil.lab.attacks.channels import Slot, decode

ENTRIES = 6
FREQUENCIES = np.log(np.arange(1.0, ENTRIES + 1) / 21)


class Table:
    """A bigram model that is a table. It has no row for unknown words, whose successors have their frequencies."""

    order, entries = 2, ENTRIES

    def __init__(self, seed=0):
        table = np.random.default_rng(seed).gamma(0.3, size=(ENTRIES, ENTRIES)) + 1e-4
        self.table = np.log(table / table.sum(axis=-1, keepdims=True))

    def shorten(self, order):
        assert order == 2
        return self

    def score(self, contexts, columns):
        assert contexts.shape == (len(columns), 1)
        return self.table[contexts[:, 0], columns]


def make_slots(places, seed):
    """Random candidates for every place, where a number is a chunk in clear and None is a chunk to guess."""
    generator = np.random.default_rng(seed)
    return [
        Slot(np.append(generator.permutation(ENTRIES)[:3], UNKNOWN), generator.normal(size=4) * 2)
        if place is None
        else in_clear(place)
        for place in places
    ]


def in_clear(row):
    return Slot(np.array([row]), np.zeros(1))


def score(rows, slots, prior):
    """The logarithm of the probability of a text, word by word."""
    total, before = 0.0, UNKNOWN
    for row, slot in zip(rows, slots, strict=True):
        total += slot.evidence[slot.rows.tolist().index(row)]
        if row != UNKNOWN:
            total += FREQUENCIES[row] if before == UNKNOWN else prior.table[before, row]
        before = row
    return total


def search_all(slots, prior):
    """The best row of each place, from the probabilities of all texts."""
    sums = [dict.fromkeys(slot.rows.tolist(), 0.0) for slot in slots]
    for rows in product(*(slot.rows.tolist() for slot in slots)):
        for place, row in enumerate(rows):
            sums[place][row] += np.exp(score(rows, slots, prior))
    return [max(set(each) - {UNKNOWN} or {UNKNOWN}, key=each.get) for each in sums]


@pytest.mark.parametrize("places", [[None] * 5, [None, 2, None, UNKNOWN, None, None], [4, None, None, 1], [None], [3]])
@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_a_sum_over_all_texts_finds(places, seed):
    prior, slots = Table(seed), make_slots(places, seed)
    assert decode(slots, prior, FREQUENCIES).tolist() == search_all(slots, prior)


def test_context_decides_between_words_that_are_ambiguous_alone():
    """After 0 comes 1, after 2 comes 3; the words themselves are equally likely."""
    prior, alike = Table(), Slot(np.array([3, 1]), np.zeros(2))
    frequencies = np.full(ENTRIES, -np.log(ENTRIES))
    prior.table[:] = np.log(0.01)
    prior.table[0, 1] = prior.table[2, 3] = prior.table[1, 5] = np.log(0.9)
    for clear, expected in [(0, 1), (2, 3)]:
        assert decode([in_clear(clear), alike], prior, frequencies).tolist() == [clear, expected]
    assert decode([alike, in_clear(5)], prior, frequencies).tolist() == [1, 5]  # a chunk in clear helps backwards, too
    sure = Slot(np.array([3, 1]), np.array([20.0, 0.0]))
    assert decode([sure, in_clear(5)], prior, frequencies).tolist() == [3, 5]  # evidence is stronger than the context


def test_rows_that_are_not_listed_weaken_the_context():
    """The chunk before is 0 or a row that is not listed. The more likely the latter, the less 0 says."""
    prior, alike = Table(), Slot(np.array([5, 1]), np.zeros(2))
    prior.table[:] = np.log(0.1)
    prior.table[0, 1] = np.log(0.5)
    for evidence, expected in [(-9.0, 1), (9.0, 5)]:  # 5 is more frequent than 1
        before = Slot(np.array([0, UNKNOWN]), np.array([0.0, evidence]))
        assert decode([before, alike], prior, FREQUENCIES).tolist() == [0, expected]


def test_longer_ngrams_and_none():
    rows = np.arange(3)
    pairs = Ngrams(rows * 3 + (rows + 1) % 3, np.log(np.full(3, 0.9)))
    triples = Ngrams(np.array([0]), np.log(np.array([0.9])))
    arrays = compress_prior(np.log(np.full(3, 1 / 3)), [pairs, triples])
    trigrams = read_prior(lambda name, _: arrays[name], entries=3, order=3, identity={})
    even, anything = np.log(np.full(3, 1 / 3)), Slot(rows, np.zeros(3))
    assert decode([in_clear(1), anything, anything], trigrams, even).tolist() == [1, 2, 0]
    unigrams = NgramPrior(np.log(np.array([0.1, 0.2, 0.7], dtype=np.float32)))
    assert decode([in_clear(0), anything], unigrams, even).tolist() == [0, 2]
    assert decode([], unigrams, even).tolist() == []
