import math

import pytest

from textveil.budget import Budget
from textveil.errors import BudgetError, InputError, UnknownNameError


def unread():
    raise AssertionError("read")
    yield


def test_a_given_budget_does_not_depend_on_any_length():
    budget = Budget(5.0)
    assert [budget.of(words) for words in (0, 1, 100)] == [5.0, 5.0, 5.0]
    assert budget.resolve(unread()) is budget


def test_a_budget_per_word_is_a_documents_own():
    budget = Budget(epsilon_per_word=2.0, length="own")
    assert [budget.of(words) for words in (0, 1, 100)] == [0.0, 2.0, 200.0]
    assert budget.resolve(unread()) is budget


def test_the_average_length_is_that_of_the_texts_there_are():
    budget = Budget(epsilon_per_word=2.0, length="average")
    assert budget.needs_average
    resolved = budget.resolve(["one two three", None, "four", "", "five six"])
    assert (resolved.average_length, resolved.needs_average) == (1.5, False)
    assert [resolved.of(words) for words in (1, 100)] == [3.0, 3.0]
    with pytest.raises(RuntimeError):
        budget.of(3)


def test_the_average_needs_a_word():
    with pytest.raises(InputError, match="No text has a word"):
        Budget(epsilon_per_word=2.0, length="average").resolve(["", None, "..."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "missing"),
        ({"epsilon": 1.0, "epsilon_per_word": 1.0}, "not both"),
        ({"epsilon": 1.0, "length": "own"}, "`length` goes with `epsilon_per_word`"),
    ],
)
def test_a_budget_is_one_or_the_other(options, message):
    with pytest.raises(BudgetError, match=message):
        Budget(**options)


def test_an_unknown_length():
    with pytest.raises(UnknownNameError, match="Did you mean 'average'"):
        Budget(epsilon_per_word=1.0, length="avarage")


@pytest.mark.parametrize("name", ["epsilon", "epsilon_per_word"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, True, "5"])
def test_a_budget_is_positive_and_finite(name, value):
    with pytest.raises(BudgetError, match=f"`{name}` must be"):
        Budget(**{name: value})


def test_a_budget_as_json():
    assert Budget(epsilon_per_word=2.0, length="own").as_dict() == {
        "epsilon": None,
        "epsilon_per_word": 2.0,
        "length": "own",
        "average_length": None,
    }


@pytest.mark.parametrize(
    ("budget", "shares"),
    [
        (Budget(epsilon=7.0), {"largest": 7.0}),
        (Budget(epsilon_per_word=2.0, length="own"), {"per word": 2.0}),
        (Budget(epsilon_per_word=2.0, length="average", average_length=5.0), {}),  # lengths of texts decide
    ],
)
def test_the_shares_that_follow_from_a_budget_alone(budget, shares):
    assert budget.list_shares() == shares


def test_a_budget_that_is_infinite_for_some_words_blames_what_was_given():
    assert Budget(epsilon_per_word=1e308).of(1) == 1e308
    with pytest.raises(BudgetError, match="^`epsilon_per_word` is too large: 1e[+]308 times"):
        Budget(epsilon_per_word=1e308).of(2)
