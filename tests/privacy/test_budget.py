import math

import pytest

from textveil.errors import BudgetError, InputError
from textveil.privacy.budget import Budget


def test_a_given_budget_reads_no_text():
    def texts():
        raise AssertionError("read")
        yield

    assert Budget(5.0).resolve(texts()) == (5.0, None)


def test_a_budget_per_word_is_scaled_by_the_average_length_of_the_texts_there_are():
    assert Budget(epsilon_per_word=2.0).resolve(["one two three", None, "four", "", "five six"]) == (3.0, 1.5)


def test_a_budget_per_word_needs_a_word():
    with pytest.raises(InputError, match="No text has a word"):
        Budget(epsilon_per_word=2.0).resolve(["", None, "..."])


@pytest.mark.parametrize(("options", "message"), [({}, "missing"), ({"epsilon": 1.0, "epsilon_per_word": 1.0}, "both")])
def test_a_budget_is_one_or_the_other(options, message):
    with pytest.raises(BudgetError, match=message):
        Budget(**options)


@pytest.mark.parametrize("name", ["epsilon", "epsilon_per_word"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_budget_is_positive_and_finite(name, value):
    with pytest.raises(BudgetError):
        Budget(**{name: value})
