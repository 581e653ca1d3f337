import re

import pytest

from tests.metrics.making import around, make_comparison, make_evaluation, make_measurement
from tests.report.test_report import Outline
from textveil.lab.compare.comparison import Comparison, Contender
from textveil.lab.compare.curves import compare_frontiers
from textveil.lab.metrics.quantities import ADAPTIVE, TASK
from textveil.lab.report.comparison_page import MARKS, list_marks, tell_findings, write_comparison

POINTS = {"m@5": (0.3, 0.4), "m@20": (0.5, 0.6), "<b>rest</b>": (0.9, 0.45), "nothing": (0.26, 0.3)}


@pytest.fixture(scope="module")
def page():
    return write_comparison(make_comparison(POINTS))


def test_the_page_needs_nothing_else_and_its_links_have_targets(page):
    outline = Outline(page)
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(outline.tags)
    assert not re.search(r"@import|url\((?!#)", page)
    ids = [value for name, value in outline.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = [value for name, value in outline.attributes if name == "href"]
    assert targets
    assert all(target.startswith("#") and target[1:] in ids for target in targets)


def test_names_are_escaped(page):
    assert "<b>rest</b>" not in page
    assert "<b>rest</b>" in Outline(page).text


def test_the_page_has_values_intervals_references_and_findings(page):
    text = Outline(page).text
    for said in (
        "4 obfuscations of 600 texts, in 3 settings; 2 rows skipped",
        "50.0%",
        "47.0–53.0%",
        "majority",
        "22.0–28.0%",
        "Strongest attacker F1: cannot be told from chance: nothing.",
        "<b>rest</b> is behind the front.",
        "attribute (model)",
        "package 1.0",
    ):
        assert said in text, said


def test_marks_say_only_what_intervals_support():
    comparison = make_comparison(POINTS)
    marks = {each.name: list_marks(comparison, each, ADAPTIVE) for each in comparison.contenders}
    assert marks == {
        "m@5": [],  # its interval overlaps that of the best
        "m@20": ["worse"],
        "<b>rest</b>": ["worse", "as originals"],
        "nothing": ["best", "chance"],
    }
    few = make_comparison(POINTS, caveats=("Only 5 test texts.",))
    assert list_marks(few, few.contenders[0], ADAPTIVE) == ["no conclusion"]
    assert list_marks(few, few.contenders[1], TASK) == ["best"]
    assert {mark for each in (*marks.values(), ["no conclusion"]) for mark in each} == set(MARKS)


def test_a_caveat_is_told_once():
    comparison = make_comparison(POINTS, caveats=("Only 5 test texts.",))
    lines = tell_findings(comparison, compare_frontiers(comparison))
    assert sum("Only 5 test texts." in line for line in lines) == 1


def test_a_caveat_of_another_metric_is_told_with_its_name():
    similarity = make_measurement("similarity", ("Only 3 pairs.",), cosine=around(0.5))
    comparison = Comparison((Contender("a", make_evaluation(similarity)),))
    assert tell_findings(comparison, [])[-1] == "No conclusion is drawn from similarity. Only 3 pairs."


def test_a_comparison_without_an_attack_has_tables_and_no_figure():
    similar = Contender("a", make_evaluation(make_measurement("similarity", cosine=0.7)))
    page = write_comparison(Comparison((similar,)))
    text = Outline(page).text
    assert "There is no front: it needs an attack and a utility" in text
    assert "0.700" in text
    assert "<svg" not in page


def test_what_was_not_measured_is_listed_with_its_reason():
    lacking = make_evaluation(make_measurement("similarity", cosine=0.7), not_measured={"perplexity": "Set `model`."})
    assert "Set model." in Outline(write_comparison(Comparison((Contender("a", lacking),)))).text


def test_a_row_becomes_a_list_with_labels_on_a_narrow_page(page):
    assert page.count('data-label="adaptive attacker F1 \N{DOWNWARDS ARROW}"') == len(POINTS) + 3


def test_every_pair_has_a_figure_with_words_and_a_table_of_points(page):
    text = Outline(page).text
    assert page.count('<div class="curve" role="img"') == len(make_comparison(POINTS).pairs)
    assert "On the front for strongest attacker F1 against utility F1: " in text
    assert "22.0\N{EN DASH}28.0%" in text
    assert "All points" in text
    assert re.search(r"<td>m</td><td>5</td><td></td><td>30.0% \(27.0\N{EN DASH}33.0%\)</td>", page)
    assert "Areas between curves" in text
