import pytest

from textveil.errors import ContractError, ParameterError
from textveil.methods.distribution.uniform import Uniform
from textveil.testing import check_distributor, list_checks, parametrize_with_checks


@parametrize_with_checks([Uniform])
def test_checks_are_tests(check):
    check()


def test_a_suite_stops_at_the_first_breach():
    class Odd(Uniform):
        name = "odd"

        def score(self, documents):
            return []

    with pytest.raises(ContractError, match="does not answer every document"):
        check_distributor(Odd)


def test_only_methods_have_checks():
    assert str(list_checks(Uniform)[0]) == "uniform: every word has a score"
    for wrong in (int, "uniform"):
        with pytest.raises(ParameterError, match="`method` must be a subclass"):
            list_checks(wrong)
