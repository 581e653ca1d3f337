from dataclasses import replace

import pytest

from textveil.evaluation.downstream import Downstream


def test_unchanged_texts_are_as_good_as_the_originals(unchanged):
    found = Downstream().measure(unchanged)
    assert found.values["f1"] == found.values["original"] == 1
    assert "F1 1.000. With originals the F1 is 1.000" in found.line


def test_a_task_is_learned_from_the_remaining_words(case, rows):
    labels = rows[1]
    found = Downstream().measure(replace(case, obfuscated=case.dataset.pair([f"x {label}" for label in labels])))
    assert found.values["f1"] == 1
    nothing = Downstream().measure(replace(case, obfuscated=case.dataset.pair(["x"] * len(labels))))
    assert nothing.values["f1"] == nothing.values["majority"] == pytest.approx(1 / 3)
    assert nothing.values["original"] == 1
