"""The four texts that matter: chance, few rows, much in clear, a good result."""

import pytest

from tests.metrics.making import around, make_measurement
from tests.metrics.test_predictions import make_predictions
from textveil.lab.metrics.base import Interval, Reading
from textveil.lab.metrics.classification import Scores, find_caveats, find_chance
from textveil.lab.metrics.leaks import LEAKING, list_leaks
from textveil.lab.metrics.trade_off import MUCH, TradeOff, judge

CHANCE = Reading(0.1, Interval(0.056, 0.144))


def test_few_rows():
    originals = make_predictions(size=60, classes=2, right=1.0)
    scores = Scores.of({"f1": originals})
    caveats = find_caveats(scores.f1s["f1"], find_chance(originals), originals.texts, name="label")
    assert caveats == ["Only 17 test texts: too few for a conclusion, which needs at least 50."]


def list_of(**metrics):
    return list_leaks({name: make_measurement(name, **values) for name, values in metrics.items()})


def test_much_in_clear():
    standing = list_of(
        clear_text={"unchanged": 0.72},
        identifiers={"direct": 0.52, "remaining": 0.41},
        attribute={"static": 0.6, "adaptive": 0.77, "baseline": 0.85, "chance": 0.1},
    )
    line = judge(Reading(0.104, Interval(0.06, 0.148)), standing)
    assert line.startswith("The relative gain is +0.104 (95 % interval +0.060 to +0.148): the formula counts a gain.")
    assert line.endswith(
        "But much still stands: the adaptive attacker F1 is 77.0%, originals 85.0%, chance 10.0%; 72.0% of the words "
        "are unchanged; 52.0% of the direct identifiers survive."
    )


def test_a_good_result():
    standing = list_of(
        clear_text={"unchanged": 0.31},
        identifiers={"remaining": 0.04},
        attribute={"static": 0.12, "adaptive": 0.19, "baseline": 0.85, "chance": 0.1},
    )
    assert judge(Reading(0.352, Interval(0.3, 0.404)), standing) == (
        "The relative gain is +0.352 (95 % interval +0.300 to +0.404): more privacy was gained than utility was lost. "
        "The worst of what still stands: 31.0% of the words are unchanged."
    )


@pytest.mark.parametrize(
    ("gain", "interval", "meaning"),
    [
        (-0.2, Interval(-0.3, -0.1), "less privacy was gained than utility was lost. But much still stands: "),
        (0.02, Interval(-0.1, 0.14), "it cannot be told from 0"),
        (-0.2, None, "less privacy was gained than utility was lost. But "),
    ],
)
def test_other_gains(gain, interval, meaning):
    assert f": {meaning}" in judge(Reading(gain, interval), list_of(clear_text={"unchanged": MUCH}))


def test_what_cannot_be_told_from_chance_is_said():
    found = make_predictions()
    chance = Reading(found.f1, Interval(0.056, found.f1 + 0.01))
    hidden, above = (Scores({}, {"static": Reading(f1)}, {"static": chance}) for f1 in (found.f1, found.f1 + 0.1))
    assert "cannot be told from chance" in hidden.show("static")
    assert "chance" not in above.show("static")


def test_every_metric_that_a_verdict_names_is_declared():
    assert set(LEAKING) == {
        *("attribute", "stylometry", "membership", "clear_text", "identifiers", "linkage", "inversion"),
    }
    assert TradeOff.reads == LEAKING


def test_what_stands_lies_between_chance_and_originals():
    values = {"static": 0.1, "adaptive": 0.3, "baseline": 0.5, "chance": 0.1}
    assert list_of(attribute=values)[0].share == pytest.approx(0.5)
    assert list_of(attribute={**values, "adaptive": 0.05, "static": 0.05})[0].share == 0
    assert list_of(attribute={**values, "adaptive": 0.6})[0].share == 1
    assert list_of(attribute={**values, "static": 0.4})[0].sentence.startswith("the static attacker F1 is 40.0%")


@pytest.mark.parametrize(("adaptive", "share"), [(0.2, 1), (0.1, 0)])
def test_where_originals_are_at_chance_all_or_nothing_stands(adaptive, share):
    (found,) = list_of(attribute={"adaptive": adaptive, "baseline": 0.1, "chance": 0.1})
    assert found.share == share


def test_every_attack_that_was_measured_is_listed_and_the_worst_comes_first():
    standing = list_of(
        clear_text={"unchanged": around(0.3), "documents_verbatim": 0.01},
        identifiers={"direct": 0.1, "remaining": 0.2},
        attribute={"static": 0.1, "adaptive": 0.1, "baseline": 0.9, "chance": 0.1},
        stylometry={"adaptive": around(0.4), "baseline": 0.5, "chance": 0.0},
        linkage={"top_1": 0.9, "chance_top_1": 0.1},
        inversion={"top_1": 0.5, "decoded": 0.6, "repeated": 0.4, "prior_top_1": 0.1},
        membership={"auc": 0.515, "baseline": 0.6, "chance": 0.5},
    )
    assert [each.sentence for each in standing] == [
        "90.0% of the texts are linked to their original by an attacker who has all originals",
        "the stylometry attacker F1 is 40.0% (37.0–43.0%), originals 50.0%, chance 0.0%",
        "60.0% of the replaced chunks are recovered by an attacker who knows the mechanism",
        "30.0% (27.0–33.0%) of the words are unchanged",
        "20.0% of all identifiers survive",
        "the membership AUC is 0.515, originals 0.600, chance 0.500",
        "10.0% of the direct identifiers survive",
        "in 1.0% of the documents, every word to be replaced returned",
    ]
    assert list_of() == []


def test_originals_that_are_well_above_chance_are_no_reason_for_doubt():
    assert find_caveats(Reading(0.8, Interval(0.75, 0.9)), CHANCE, 200, name="label") == []
