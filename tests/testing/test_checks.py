import pytest

from textveil.errors import ContractError
from textveil.methods.distribution.uniform import Uniform
from textveil.registry import Plugin
from textveil.testing.checks import Check, check_name, check_options, check_record, expect


def test_a_breach_names_the_method():
    expect(1, Uniform(), "nothing is wrong")
    with pytest.raises(ContractError, match="The distribution 'uniform' breaks its contract: it sings"):
        expect(0, Uniform(), "it sings")
    assert issubclass(ContractError, AssertionError)


def test_a_check_is_called_and_named():
    seen = []
    check = Check("uniform", "it is even", lambda: seen.append(1))
    check()
    assert (seen, str(check)) == ([1], "uniform: it is even")


def test_a_version_must_be_one():
    class Vague(Uniform):
        versions = {"numpy": "new"}  # noqa: RUF012

    check_record(Uniform())
    with pytest.raises(ContractError, match="does not begin with a number"):
        check_record(Vague())


def test_options_must_be_declared():
    class Loose(Uniform):
        options = ("color",)

    class Careless(Uniform):
        def __init__(self, **options):
            pass

    assert "textveil.registry.Option" in Loose.find_breach()
    check_options(Uniform(), Uniform)
    with pytest.raises(ContractError, match="it takes an option that it does not declare"):
        check_options(Careless(), Careless)
    assert Uniform.find_breach() is None


def test_a_name_is_given_once():
    class Other(Uniform):
        pass

    check_name(Uniform(), [], {"uniform": Uniform})
    with pytest.raises(ContractError, match="textveil has a method with this name"):
        check_name(Other(), [], {"uniform": Uniform})
    taken = Plugin("textveil.distributions", "uniform", "elsewhere:Uniform", "other", "1")
    with pytest.raises(ContractError, match="another package"):
        check_name(Uniform(), [taken], {})
