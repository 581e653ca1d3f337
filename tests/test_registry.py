import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.registry import Registry


@pytest.fixture
def shapes() -> Registry[type]:
    registry: Registry[type] = Registry("shape")
    registry.register("counter", "collections:Counter", aliases=["tally"])
    registry.register("deque", "collections:deque")
    return registry


def test_a_name_and_its_alias_lead_to_the_same_thing(shapes):
    from collections import Counter

    assert shapes.load("counter") is shapes.load("tally") is Counter


def test_nothing_is_imported_before_it_is_asked_for():
    registry: Registry[type] = Registry("shape")
    registry.register("later", "no_such_module:Thing")
    assert list(registry) == ["later"]
    with pytest.raises(ModuleNotFoundError):
        registry.load("later")


@pytest.mark.parametrize("name", ["counter", "tally"])
def test_a_name_is_given_once(shapes, name):
    with pytest.raises(ParameterError, match="is taken"):
        shapes.register(name, "collections:OrderedDict")


def test_an_unknown_name_is_answered_with_the_nearest(shapes):
    with pytest.raises(
        UnknownNameError, match=r"no shape 'dequeue'. Did you mean 'deque'\? Choose from: counter, deque"
    ):
        shapes.load("dequeue")


def test_a_name_unlike_any_other_gets_the_list_only(shapes):
    with pytest.raises(UnknownNameError, match=r"no shape 'xyz'\. Choose from"):
        shapes.load("xyz")


def test_an_alias_resolves_to_its_name_and_what_is_unknown_stays(shapes):
    assert [shapes.resolve(name) for name in ("tally", "counter", "square")] == ["counter", "counter", "square"]
