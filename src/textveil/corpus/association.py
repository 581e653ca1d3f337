"""Association measures: how much more often words occur together than by chance.

All measures work on arrays with one value per n-gram and follow the paper (section 3.3 and appendix).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textveil.corpus.counting.ngrams import NgramCounts
from textveil.language.matching import LONGEST

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Occurrences:
    """The counts of n-grams of one length, of their words, and of their halves.

    Args:
        ngram: The counts of the n-grams.
        words: The counts of their words, one row per position.
        left: The counts of their left halves: the first word, or the first two of three or four.
        right: The counts of their right halves: the rest.
        tokens: The number of words in the corpus.
    """

    ngram: Floats
    words: Floats
    left: Floats
    right: Floats
    tokens: float

    @property
    def expected(self) -> Floats:
        """The expected counts if words were independent: c(w1)...c(wn) / N^(n-1)."""
        expected: Floats = self.tokens * np.prod(self.words / self.tokens, axis=0)
        return expected

    @property
    def attracted(self) -> NDArray[np.bool_]:
        """Whether the halves occur together more often than by chance. LLR is also high if they avoid each other."""
        attracted: NDArray[np.bool_] = self.ngram * self.tokens > self.left * self.right
        return attracted


def pmi(occurrences: Occurrences) -> Floats:
    """Pointwise mutual information: log2 of c(w1...wn) N^(n-1) / (c(w1)...c(wn)).

    >>> pmi(Occurrences(*map(np.array, ([8.0], [[16.0], [32.0]], [16.0], [32.0])), tokens=1024.0))
    array([4.])
    """
    return np.log2(occurrences.ngram / occurrences.expected)


def t_score(occurrences: Occurrences) -> Floats:
    """Student's t: the difference between observed and expected count, divided by the square root of the observed.

    >>> t_score(Occurrences(*map(np.array, ([16.0], [[64.0], [64.0]], [64.0], [64.0])), tokens=1024.0))
    array([3.])
    """
    return (occurrences.ngram - occurrences.expected) / np.sqrt(occurrences.ngram)


def llr(occurrences: Occurrences) -> Floats:
    """Log-likelihood ratio of the 2x2 table of the left and the right half: w1|w2, w1 w2|w3, w1 w2|w3 w4.

    Computed as 2 * sum of observed * log(observed / expected). This equals the paper's formula and has smaller rounding
    errors for a large corpus. Where halves overlap themselves ("ha ha ha ha"), the cell for neither half can be
    negative. It then counts as zero.
    """
    together = occurrences.ngram
    only_left, only_right = occurrences.left - together, occurrences.right - together
    neither = np.maximum(occurrences.tokens - together - only_left - only_right, 0.0)
    table = np.array([[together, only_left], [only_right, neither]])
    expected = table.sum(axis=0, keepdims=True) * table.sum(axis=1, keepdims=True) / table.sum(axis=(0, 1))
    # An empty cell adds nothing, so its ratio may be 1.
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    ratios: Floats = 2.0 * (table * np.log(ratio)).sum(axis=(0, 1))
    return np.maximum(ratios, 0.0)


MEASURES: dict[str, Callable[[Occurrences], Floats]] = {"pmi": pmi, "llr": llr, "tscore": t_score}


def count_occurrences(counts: NgramCounts) -> dict[int, Occurrences]:
    """The occurrences of all n-grams of two or more words, by length."""
    tables = counts.tables
    of_words = tables[1].counts
    rows = np.arange(len(of_words))[:, None]  # the rows of the words of every n-gram
    found: dict[int, Occurrences] = {}
    for length in range(2, LONGEST + 1):
        table, shorter = tables[length], tables[length - 1]
        rows = np.column_stack((rows[table.prefixes], rows[table.suffixes, -1]))
        if length == 2:
            left, right = of_words[table.prefixes], of_words[table.suffixes]
        elif length == 3:
            left, right = shorter.counts[table.prefixes], of_words[rows[:, -1]]
        else:  # drop the last word twice, and the first word twice
            pairs = tables[2].counts
            left, right = pairs[shorter.prefixes[table.prefixes]], pairs[shorter.suffixes[table.suffixes]]
        found[length] = Occurrences(
            table.counts.astype(np.float64),
            of_words[rows.T].astype(np.float64),
            left.astype(np.float64),
            right.astype(np.float64),
            float(counts.tokens),
        )
    return found
