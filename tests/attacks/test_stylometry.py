from dataclasses import replace

import pytest

from textveil.errors import ParameterError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.attacks.stylometry import StylometryInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.lab.metrics.classification import FIXED_SPLIT, Scenario
from textveil.randomness import SeededRandomness


def make_case(size=240, *, styled=True):
    """Texts whose content words are random and whose punctuation depends on the author."""
    generator = SeededRandomness(4).stream(0)
    authors = ["anna", "ben"] * (size // 2)
    texts = []
    for author in authors:
        words = ["word" * size for size in generator.integers(1, 4, 12)]
        mark = ";" if author == "anna" and styled else ","
        texts.append(f"{mark} ".join(words))
    dataset = Dataset(texts, attribute=authors)
    return Case(dataset, dataset.pair([text.replace("word", "name") for text in texts]))


def test_style_is_enough_for_the_attacker():
    found = StylometryInference().measure(make_case())
    assert found.values["adaptive"] == found.values["baseline"] == 1
    assert found.values["majority"] == pytest.approx(1 / 3)
    assert found.values["chance"] == pytest.approx(0.5, abs=0.05)
    assert found.line.endswith(f" There were {found.details['test_texts']} test texts.")
    assert found.details["chance"].keys() == {"adaptive", "baseline"}
    assert max(level["high"] for level in found.details["chance"].values()) == found.intervals["chance"].high
    assert found.caveats == ()


def test_without_style_nothing_is_inferred():
    found = StylometryInference().measure(make_case(styled=False))
    assert found.values["adaptive"] < 0.7
    assert "cannot be told from chance" in found.line
    assert any("cannot be learned from the originals" in caveat for caveat in found.caveats)
    low, high = found.intervals["adaptive"]
    assert low <= found.values["adaptive"] <= high


def test_punctuation_that_is_removed_is_not_read():
    case = make_case()
    bare = replace(case, obfuscated=case.dataset.pair([text.replace(";", ",") for text in case.originals]))
    found = StylometryInference().measure(bare)
    assert found.values["baseline"] == 1
    assert found.values["adaptive"] < 0.7


def test_it_is_attribute_inference_with_another_classifier(case):
    found = StylometryInference(seeds=[42, 43])
    same = AttributeInference(classifier="stylometry", seeds=[42, 43])
    values = found.measure(case).values
    assert values["adaptive"] == same.measure(case).values["adaptive"]
    assert values["adaptive_std"] == same.measure(case).values["adaptive_std"]
    assert found.predict(case, Scenario.BASELINE).by_seed == same.predict(case, Scenario.BASELINE).by_seed


def test_the_majority_baseline_has_the_split_of_the_classifiers(case, monkeypatch):
    splits = []
    monkeypatch.setattr("textveil.lab.metrics.classification.majority_f1", lambda _, seeds: splits.extend(seeds) or 0.5)
    StylometryInference(seeds=[1, 2], split="fixed").measure(case)
    assert splits == [FIXED_SPLIT, FIXED_SPLIT]


def test_another_classifier_is_refused():
    with pytest.raises(ParameterError, match="`classifier` of stylometry must be stylometry"):
        StylometryInference(classifier="linear")
    assert "stylometry" in StylometryInference().description
