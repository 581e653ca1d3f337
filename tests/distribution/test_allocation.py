import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import BudgetError, ParameterError
from textveil.methods.distribution.allocation import allocate, check_budget
from textveil.methods.distribution.uniform import Uniform
from textveil.text.documents import Document

finite = st.floats(allow_nan=False, allow_infinity=False)
words = st.lists(st.tuples(st.none() | finite, st.booleans()), max_size=30)


@given(words, st.floats(1e-6, 1e9), st.booleans(), st.sampled_from(["mean", "zero"]))
def test_shares_sum_to_the_budget_and_none_is_negative(words, budget, invert, missing):
    scores, takes_part = [score for score, _ in words], [takes for _, takes in words]
    shares = allocate(scores, takes_part, budget=budget, invert=invert, missing=missing)
    assert len(shares) == len(words)
    assert all(share >= 0 for share in shares)
    assert all(share == 0 for share, takes in zip(shares, takes_part, strict=True) if not takes)
    expected = budget if any(takes_part) else 0.0
    assert math.isclose(math.fsum(shares), expected, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([1, 1, 2], {}, [2, 2, 4]),
        ([0, 1, 3], {}, [8 / 61, 120 / 61, 360 / 61]),  # 0 is lifted to a twentieth of the mean, 4 / 60
        ([-1, 0, 1], {}, [8 / 61, 160 / 61, 320 / 61]),  # shifted to 0, 1, 2, and 0 is lifted to 1 / 20
        ([1, 2, 3], {"invert": True}, [4, 8 / 3, 4 / 3]),  # mirrored to 3, 2, 1
        ([-1, 0, 1], {"invert": True}, [320 / 61, 160 / 61, 8 / 61]),  # shifted to 0, 1, 2, mirrored to 2, 1, 0
        ([5, 5, 5], {"invert": True}, [8 / 3, 8 / 3, 8 / 3]),
        ([0, 0, 0], {}, [8 / 3, 8 / 3, 8 / 3]),  # somebody must get the budget
        ([0, 0, 0], {"invert": True}, [8 / 3, 8 / 3, 8 / 3]),
        ([1, None, 3], {}, [4 / 3, 8 / 3, 4]),  # the mean of 1 and 3
        ([1, None, 3], {"missing": "zero"}, [2, 0, 6]),
        ([1, None, 3], {"invert": True, "missing": "zero"}, [6, 0, 2]),
        ([1, None, 4], {"invert": True}, [8 * 4 / 7.5, 8 * 2.5 / 7.5, 8 * 1 / 7.5]),  # mirrored to 4, 1; their mean
        ([-2, None, 2], {}, [8 / 61, 160 / 61, 320 / 61]),
        ([-1.7e308, 0, 1.7e308], {}, [8 / 61, 160 / 61, 320 / 61]),  # no overflow
        ([None, None, None], {}, [8 / 3, 8 / 3, 8 / 3]),
        ([None, None, None], {"missing": "zero"}, [8 / 3, 8 / 3, 8 / 3]),
    ],
)
def test_by_hand(scores, options, expected):
    assert allocate(scores, [True] * 3, budget=8, **options) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([-0.1, 0.2, 0.4, 0.7], {"invert": True}, [0, 80 / 17, 60 / 17, 30 / 17]),  # the least important gets none
        ([-0.1, 0.2, 0.4, 0.7], {}, [0, 30 / 16, 50 / 16, 80 / 16]),
        ([0, 1, 3, 4], {"invert": True}, [0, 4, 2, 1]),  # a score of 0 gets none
        ([None, 1, 3, None], {"filler": 2.0}, [2.5, 1.25, 3.75, 2.5]),  # information content without a sense
    ],
)
def test_the_papers_algorithm_by_hand(scores, options, expected):
    shares = allocate(scores, [True] * 4, budget=10, missing="zero", **options)
    assert shares == pytest.approx([10 * share / sum(expected) for share in expected])


@given(st.lists(st.floats(-1, 1) | st.none(), min_size=1, max_size=30), st.booleans())
def test_every_word_gets_a_share_by_our_rules(scores, invert):
    shares = allocate(scores, [True] * len(scores), budget=10, invert=invert)
    assert min(shares) > 0
    assert min(shares) >= 0.04 * (10 / len(shares))  # a twentieth of the mean, before all are scaled to the budget


def test_words_that_take_no_part_do_not_count():
    # Neither the minimum, nor the maximum, nor the mean is theirs.
    shares = allocate([-100, 1, 3, 1000, None], [False, True, True, False, True], budget=6, invert=True)
    assert shares == pytest.approx([0, 3, 1, 0, 2])


def test_no_word_no_share():
    assert allocate([], [], budget=1) == []
    assert allocate([1.0, 2.0], [False, False], budget=1) == [0.0, 0.0]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_broken_score_is_an_error_and_not_a_zero(score):
    with pytest.raises(ParameterError, match="not a finite number"):
        allocate([1.0, score], [True, True], budget=1)


@pytest.mark.parametrize("budget", [0, -1, 5e-324, 10**400, math.nan, math.inf, -math.inf])
def test_a_budget_is_positive_and_finite(budget):
    with pytest.raises(BudgetError, match="must be positive and finite"):
        check_budget(budget)
    with pytest.raises(BudgetError):
        allocate([1.0], [True], budget=budget)


@pytest.mark.parametrize("budget", [np.float32(2), np.int64(2), Fraction(2)])
def test_a_budget_may_be_a_number_of_any_kind(budget):
    assert check_budget(budget) == 2.0


@pytest.mark.parametrize("budget", ["5", None, True, [1]])
def test_a_budget_is_a_number(budget):
    with pytest.raises(BudgetError, match="must be a number"):
        check_budget(budget)


def test_every_word_has_the_same_score():
    uniform = Uniform()
    assert uniform.score([Document.parse("One, two, three"), Document.parse("")]) == [[1.0, 1.0, 1.0], []]
    assert uniform.data_independent
    assert not uniform.invert


def test_shares_are_equal():
    (scores,) = Uniform().score([Document.parse("the cold soup")])
    assert allocate(scores, [False, True, True], budget=10) == [0.0, 5.0, 5.0]
