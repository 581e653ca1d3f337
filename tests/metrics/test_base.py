import json

import pytest

from textveil.errors import InputError, ParameterError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import (
    Case,
    Interval,
    Measurement,
    Metric,
    Need,
    Reading,
    add_constants,
    check_seeds,
    identify,
)
from textveil.registry import Option
from textveil.version import __version__


class Length(Metric):
    """The mean length of obfuscated texts."""

    name = "length"
    options = (
        Option("unit", str, "characters", "The unit.", choices=("characters", "words")),
        Option("batch_size", int, 8, "Texts at a time.", changes_results=False),
    )

    @property
    def versions(self):
        return {"package": "2.0"}

    def measure(self, case):
        return self.report("Some length.", {"mean": 2.0}, texts=len(case.obfuscated))


def make_case(**options):
    dataset = Dataset(["one", "two", "three", "four"], **options)
    return Case(dataset, dataset.pair(["1", "2", "3", "4"]))


@pytest.mark.parametrize(
    ("need", "parameter"),
    [
        (Need.LABEL, "label"),
        (Need.ATTRIBUTE, "attribute"),
        (Need.CERTIFICATE, "certificate"),
        (Need.CHUNKS, "obfuscations"),
    ],
)
def test_a_missing_requirement_names_its_parameter(need, parameter, monkeypatch):
    monkeypatch.setattr(Length, "needs", (need,))
    reason = make_case().lacks(Length())
    assert ParameterError(reason).parameters == (parameter,)


def test_a_requirement_that_is_given_is_not_missing(monkeypatch, obfuscations, certificate):
    monkeypatch.setattr(Length, "needs", tuple(Need))
    dataset = Dataset(["one", "two", "three", "four"], label=["a", "b"] * 2, attribute=["x", "y"] * 2)
    case = Case(dataset, dataset.pair([""] * 4), certificate, obfuscations[:4])
    assert case.lacks(Length()) is None


def test_metrics_that_were_not_measured_are_named(monkeypatch):
    monkeypatch.setattr(Length, "after", ("identifiers", "attribute"))
    case = make_case()
    assert case.lacks(Length()).endswith("that were not measured: identifiers, attribute.")
    measured = {name: Measurement(name, name, {}, "") for name in Length.after}
    assert Case(case.dataset, case.obfuscated, measured=measured).lacks(Length()) is None


def test_classes_of_the_label_and_the_attribute():
    case = make_case(label=["a", "b"] * 2, attribute=["x", "x", "y", "y"])
    assert case.classes(Need.LABEL).names == ("a", "b")
    assert case.classes(Need.ATTRIBUTE).codes.tolist() == [0, 0, 1, 1]
    with pytest.raises(ParameterError, match="needs the label of a task .`label`."):
        make_case().classes(Need.LABEL)


def test_classes_that_cannot_be_learned_are_a_reason():
    case = make_case(label=["a", "b"] * 2, attribute=["x", "x", "x", "y"])
    reason = case.lacks(AttributeInference())
    assert reason.startswith("Row 4 is the only one with its attribute")
    with pytest.raises(InputError, match="Row 4 is the only one"):
        case.classes(Need.ATTRIBUTE)
    assert case.classes(Need.LABEL).names == ("a", "b")


def test_a_measurement_has_the_description_and_the_versions():
    found = Length(unit="words").measure(make_case())
    assert found == Measurement(
        "length", "length (unit words)", {"mean": 2.0}, "Some length.", {"texts": 4}, {"package": "2.0"}
    )
    assert json.loads(json.dumps(found.as_dict()))["details"] == {"texts": 4}


def test_unknown_intervals_are_left_out():
    found = Length().report("A line.", {"a": Reading(1.0, Interval(0, 2)), "b": 2.0}, caveats=["Few."])
    assert found.intervals == {"a": (0, 2)}
    assert found.as_dict()["intervals"] == {"a": [0, 2]}
    assert found.caveats == ("Few.",)


def test_the_identity_depends_on_options_that_change_results_only():
    assert Length(batch_size=1).identity == Length().identity
    assert Length(unit="words").identity != Length().identity
    assert Length().identity["versions"] == {"textveil": __version__, "package": "2.0"}


def test_an_identity_has_its_parts():
    assert identify("cosine", {"torch": "2"}, model="m") == {
        "scores": "cosine",
        "model": "m",
        "versions": {"textveil": __version__, "torch": "2"},
    }


def test_constants_are_recorded_among_options():
    record = Length().as_dict()
    assert add_constants(record, C=10.0)["options"] == {"unit": "characters", "C": 10.0}
    assert record["options"] == {"unit": "characters"}  # the record itself is not changed


def test_seeds():
    assert check_seeds([3, 1, 3]) == (3, 1)
    with pytest.raises(ParameterError, match=r"Got \[-1\] instead"):
        check_seeds([-1])
    with pytest.raises(ParameterError, match="Got 'secret' instead"):
        check_seeds("secret")
