"""The four texts that matter: chance, few rows, much in clear, a good result."""

import pytest

from tests.evaluation.test_predictions import make_predictions
from textveil.evaluation.base import Interval
from textveil.evaluation.chance import Chance
from textveil.evaluation.verdicts import MUCH, Standing, describe_chance, find_caveats, judge, refuse

CHANCE = Chance(0.1, Interval(0.056, 0.144))


def test_chance():
    assert describe_chance({"the first": 0.104, "the second": 0.098}, CHANCE) == (
        "Neither can be told from chance, which has F1 0.100 (0.056 to 0.144)."
    )
    originals = make_predictions()
    (caveat,) = find_caveats(originals, Interval(0.068, 0.15), CHANCE, name="attribute")
    assert refuse([caveat]) == (
        "No relative gain is computed, and no conclusion is drawn. The attribute cannot be learned from the originals: "
        f"F1 {originals.f1:.3f} (0.068 to 0.150) is near chance, 0.100 (0.056 to 0.144)."
    )


def test_few_rows():
    originals = make_predictions(size=60, classes=2, right=1.0)
    caveats = find_caveats(originals, originals.find_interval(), Chance.of(originals), name="label")
    assert refuse(caveats) == (
        "No relative gain is computed, and no conclusion is drawn. Only 17 test texts: too few for a conclusion, which "
        "needs at least 50."
    )


def test_much_in_clear():
    standing = [
        Standing.of_words(0.72),
        Standing.of_identifiers({"direct": 0.52, "remaining": 0.41}),
        Standing.of_attackers({"static": 0.6, "adaptive": 0.77, "baseline": 0.85, "chance": 0.1}),
    ]
    assert judge(0.104, Interval(0.06, 0.148), standing) == (
        "The relative gain is +0.104 (95 % interval +0.060 to +0.148): the formula counts a gain, but much still "
        "stands: the adaptive attacker has F1 0.770 (originals 0.850, chance 0.100); 72.0% of the words are unchanged; "
        "52.0% of the direct identifiers survive."
    )


def test_a_good_result():
    standing = [
        Standing.of_words(0.31),
        Standing.of_identifiers({"remaining": 0.04}),
        Standing.of_attackers({"static": 0.12, "adaptive": 0.19, "baseline": 0.85, "chance": 0.1}),
    ]
    assert judge(0.352, Interval(0.3, 0.404), standing) == (
        "The relative gain is +0.352 (95 % interval +0.300 to +0.404): more privacy was gained than utility was lost. "
        "The worst of what still stands: 31.0% of the words are unchanged."
    )


@pytest.mark.parametrize(
    ("gain", "interval", "meaning"),
    [
        (-0.2, Interval(-0.3, -0.1), "less privacy was gained than utility was lost, and much still stands: "),
        (
            0.02,
            Interval(-0.1, 0.14),
            "it cannot be told from 0, where as much privacy is gained as utility is lost, but ",
        ),
        (-0.2, None, "less privacy was gained than utility was lost, and "),
    ],
)
def test_other_gains(gain, interval, meaning):
    assert f": {meaning}" in judge(gain, interval, [Standing.of_words(MUCH)])


def test_one_of_two_attackers_is_above_chance():
    assert describe_chance({"the first": 0.1, "the second": 0.5}, CHANCE).endswith("; the second is above it.")
    assert describe_chance({"the first": 0.5, "the second": 0.1}, CHANCE).startswith("The second cannot be told from")
    assert describe_chance({"the first": 0.5, "the second": 0.5}, CHANCE).startswith(
        "Both are above chance, which has F1"
    )
    assert describe_chance({"this": 0.5}, CHANCE).startswith("This is above chance")


def test_what_stands_lies_between_chance_and_originals():
    values = {"static": 0.1, "adaptive": 0.3, "baseline": 0.5, "chance": 0.1}
    assert Standing.of_attackers(values).share == pytest.approx(0.5)
    assert Standing.of_attackers({**values, "adaptive": 0.05}).share == 0
    assert "static" in Standing.of_attackers({**values, "static": 0.4}).sentence
    assert Standing.of_identifiers({"direct": 0.2, "remaining": 0.3}).sentence == "30.0% of the identifiers survive"


def test_originals_that_are_well_above_chance_are_no_reason_for_doubt():
    assert find_caveats(make_predictions(right=0.8), Interval(0.75, 0.9), CHANCE, name="label") == []
