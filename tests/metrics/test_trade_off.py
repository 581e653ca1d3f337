import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED
from textveil.lab.metrics import Dataset, Evaluator, Interval, Measurement, Metric, relative_gain
from textveil.lab.metrics.trade_off import TradeOff

RESULTS = SHARED.parent / "paper/results.csv"
BASELINES = {"trustpilot": (0.982, 0.721), "yelp": (0.878, 0.944)}
"""Downstream F1 and the adversary's F1 on the originals, as published."""


@pytest.mark.skipif(not RESULTS.exists(), reason="the published results are not at hand")
def test_all_published_values():
    with Path(RESULTS).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 180
    for row in rows:
        downstream, attacker = BASELINES[row["dataset"]]
        gain = relative_gain(
            downstream=float(row["utility_f1"]) / 100,
            similarity=float(row["cosine_similarity"]),
            identifiers=float(row["pi_remaining"]) / 100,
            static=float(row["static_f1"]) / 100,
            adaptive=float(row["adaptive_f1"]) / 100,
            original_downstream=downstream,
            original_attacker=attacker,
        )
        assert gain == pytest.approx(float(row["relative_gain"]), abs=0.0011)


def test_a_case_by_hand():
    # The utility is 1.0 of 1.8, and what attackers know 0.6 of 2.0.
    gain = relative_gain(
        downstream=0.6, similarity=0.4, identifiers=0.1, static=0.2, adaptive=0.3,
        original_downstream=0.8, original_attacker=0.5,
    )  # fmt: skip
    assert gain == pytest.approx(5 / 9 - 0.3)


@given(st.floats(0.1, 1), st.floats(0.1, 1))
def test_unchanged_texts_have_no_gain(downstream, attacker):
    gain = relative_gain(
        downstream=downstream, similarity=1, identifiers=1, static=attacker, adaptive=attacker,
        original_downstream=downstream, original_attacker=attacker,
    )  # fmt: skip
    assert gain == pytest.approx(0)


MEASURED = {
    "identifiers": {"remaining": 0.1, "found": 90.0, "pairs": 60.0},
    "attribute": {"baseline": 0.5, "static": 0.2, "adaptive": 0.3, "chance": 0.1},
    "downstream": {"f1": 0.6, "original": 0.8, "chance": 0.5},
    "similarity": {"cosine": 0.4},
}


def measured(caveats=None, intervals=None, **changes):
    return {
        name: Measurement(
            name,
            name,
            {**found, **changes.get(name, {})},
            "",
            intervals=(intervals or {}).get(name, {}),
            caveats=(caveats or {}).get(name, ()),
        )
        for name, found in MEASURED.items()
    }


@pytest.fixture
def changed(case):
    """A case whose texts have no word in common with the originals."""
    return replace(case, obfuscated=case.dataset.pair(["nothing"] * len(case.originals)))


def test_it_is_computed_from_the_other_metrics(changed):
    found = TradeOff().measure(replace(changed, measured=measured()))
    assert found.values == {"relative_gain": pytest.approx(5 / 9 - 0.3)}
    assert found.line == (
        "The relative gain is +0.256: more privacy was gained than utility was lost. The worst of what still stands: "
        "the adaptive attacker F1 is 30.0%, originals 50.0%, chance 10.0%."
    )
    lost = TradeOff().measure(replace(changed, measured=measured(attribute={"static": 0.49})))
    assert lost.values["relative_gain"] == pytest.approx(5 / 9 - 0.445)
    worse = TradeOff().measure(replace(changed, measured=measured(similarity={"cosine": 0.0})))
    assert "less privacy was gained than utility was lost" not in lost.line
    assert worse.values["relative_gain"] == pytest.approx(1 / 3 - 0.3)


def test_a_gain_does_not_hide_unchanged_words(changed):
    # Of four words, three are unchanged.
    texts = ["one two three four"] * 60
    dataset = Dataset(texts)
    case = replace(changed, dataset=dataset, obfuscated=dataset.pair(["one two three five"] * 60))
    found = TradeOff().measure(replace(case, measured=measured(similarity={"cosine": 0.9})))
    assert found.values["relative_gain"] > 0.4
    assert "more privacy was gained" not in found.line
    assert found.line.endswith(": the formula counts a gain. But much still stands: 75.0% of the words are unchanged.")


@pytest.mark.parametrize("metric", ["attribute", "downstream", "similarity"])
def test_a_caveat_of_another_metric_leaves_no_gain(changed, metric):
    found = TradeOff().measure(replace(changed, measured=measured(caveats={metric: ("Only 17 test texts.",)})))
    assert found.values == found.intervals == {}
    assert found.caveats == ("Only 17 test texts.",)
    assert found.line == "No relative gain is computed, and no conclusion is drawn. Only 17 test texts."


def test_without_identifiers_there_is_no_gain(changed, case):
    found = TradeOff().measure(replace(changed, measured=measured(identifiers={"found": 0.0, "pairs": 0.0})))
    assert found.values == {}
    assert found.caveats == ("The originals contain no identifiers.",)
    few = TradeOff().measure(replace(changed, measured=measured(identifiers={"pairs": 12.0})))
    assert few.caveats[0].startswith("Only 12 texts with an identifier")
    assert case.lacks(TradeOff()).startswith(
        "It is computed from other metrics that were not measured: identifiers, attribute"
    )


def test_the_interval_follows_from_those_of_the_parts(changed):
    one = {"similarity": {"cosine": Interval(0.31, 0.49)}}
    found = TradeOff().measure(replace(changed, measured=measured(intervals=one)))
    low, high = found.intervals["relative_gain"]
    assert high - low == pytest.approx(0.18 / 1.8)  # divided by the utility of originals
    assert (low + high) / 2 == pytest.approx(found.values["relative_gain"])
    # The errors of attackers add up; the others do not.
    both = {"attribute": {"static": Interval(0.1, 0.3), "adaptive": Interval(0.2, 0.4)}}
    low, high = TradeOff().measure(replace(changed, measured=measured(intervals=both))).intervals["relative_gain"]
    assert high - low == pytest.approx((0.2 + 0.2) / 2)
    low, high = TradeOff().measure(replace(changed, measured=measured(intervals=one | both))).intervals["relative_gain"]
    assert high - low == pytest.approx((0.1**2 + 0.2**2) ** 0.5)
    assert TradeOff().measure(replace(changed, measured=measured())).intervals == {}


def test_a_gain_that_cannot_be_told_from_zero(changed):
    wide = {"similarity": {"cosine": Interval(0.0, 1.0)}}
    found = TradeOff().measure(replace(changed, measured=measured(intervals=wide)))
    assert "it cannot be told from 0, where as much privacy is gained as utility is lost" in found.line


def test_a_gain_does_not_hide_an_attack_that_is_no_part_of_it(dataset):
    class Given(Metric):
        """A metric with given values."""

        def measure(self, case):
            return self.report("", given[self.name])

    given = {**MEASURED, "linkage": {"top_1": 0.9}, "membership": {"auc": 0.52, "baseline": 0.6, "chance": 0.5}}
    others = [type(name, (Given,), {"name": name})() for name in given]
    texts = ["nothing"] * dataset.size
    found = Evaluator(dataset, [TradeOff(), *others]).measure(texts).measurements["trade_off"]  # it is measured last
    assert found.values["relative_gain"] > 0
    assert "But much still stands: 90.0% of the texts are linked to their original" in found.line
    assert "membership" not in found.line  # it is not much
