import pytest

from tests.metrics.making import make_comparison, make_contender, make_evaluation, make_measurement
from textveil.lab.compare.comparison import Comparison, Contender
from textveil.lab.compare.front import Point, Standing, find_front, place_points
from textveil.lab.metrics.base import Interval
from textveil.lab.metrics.quantities import ADAPTIVE, PERPLEXITY, STRONGEST, TASK, Reading
from textveil.lab.report.comparison_page import tell_attack
from textveil.lab.report.pages import tell

PAIR = (STRONGEST, TASK)


def place_all(points, **options):
    front = find_front(make_comparison(points, **options), PAIR)
    return front, {place.name: place.standing for place in front.places}


def test_one_that_is_clearly_worse_in_both_is_behind_the_front():
    front, standing = place_all({"good": (0.3, 0.7), "bad": (0.6, 0.5), "useful": (0.6, 0.79)})
    assert standing == {"good": Standing.ON, "bad": Standing.BEHIND, "useful": Standing.ON}
    assert front.by_value == ("good", "useful")
    assert front.as_dict()["rivals"] == {"bad": ["good", "useful"]}  # "useful" has the same attack
    assert tell("front", front) == [
        "On the Pareto front of strongest attacker F1 and utility F1: good, useful. Every other obfuscation is clearly "
        "worse in at least one of the two.",
        "bad is behind the front. Clearly better in one of the two, and not worse in the other: good, useful.",
    ]


def test_the_same_values_with_wide_intervals_decide_nothing():
    front, standing = place_all({"good": (0.3, 0.7), "bad": (0.6, 0.5)}, half=0.3)
    assert set(standing.values()) == {Standing.OPEN}
    assert [line.split(" may or may not be on the front.")[0] for line in tell("front", front)] == ["good", "bad"]


def test_one_that_is_clearly_worse_in_one_and_equal_in_the_other_is_behind_the_front():
    _, standing = place_all({"weak": (0.3, 0.7), "strong": (0.6, 0.7)})
    assert standing == {"weak": Standing.ON, "strong": Standing.BEHIND}


def test_one_that_is_clearly_worse_in_one_and_better_by_noise_in_the_other_is_undecided():
    front, standing = place_all({"weak": (0.3, 0.7), "strong": (0.6, 0.71)})
    assert standing == {"weak": Standing.ON, "strong": Standing.OPEN}
    assert "strong may or may not be on the front" in tell("front", front)[1]


def test_an_attacker_below_chance_is_not_weaker_than_one_at_chance():
    _, standing = place_all({"low": (0.05, 0.6), "high": (0.27, 0.5)}, half=0.01)
    assert standing == {"low": Standing.ON, "high": Standing.BEHIND}  # both at chance, and less utility
    _, standing = place_all({"low": (0.05, 0.5), "high": (0.27, 0.6)}, half=0.01)
    assert standing == {"low": Standing.BEHIND, "high": Standing.ON}


def test_equal_values_are_all_on_the_front_by_value():
    front, _ = place_all({"a": (0.3, 0.7), "b": (0.3, 0.7)})
    assert set(front.by_value) == {"a", "b"}


def test_caveats_forbid_a_conclusion():
    front, standing = place_all({"good": (0.3, 0.7), "bad": (0.6, 0.5)}, caveats=("Only 5 test texts.",))
    assert set(standing.values()) == {Standing.OPEN}
    (line,) = tell("front", front)
    assert line.startswith("No conclusion")
    assert line.endswith("Only 5 test texts.")


def test_without_intervals_no_conclusion_is_drawn():
    def bare(name, attack, task):
        attribute = make_measurement("attribute", adaptive=attack)
        return Contender(name, make_evaluation(attribute, make_measurement("downstream", f1=task)))

    front = find_front(Comparison((bare("a", 0.3, 0.7), bare("b", 0.6, 0.5))), PAIR)
    (line,) = tell("front", front)
    assert line.startswith("No conclusion")


def test_one_without_a_utility_has_no_place():
    only_attack = Contender("b", make_evaluation(make_measurement("attribute", adaptive=(0.5, 0.4, 0.6))))
    front = find_front(Comparison((make_contender("a", 0.3, 0.7), only_attack)), PAIR)
    assert [place.name for place in front.places] == ["a"]
    assert "only one obfuscation has both" in tell("front", front)[0]


@pytest.mark.parametrize(
    ("attack", "expected"),
    [
        (0.26, ["Strongest attacker F1: cannot be told from chance: a."]),
        (0.5, []),
        (0.9, ["Strongest attacker F1: cannot be told from the originals, so no protection is shown: a."]),
    ],
)
def test_an_attack_is_told_from_chance_and_from_originals(attack, expected):
    assert tell_attack(make_comparison({"a": (attack, 0.5)}), STRONGEST) == expected


def test_caveats_of_the_front_are_those_of_the_strongest_attacker():
    task = make_measurement("downstream", f1=(0.6, 0.5, 0.7))
    style = make_measurement("stylometry", ("Only 17 test texts.",), adaptive=(0.7, 0.6, 0.8))
    comparison = Comparison(tuple(Contender(name, make_evaluation(style, task)) for name in "ab"))
    assert find_front(comparison, PAIR).caveats == ("Only 17 test texts.",)


def test_an_attacker_below_chance_needs_no_interval_of_its_own():
    found = make_evaluation(make_measurement("attribute", adaptive=0.0, chance=(0.25, 0.2, 0.3)))
    assert tell_attack(Comparison((Contender("a", found),)), STRONGEST) == [
        "Strongest attacker F1: cannot be told from chance: a."
    ]


def test_points_of_any_source_have_a_front_also_if_less_is_better():
    def point(name, attack, perplexity):
        return Point(
            name,
            name,
            "",
            Reading(attack, Interval(attack - 0.01, attack + 0.01)),
            Reading(perplexity, Interval(perplexity - 10, perplexity + 10)),
        )

    points = [point("a", 0.3, 500), point("b", 0.5, 100), point("c", 0.5, 300)]
    front = place_points((ADAPTIVE, PERPLEXITY), points)
    assert front.by_value == ("a", "b")  # the better utility last
    assert [place.standing for place in front.places] == [Standing.ON, Standing.ON, Standing.BEHIND]
