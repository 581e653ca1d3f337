import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED
from textveil.errors import InputError
from textveil.evaluation import Measurement, relative_gain
from textveil.evaluation.trade_off import TradeOff

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
    "identifiers": {"remaining": 0.1, "found": 9.0},
    "attribute": {"baseline": 0.5, "static": 0.2, "adaptive": 0.3},
    "downstream": {"f1": 0.6, "original": 0.8},
    "similarity": {"cosine": 0.4},
}


def measured(**changes):
    values = {name: {**found, **changes.get(name, {})} for name, found in MEASURED.items()}
    return {name: Measurement(name, name, found, "") for name, found in values.items()}


def test_it_is_computed_from_the_other_metrics(case):
    found = TradeOff().measure(replace(case, measured=measured()))
    assert found.values == {"relative_gain": pytest.approx(5 / 9 - 0.3)}
    assert "is +0.256: the privacy gained exceeds the utility lost" in found.line
    lost = TradeOff().measure(replace(case, measured=measured(attribute={"static": 1.0})))
    assert lost.values["relative_gain"] == pytest.approx(5 / 9 - 0.7)
    assert "does not exceed" in lost.line


def test_without_identifiers_there_is_no_gain(case):
    with pytest.raises(InputError, match="originals contain no identifiers"):
        TradeOff().measure(replace(case, measured=measured(identifiers={"found": 0.0})))
    assert case.lacks(TradeOff()).startswith(
        "It is computed from other metrics that were not measured: identifiers, attribute"
    )
