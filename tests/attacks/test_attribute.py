from dataclasses import replace

import pytest

from textveil.errors import ParameterError
from textveil.lab.attacks.attribute import AttributeInference
from textveil.lab.metrics import Dataset
from textveil.lab.metrics.base import Case
from textveil.randomness import SeededRandomness


def test_attackers_on_unchanged_texts_equal_the_baseline(unchanged):
    found = AttributeInference().measure(unchanged)
    for name in ("", "_std"):
        assert found.values[f"static{name}"] == found.values[f"baseline{name}"] == found.values[f"adaptive{name}"]
    assert found.values["baseline"] == 1  # these authors are easy to distinguish


def test_obfuscation_misleads_attackers(case):
    found = AttributeInference().measure(replace(case, obfuscated=case.dataset.pair(["nothing"] * 60)))
    assert found.values["baseline"] == 1
    assert found.values["static"] == found.values["adaptive"] == found.values["majority"] == pytest.approx(1 / 3)


@pytest.fixture(scope="module")
def ten_authors():
    """Texts of ten authors, 60 each, with words of their own."""
    generator = SeededRandomness(8).stream(0)
    authors = [f"author{number % 10}" for number in range(600)]
    words = [[*(f"{author}{word}" for word in range(5)), *"soup tea cake rain sun".split()] for author in authors]
    return [" ".join(generator.choice(each, 8)) for each in words], authors


def test_guesses_among_ten_authors_are_recognized_as_chance(ten_authors):
    texts, authors = ten_authors
    dataset = Dataset(texts, attribute=authors)
    generator = SeededRandomness(9).stream(0)
    noise = [" ".join(generator.choice("soup tea cake rain sun wind".split(), 8)) for _ in texts]
    found = AttributeInference().measure(Case(dataset, dataset.pair(noise)))
    assert found.values["majority"] == pytest.approx(0.018, abs=0.001)
    assert found.values["chance"] == pytest.approx(0.1, abs=0.02)
    low, high = found.intervals["chance"]
    assert low < found.values["chance"] < high < 0.16
    assert found.values["adaptive"] <= high
    assert found.details["chance"].keys() == {"baseline", "static", "adaptive"}
    assert max(level["high"] for level in found.details["chance"].values()) == high
    assert found.values["baseline"] > 0.9
    assert found.caveats == ()


def test_values_have_intervals_over_test_texts(ten_authors):
    texts, authors = ten_authors
    dataset = Dataset(texts, attribute=authors)
    half = [text if number % 4 else "nothing" for number, text in enumerate(texts)]
    found = AttributeInference(seeds=[42]).measure(Case(dataset, dataset.pair(half)))
    assert found.intervals.keys() == {"baseline", "static", "adaptive", "chance"}
    low, high = found.intervals["adaptive"]
    assert low < found.values["adaptive"] < high
    assert high - low > 0.1
    assert found.values.keys() == {"baseline", "static", "adaptive", "chance", "majority"}  # one seed has no deviation
    assert (found.details["test_texts"], found.details["test_texts_by_seed"]) == (60, 60)
    assert f"with F1 {found.values['static']:.1%} (95 % interval " in found.line
    assert "There were 60 test texts." in found.line


def test_few_rows_are_a_reason_to_draw_no_conclusion(case):
    (caveat,) = AttributeInference().measure(case).caveats
    assert caveat == "Only 17 test texts: too few for a conclusion, which needs at least 50."


def test_originals_that_do_not_reveal_the_attribute_are_a_reason_to_draw_no_conclusion(ten_authors):
    texts, authors = ten_authors
    dataset = Dataset(texts, attribute=SeededRandomness(2).stream(0).permutation(authors).tolist())
    (caveat,) = AttributeInference().measure(Case(dataset, dataset.originals)).caveats
    assert AttributeInference().measure(Case(dataset, dataset.pair(["x"] * len(texts)))).caveats == (caveat,)
    assert caveat.startswith("The attribute cannot be learned from the originals: F1 ")
    assert "is near chance, " in caveat


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
