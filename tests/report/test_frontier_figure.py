import re

from tests.report.test_frontier import make_frontier
from textveil.lab.metrics.quantities import PERPLEXITY
from textveil.lab.report.figures import HOLLOW, render_png, render_svg
from textveil.lab.report.frontier_figure import draw_frontiers, inline_frontiers

CURVES = {"old": [(0.4, 0.3), (0.6, 0.5)], "new": [(0.4, 0.5), (0.6, 0.7)]}


def test_a_panel_per_pair_with_names_levels_and_intervals():
    figure = draw_frontiers([make_frontier(CURVES), make_frontier(CURVES, half=None)])
    one, other = figure.axes
    assert [text.get_text() for text in one.texts] == ["1", "2"]
    assert one.get_xlabel() == "similarity → better"
    assert one.get_ylabel() == "better ← adaptive attacker F1 %"
    assert len(one.containers) == 2  # the bars of a setting
    assert not other.containers
    svg = render_svg(figure)
    assert svg.count("front by value") == 1
    assert render_png(figure).startswith(b"\x89PNG")


def test_perplexity_is_on_a_logarithmic_axis_with_the_better_end_on_the_right():
    axes = draw_frontiers([make_frontier({"a": [(0.3, 800), (0.5, 200)]}, PERPLEXITY, half=None)]).axes[0]
    assert axes.get_xscale() == "log"
    left, right = axes.get_xlim()
    assert left > 800
    assert right < 200


def test_settings_that_are_not_strong_are_faint():
    many = {f"s{number}": [(0.5 - number / 100, 0.5), (0.7 - number / 100, 0.6)] for number in range(12)}
    axes = draw_frontiers([make_frontier(many)]).axes[0]
    assert sum(line.get_alpha() == 0.3 and line.get_marker() == "." for line in axes.lines) == 10


def test_a_setting_looks_the_same_in_every_figure_of_a_page():
    frontiers = [make_frontier(CURVES), make_frontier({"other": CURVES["old"], "<new>": CURVES["new"], **CURVES})]
    one, other = (svg for _, svg in inline_frontiers(frontiers))
    assert one != other
    assert "&lt;new&gt;" in other
    colors = [re.findall(r"#[0-9a-f]{6}", svg) for svg in (one, other)]
    assert set(colors[0]) < set(colors[1])


def test_points_behind_the_front_are_hollow():
    axes = draw_frontiers([make_frontier(CURVES)]).axes[0]
    marks = [line for line in axes.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
    assert [(line.get_markerfacecolor() == HOLLOW, len(line.get_xdata())) for line in marks] == [(True, 2), (False, 2)]
