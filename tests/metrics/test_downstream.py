from dataclasses import replace

import pytest

from textveil.lab.metrics import Case, Dataset
from textveil.lab.metrics.downstream import Downstream
from textveil.randomness import SeededRandomness


def test_unchanged_texts_are_as_good_as_the_originals(unchanged):
    found = Downstream().measure(unchanged)
    assert found.values["f1"] == found.values["original"] == 1
    assert "with F1 100.0% (95 % interval 80.5% to 100.0%); that is 100.0% (80.5% to 100.0%) of the F1" in found.line
    assert "cannot be told from chance" not in found.line


def test_a_task_is_learned_from_the_remaining_words(case, rows):
    labels = rows[1]
    found = Downstream().measure(replace(case, obfuscated=case.dataset.pair([f"x {label}" for label in labels])))
    assert found.values["f1"] == 1
    nothing = Downstream().measure(replace(case, obfuscated=case.dataset.pair(["x"] * len(labels))))
    assert nothing.values["f1"] == nothing.values["majority"] == pytest.approx(1 / 3)
    assert nothing.values["original"] == 1
    assert "cannot be told from chance" in nothing.line
    assert nothing.values["chance"] == pytest.approx(0.5, abs=0.05)
    assert nothing.intervals.keys() == {"f1", "original", "chance", "retained"}
    assert nothing.values["retained"] == nothing.values["f1"]
    assert nothing.intervals["retained"].low <= nothing.values["retained"] <= nothing.intervals["retained"].high
    assert nothing.details["test_texts"] == 17


def test_a_task_that_cannot_be_learned_is_a_reason_to_draw_no_conclusion(rows):
    texts = rows[0] * 10
    dataset = Dataset(texts, label=SeededRandomness(1).stream(0).permutation(["good", "bad"] * 300).tolist())
    (caveat,) = Downstream().measure(Case(dataset, dataset.originals)).caveats
    assert caveat.startswith("The label cannot be learned from the originals: F1 ")
