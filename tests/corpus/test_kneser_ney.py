"""Kneser-Ney smoothing against a plain transcription of its definition."""

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from textveil.lab.corpus.priors import FrequentNgrams, estimate

V = 12


def make_documents(seed=4, number=150):
    """Documents of a few words that follow each other in some order; None is an unknown word."""
    generator = random.Random(seed)
    documents = []
    for _ in range(number):
        rows = [generator.randrange(V)]
        for _ in range(generator.randrange(12)):
            likely = (3 * (rows[-1] or 0) + 1) % V
            rows.append(generator.choices([likely, (likely + 1) % V, generator.randrange(V), None], [5, 2, 3, 1])[0])
        documents.append(rows)
    return documents


def list_ngrams(documents, length):
    """The n-grams of known words, each with the number of its document and the word before it."""
    for number, rows in enumerate(documents):
        for start in range(len(rows) - length + 1):
            ngram = tuple(rows[start : start + length])
            if None not in ngram:
                yield ngram, number, rows[start - 1] if start else None


class PlainModel:
    """Interpolated modified Kneser-Ney, one n-gram at a time."""

    def __init__(self, documents, order, min_documents=1):
        self.kept, self.counts = {}, {}
        for length in range(order, 0, -1):
            found = list(list_ngrams(documents, length))
            appearances = defaultdict(set)
            for ngram, number, _ in found:
                appearances[ngram].add(number)
            self.kept[length] = {ngram for ngram, numbers in appearances.items() if len(numbers) >= min_documents}
            if length == order:
                self.counts[length] = Counter(ngram for ngram, *_ in found)
                continue
            counts = Counter(ngram for ngram, _, before in found if before is None)
            for longer, count in self.counts[length + 1].items():
                counts[longer[1:]] += 1 if longer in self.kept[length + 1] else count
            self.counts[length] = counts
        self.kept[1] = {(row,) for row in range(V)}
        self.discounts = {length: self.estimate_discounts(counts) for length, counts in self.counts.items()}

    @staticmethod
    def estimate_discounts(counts):
        n = Counter(counts.values())
        if n[1] and n[2] and n[3]:
            y = n[1] / (n[1] + 2 * n[2])
            discounts = [1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
            if 0 < discounts[0] < 1 and 0 < discounts[1] < 2 and 0 < discounts[2] < 3:
                return discounts
        return [0.5, 1.0, 1.5]

    def probability(self, context, row):
        length = len(context) + 1
        shorter = self.probability(context[1:], row) if context else 1 / V
        here = {ngram: count for ngram, count in self.counts[length].items() if ngram[:-1] == context}
        total = sum(here.values())
        if total == 0:
            return shorter
        own = {
            ngram: count - self.discounts[length][min(count, 3) - 1]
            for ngram, count in here.items()
            if ngram in self.kept[length]
        }
        return own.get((*context, row), 0) / total + (total - sum(own.values())) / total * shorter


def number(ngram):
    return sum(row * V**place for place, row in enumerate(reversed(ngram)))


def count(documents, order, min_documents):
    """The counts as :class:`textveil.lab.corpus.priors.PriorBuilder` makes them, in a plain way."""
    unigrams = np.bincount([ngram[0] for ngram, *_ in list_ngrams(documents, 1)], minlength=V)
    levels = []
    for length in range(2, order + 1):
        found = list(list_ngrams(documents, length))
        counts = Counter(number(ngram) for ngram, *_ in found)
        appearances = Counter(key for key, _ in {(number(ngram), document) for ngram, document, _ in found})
        totals = Counter(number(ngram[:-1]) for ngram, *_ in found)
        keys = sorted(key for key in counts if appearances[key] >= min_documents)
        contexts = sorted({key // V for key in keys})
        sizes = Counter(counts.values())
        levels.append(
            FrequentNgrams(
                np.array(keys, dtype=np.int64),
                np.array([counts[key] for key in keys], dtype=np.int64),
                np.array(contexts, dtype=np.int64),
                np.array([totals[context] for context in contexts], dtype=np.int64),
                np.array([sizes[size] for size in range(5)]),
            )
        )
    return unigrams, levels


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("min_documents", [1, 2, 8])
def test_probabilities_are_those_of_a_plain_transcription(order, min_documents):
    documents = make_documents()
    plain = PlainModel(documents, order, min_documents)
    unigrams, levels = estimate(*count(documents, order, min_documents))
    expected = [plain.probability((), row) for row in range(V)]
    np.testing.assert_allclose(np.exp(unigrams), expected, rtol=1e-9)
    assert sum(expected) == pytest.approx(1)
    for length, ngrams in enumerate(levels, start=2):
        assert ngrams.keys.tolist() == sorted(map(number, plain.kept[length]))
        for ngram in plain.kept[length]:
            found = ngrams.log_probabilities[np.searchsorted(ngrams.keys, number(ngram))]
            assert math.exp(found) == pytest.approx(plain.probability(ngram[:-1], ngram[-1]), rel=1e-9)


def test_continuation_counts_are_numbers_of_distinct_words_before():
    documents = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [5, 2]]  # 1 is frequent, and only ever after 0
    unigrams, _ = estimate(*count(documents, 2, 1))
    assert unigrams[1] < unigrams[2]


def test_most_ngrams_keeps_those_with_the_largest_gain():
    documents = make_documents()
    unigrams, levels = count(documents, 3, 1)
    whole = sum(len(level.keys) for level in levels)
    _, kept = estimate(unigrams, levels, most_ngrams=20)
    assert sum(len(level.keys) for level in kept) == 20 < whole
    gains = {}
    shares = unigrams / unigrams.sum()
    for key, occurrences in zip(levels[0].keys, levels[0].counts, strict=True):
        total = levels[0].totals[np.searchsorted(levels[0].contexts, key // V)]
        gains[key] = occurrences * math.log(occurrences / total / shares[key % V])
    bigrams = set(kept[0].keys.tolist())
    assert bigrams == set(sorted(gains, key=gains.get)[-len(bigrams) :])
    assert estimate(unigrams, levels, most_ngrams=whole)[1][0].keys.tolist() == levels[0].keys.tolist()


def test_every_entry_has_a_positive_probability_even_without_any_text():
    unigrams, levels = estimate(np.zeros(V, dtype=np.int64), [])
    np.testing.assert_allclose(np.exp(unigrams), 1 / V)
    assert levels == []
    unigrams, _ = estimate(np.array([7, 0, 0]), [])
    assert np.isfinite(unigrams).all()
    assert np.exp(unigrams).sum() == pytest.approx(1)
