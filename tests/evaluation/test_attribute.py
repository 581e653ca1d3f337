from dataclasses import replace

import pytest

from textveil.errors import ParameterError
from textveil.evaluation import Dataset
from textveil.evaluation.attribute import AttributeInference
from textveil.evaluation.base import Case


def test_attackers_on_unchanged_texts_equal_the_baseline(unchanged):
    found = AttributeInference().measure(unchanged)
    for name in ("", "_std"):
        assert found.values[f"static{name}"] == found.values[f"baseline{name}"] == found.values[f"adaptive{name}"]
    assert found.values["baseline"] == 1  # these authors are easy to distinguish


def test_obfuscation_misleads_attackers(case):
    found = AttributeInference().measure(replace(case, obfuscated=case.dataset.pair(["nothing"] * 60)))
    assert found.values["baseline"] == 1
    assert found.values["static"] == found.values["adaptive"] == found.values["majority"] == pytest.approx(1 / 3)
    assert "F1 0.333" in found.line
    assert "Without obfuscation the F1 is 1.000" in found.line


def test_details_have_the_score_of_each_seed(case):
    found = AttributeInference(seeds=[42, 7]).measure(case)
    assert set(found.details["seeds"]) == {"42", "7"}
    mean = sum(values[2] for values in found.details["seeds"].values()) / 2
    assert found.values["adaptive"] == pytest.approx(mean)
    assert "seeds 42 7" in found.description


def test_without_an_attribute():
    dataset = Dataset(["one", "two"])
    with pytest.raises(ParameterError, match="`attribute`"):
        AttributeInference().measure(Case(dataset, dataset.pair(["one", "two"])))
