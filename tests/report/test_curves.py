import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.metrics.making import around, make_comparison, make_evaluation, make_measurement
from textveil.lab.compare.comparison import Comparison, Contender
from textveil.lab.compare.curves import compare_frontiers
from textveil.lab.report.plots import (
    HEIGHT,
    WIDTH,
    _box,
    _overlap,
    assign_common_looks,
    assign_looks,
    draw_curves,
    draw_legend,
    shorten_names,
)

POINTS = {"m@5": (0.3, 0.4), "m@20": (0.5, 0.6), "m@80": (0.7, 0.7), "other": (0.9, 0.45)}


def draw(points=None, **options):
    return draw_comparison(make_comparison(points or POINTS, **options))


def draw_comparison(comparison):
    frontier = compare_frontiers(comparison)[0]
    return ElementTree.fromstring(draw_curves(frontier, assign_common_looks([frontier])))  # noqa: S314 # our own


def find(svg, tag, **attributes):
    return [each for each in svg.iter(tag) if all(each.get(name) == value for name, value in attributes.items())]


def test_every_obfuscation_has_a_marker_with_its_name_and_standing():
    titles = [each.text for each in find(draw(), "title")]
    assert titles[-1].startswith("other: behind the front. ")
    assert [title.partition(":")[0] for title in titles] == list(POINTS)


def test_levels_of_a_setting_are_connected_and_labeled():
    svg = draw()
    color = assign_looks(["m", "other"])["m"].color
    assert len(find(svg, "line", stroke=color)) == 2 + 2 * 3  # two pieces of the curve, and two intervals per point
    texts = [each.text for each in svg.iter("text")]
    assert [text for text in texts if text in ("5", "20", "80")] == ["5", "20", "80"]


def test_intervals_are_drawn_to_scale():
    narrow, wide = draw(half=0.01), draw(half=0.02)

    def lengths(svg):
        lines = [each for each in svg.iter("line") if each.get("stroke-opacity") == "0.55"]
        return sum(abs(float(each.get("x2")) - float(each.get("x1"))) for each in lines)

    assert lengths(wide) == pytest.approx(2 * lengths(narrow), rel=0.1)


def test_better_is_down_and_right():
    svg = draw({"weak": (0.3, 0.5), "strong": (0.8, 0.7)})
    weak, strong = find(svg, "circle")[0], find(svg, "polygon")[0]
    corners = [tuple(map(float, corner.split(","))) for corner in strong.get("points").split()]
    assert float(weak.get("cy")) > max(y for _, y in corners)  # the weaker attack is lower
    assert float(weak.get("cx")) < min(x for x, _ in corners)  # the higher utility is on the right


def test_originals_and_chance_are_named_lines_and_chance_has_a_band():
    svg = draw()
    texts = [each.text for each in svg.iter("text")]
    assert texts.count("originals") == 2  # of the attack and of the task
    assert texts.count("chance") == 1
    assert len(find(svg, "path")) == 1


def test_the_front_by_value_is_a_staircase():
    (line,) = draw().iter("polyline")
    points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
    assert len(points) == 5  # three points of the front, and a corner between each two
    for one, other in pairwise(points):
        assert one[0] == other[0] or one[1] == other[1]
    assert not list(draw({"only": (0.3, 0.5)}).iter("polyline"))
    assert not list(draw(caveats=("Only 5 test texts.",)).iter("polyline"))


def test_everything_stays_within_the_drawing_also_with_equal_values():
    for points in (POINTS, {"a": (0.93, 0.8), "b": (0.93, 0.8)}):
        svg = ElementTree.tostring(draw(points), encoding="unicode")
        for value in re.findall(r'\b(?:x|x1|x2|cx)="([-\d.]+)"', svg):
            assert 0 <= float(value) <= WIDTH
        for value in re.findall(r'\b(?:y|y1|y2|cy)="([-\d.]+)"', svg):
            assert 0 <= float(value) <= HEIGHT


def test_labels_of_levels_do_not_cover_each_other():
    svg = draw({f"m@{level}": (0.5, 0.5 + level / 10000) for level in (7, 8, 9)})
    places = [(each.get("x"), each.get("y")) for each in svg.iter("text") if each.text in ("7", "8", "9")]
    assert len(set(places)) == 3


def test_labels_of_references_do_not_cover_each_other():
    comparison = make_comparison({"a": (0.5, 0.5), "b": (0.6, 0.7)})
    near = make_measurement("downstream", f1=around(0.5), original=around(0.31), chance=around(0.3))
    contenders = [
        Contender(each.name, make_evaluation(each.evaluation.measurements["attribute"], near))
        for each in comparison.contenders
    ]
    svg = draw_comparison(Comparison(tuple(contenders)))
    labels = [each for each in svg.iter("text") if each.text in ("originals", "chance")]
    boxes = [_box(float(each.get("x")), float(each.get("y")), each.text, each.get("text-anchor")) for each in labels]
    assert len(boxes) == 4
    assert not any(_overlap(one, other) for number, one in enumerate(boxes) for other in boxes[:number])


def test_names_are_escaped():
    frontier = compare_frontiers(make_comparison({"<b>@1": (0.3, 0.5), "<b>@2": (0.5, 0.6)}))[0]
    looks = assign_common_looks([frontier])
    assert "&lt;b&gt;" in draw_legend(frontier, looks)
    assert "<b>" not in draw_curves(frontier, looks)


def test_many_settings_have_different_looks():
    looks = assign_looks([str(number) for number in range(20)])
    assert len({(look.color, look.shape) for look in looks.values()}) == 20


def test_a_point_can_be_reached_by_keyboard_and_has_its_values():
    svg = draw()
    points = find(svg, "g", **{"class": "point", "tabindex": "0"})
    assert len(points) == len(POINTS)
    label = points[0].get("aria-label")
    assert label == ("m@5: on the front. strongest attacker F1 30.0% (27.0–33.0%), utility F1 40.0% (37.0–43.0%)")
    assert points[0].find("title").text == label
    assert label.replace(". ", "") == "".join(each.text for each in points[0].iter("text"))
    assert svg.get("role") == "group"  # the role img would hide the points


def test_with_many_settings_only_the_front_and_one_other_are_in_full_color():
    points = {f"s{number}": (0.3 + number / 100, 0.8 - number / 100) for number in range(10)} | {"last": (0.2, 0.9)}
    svg = draw(points)
    assert len(find(svg, "g", **{"class": "point"})) == 11
    names = [each.get("aria-label").partition(":")[0] for each in find(svg, "g", tabindex="0")]
    assert names == ["s0", "last"]  # what others are compared with, and the front


def test_names_lose_the_words_that_all_of_them_share():
    assert shorten_names(["a with x under p", "b with x under p"]) == {"a with x under p": "a", "b with x under p": "b"}
    assert shorten_names(["a", "a b"]) == {"a": "a", "a b": "a b"}  # nothing becomes empty
    assert shorten_names(["x" * 30]) == {"x" * 30: ""}  # too long for a label
