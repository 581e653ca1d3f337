import json
import math
from dataclasses import replace

import pytest

from textveil.errors import ParameterError, UnknownNameError
from textveil.registry import Method, Option, Registry


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


class Sweet(Method):
    kind = "taste"
    name = "sweet"
    options = (Option("sugar", float, 1.0, "Spoons of sugar.", least=0),)
    sugar: float


class Tea(Sweet):
    name = "tea"
    options = (
        Option("cups", int, 2, "Number of cups.", least=1),
        Option("milk", str, None, "What milk to add.", choices=("cow", "oat")),
        Option("quickly", bool, False, "Brew in a hurry.", changes_results=False),
        Option("pot", object, None, "Anything.", changes_results=False),
    )

    @property
    def model_used(self):
        return {"name": "kettle", "sha256": "ab" * 32}


def test_options_become_attributes_and_have_their_defaults():
    tea = Tea(cups=3, milk="oat")
    assert (tea.cups, tea.milk, tea.sugar, tea.quickly, tea.pot) == (3, "oat", 1.0, False, None)
    assert list(Tea.list_options()) == ["sugar", "cups", "milk", "quickly", "pot"]


def test_a_subclass_may_declare_an_option_anew():
    class Syrup(Sweet):
        name = "syrup"
        options = (replace(Sweet.list_options()["sugar"], default=9.0),)

    assert (Syrup().sugar, Sweet().sugar) == (9.0, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cups": 0}, "`cups` of tea must be a whole number of at least 1. Got 0"),
        ({"cups": 2.5}, "`cups` of tea must be a whole number"),
        ({"cups": True}, "`cups` of tea must be a whole number"),
        ({"cups": None}, "`cups` of tea must be a whole number"),
        ({"sugar": -1}, "`sugar` of tea must be a number of at least 0"),
        ({"sugar": math.nan}, "`sugar` of tea must be a number"),
        ({"sugar": math.inf}, "`sugar` of tea must be a number"),
        ({"quickly": 1}, "`quickly` of tea must be true or false"),
        ({"milk": "aot"}, "no `milk` of tea 'aot'. Did you mean 'oat'"),
        ({"cubs": 1}, "no option of the taste 'tea' 'cubs'. Did you mean 'cups'"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        Tea(**options)


def test_a_method_without_options_says_so():
    class Bitter(Method):
        kind, name = "taste", "bitter"

    with pytest.raises(ParameterError, match="The taste 'bitter' has no options. Got `sugar`"):
        Bitter(sugar=1)


def test_names_of_options_can_be_checked_before_anything_is_built():
    assert Tea.check_options({"cups": 4})["cups"] == 4
    with pytest.raises(UnknownNameError, match="Did you mean 'milk'"):
        Tea.check_options({"mlik": "oat"})


def test_a_method_as_a_certificate_records_it():
    assert Tea(cups=3, quickly=True, pot=object()).as_dict() == {
        "name": "tea",
        "options": {"sugar": 1.0, "cups": 3, "milk": None},  # what changes no result is left out
        "model": {"name": "kettle", "sha256": "ab" * 32},
    }
    assert Tea(cups=3).description == "tea (kettle abababababab, cups 3)"
    assert Sweet().description == "sweet"
    assert json.loads(json.dumps(Sweet(sugar=2).as_dict()))["options"] == {"sugar": 2.0}


@pytest.fixture
def tastes() -> Registry[type[Method]]:
    registry: Registry[type[Method]] = Registry("taste")
    registry.register("tea", f"{__name__}:Tea")
    return registry


def test_a_method_is_chosen_by_name_or_as_it_is(tastes):
    tea = Tea()
    assert tastes.choose("tea").__name__ == "Tea"
    assert tastes.build(tastes.choose(tea)) is tea
    assert tastes.build(tastes.choose("tea"), cups=4).cups == 4
    with pytest.raises(ParameterError, match="`taste_options` go with the name of a taste"):
        tastes.build(tea, cups=4)


def test_what_is_no_method_of_the_axis_is_refused(tastes, shapes):
    with pytest.raises(ParameterError, match="`taste` must be a name or a taste. Got int"):
        tastes.choose(3)
    with pytest.raises(ParameterError, match="`shape` must be a shape. Got the taste 'tea'"):
        shapes.choose(Tea())
