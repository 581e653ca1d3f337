"""PMI, LLR and t-score, computed by hand.

The corpus of 1,000 words has a 20 times, b 40 times, c 50 times, d 25 times; a b 10 times, b c 12 times, c d 8 times;
a b c 6 times, b c d 5 times; a b c d 4 times.
"""

import math

import numpy as np
import pytest

from tests.corpus.conftest import count, count_plainly, write_lines, zipf_documents
from textveil.lab.corpus.lexicons import Occurrences, count_occurrences, llr, pmi, t_score

BIGRAM = Occurrences(*map(np.array, ([10.0], [[20.0], [40.0]], [20.0], [40.0])), 1000.0)
TRIGRAM = Occurrences(*map(np.array, ([6.0], [[20.0], [40.0], [50.0]], [10.0], [50.0])), 1000.0)
FOURGRAM = Occurrences(*map(np.array, ([4.0], [[20.0], [40.0], [50.0], [25.0]], [10.0], [8.0])), 1000.0)


def paper_llr(together, left, right, total):
    """The paper's formula, word for word."""

    def xlogx(x):
        return x * math.log(x) if x > 0 else 0.0

    c11, c12, c21 = together, left - together, right - together
    c22 = total - c11 - c12 - c21
    return 2 * (
        xlogx(total)
        - xlogx(c11 + c12)
        - xlogx(c21 + c22)
        - xlogx(c11 + c21)
        - xlogx(c12 + c22)
        + xlogx(c11)
        + xlogx(c12)
        + xlogx(c21)
        + xlogx(c22)
    )


def test_pmi_by_hand():
    # 10 * 1000 / (20 * 40) = 12.5; 6 * 1000^2 / (20 * 40 * 50) = 150; 4 * 1000^3 / (20 * 40 * 50 * 25) = 4000
    assert pmi(BIGRAM) == pytest.approx([3.6438561897747])
    assert pmi(TRIGRAM) == pytest.approx([7.2288186904958])
    assert pmi(FOURGRAM) == pytest.approx([11.9657842846621])


def test_t_score_by_hand():
    # Expected are 20 * 40 / 1000 = 0.8, 20 * 40 * 50 / 1000^2 = 0.04, and 20 * 40 * 50 * 25 / 1000^3 = 0.001.
    assert t_score(BIGRAM) == pytest.approx([2.9092954473])
    assert t_score(TRIGRAM) == pytest.approx([2.4331598249])
    assert t_score(FOURGRAM) == pytest.approx([1.9995])


def test_llr_by_hand():
    # Twice the sum of observed * ln(observed / expected). Cells of w1|w2: 10, 10, 30, 950; of w1 w2|w3: 6, 4, 44, 946;
    # of w1 w2|w3 w4: 4, 6, 4, 986.
    # 2 * (10 ln(10/0.8) + 10 ln(10/19.2) + 30 ln(30/39.2) + 950 ln(950/940.8))
    assert llr(BIGRAM) == pytest.approx([39.90898141])
    # 2 * (6 ln(6/0.5) + 4 ln(4/9.5) + 44 ln(44/49.5) + 946 ln(946/940.5))
    assert llr(TRIGRAM) == pytest.approx([23.56609439])
    # 2 * (4 ln(4/0.08) + 6 ln(6/9.92) + 4 ln(4/7.92) + 986 ln(986/982.08))
    assert llr(FOURGRAM) == pytest.approx([27.65351387])


@pytest.mark.parametrize("occurrences", [BIGRAM, TRIGRAM, FOURGRAM])
def test_llr_equals_the_formula_of_the_paper(occurrences):
    cells = (occurrences.ngram[0], occurrences.left[0], occurrences.right[0], occurrences.tokens)
    assert llr(occurrences) == pytest.approx([paper_llr(*cells)], rel=1e-9)


def test_independent_words_have_no_association():
    independent = Occurrences(*map(np.array, ([8.0], [[80.0], [100.0]], [80.0], [100.0])), 1000.0)
    assert pmi(independent) == pytest.approx([0.0], abs=1e-12)
    assert t_score(independent) == pytest.approx([0.0], abs=1e-12)
    assert llr(independent) == pytest.approx([0.0], abs=1e-9)


def test_empty_cells_add_nothing():
    always = Occurrences(*map(np.array, ([10.0], [[10.0], [10.0]], [10.0], [10.0])), 1000.0)
    assert llr(always) == pytest.approx([paper_llr(10, 10, 10, 1000)])
    repeated = Occurrences(*map(np.array, ([3.0], [[4.0], [4.0]], [4.0], [4.0])), 4.0)  # "ha ha ha ha"
    assert np.isfinite(llr(repeated)).all()


def test_rounding_errors_are_small_in_a_large_corpus():
    """Words that are independent in ten billion: the paper's sum of large terms would be off by 1e-4."""
    large = Occurrences(*map(np.array, ([1e6], [[1e8], [1e8]], [1e8], [1e8])), 1e10)
    assert llr(large) == pytest.approx([0.0], abs=1e-5)


def test_occurrences_are_those_of_the_parts(tmp_path):
    documents = zipf_documents(20_000, vocabulary=300)
    counts = count(write_lines(tmp_path / "a.txt", documents), tmp_path / "counts", min_count=3)
    plain = count_plainly(documents)
    for length, found in count_occurrences(counts).items():
        ngrams = counts.tables[length].ngrams.to_pylist()
        assert len(ngrams) > 10
        cut = 1 if length == 2 else 2
        for row, ngram in enumerate(ngrams):
            words = ngram.split(" ")
            left, right = words[:cut], words[cut:]
            assert found.ngram[row] == plain[length - 1][ngram]
            assert found.words[:, row].tolist() == [plain[0][word] for word in words]
            assert found.left[row] == plain[len(left) - 1][" ".join(left)]
            assert found.right[row] == plain[len(right) - 1][" ".join(right)]
        assert found.tokens == 20_000
